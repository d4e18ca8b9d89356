/**
 * `sexton run` makes a supervisor from the command line and starts it. What the application does not need is loaded
 * after it has started.
 */
import { EXIT } from '../../core/exit.ts';
import type { State } from '../../core/state/state.ts';
import { readBootId } from '../../runtime/boot-id.ts';
import { SystemClock } from '../../runtime/clock.ts';
import type { Host } from '../../runtime/host/host.ts';
import { InitHost } from '../../runtime/host/init.ts';
import { whyWithoutInit } from '../../runtime/host/without-init.ts';
import { Log } from '../../runtime/log.ts';
import { type Before, Supervisor } from '../../runtime/supervisor.ts';
import { leaveRefusal } from '../../runtime/termination-log.ts';
import { withTimeout } from '../../runtime/timeouts.ts';
import type { DropIn } from '../dropin/line.ts';
import { machine } from '../machine.ts';
import { type Resolution, type RunConfig, resolveRun } from '../resolve.ts';
import { complainInTime, SextonError } from '../text/errors.ts';
import { versionNumber } from '../text/version.ts';

/** `argv` is what follows the program's name; `as`: that name, where it is another program's. */
export async function run(argv: readonly string[], as?: DropIn): Promise<void> {
  keepToOurselves();
  const host = await openHost(process.env);
  const resolution = await resolveRun(argv, process.env, { ...machine, hasInit: host.init !== undefined }, as);
  if (!resolution.ok) return refuseToStart(host, resolution);
  await supervise(host, resolution.run, resolution);
}

async function supervise(
  host: Host,
  {
    member,
    graveyard,
    makesGraveyard,
    program,
    logLevel,
    logFormat,
    http,
    terminationLog,
    otlp,
    sleepAfterMs,
    host: wishes,
  }: RunConfig,
  { warnings, notes }: { readonly warnings: readonly string[]; readonly notes: readonly string[] },
): Promise<void> {
  const clock = new SystemClock();
  const log = new Log({ level: logLevel, format: logFormat, member: member.name });
  // init is our parent.
  const ofPlace = wishes.missesOrphans && process.ppid !== 1 ? [NOT_REAPED] : [];
  const remarks = { warnings: [...warnings, ...ofPlace], notes };
  const bootId = readBootId();
  const openMembership =
    graveyard === undefined
      ? undefined
      : async (before: Before) => {
          const { Membership } = await import('../../runtime/membership.ts');
          return new Membership({ dir: graveyard, makes: makesGraveyard, member, clock, log, ...before });
        };
  const sendTrace =
    otlp === undefined
      ? undefined
      : async (state: State, maxMs: number) => {
          const { sendTrace: send } = await import('../../runtime/otlp.ts');
          return send(
            otlp,
            { member, state, service: process.env.OTEL_SERVICE_NAME || 'sexton', version: versionNumber() },
            maxMs,
          );
        };
  const about = { member, program, host, wishes, clock, log, bootId, openMembership, http, terminationLog, sendTrace };
  await new Supervisor({ ...about, remarks, sleepAfterMs }).start();
}

/** sexton-init when it started us, else this process itself. */
async function openHost(env: NodeJS.ProcessEnv): Promise<Host> {
  const fd = env.SEXTON_INIT_FD;
  // init sets these for the supervisor alone: the application gets its environment from init.
  delete env.SEXTON_INIT_FD;
  delete env.SEXTON_INIT_AS;
  if (fd !== undefined && /^[0-9]{1,4}$/.test(fd)) return new InitHost(Number(fd));
  const { ExecaHost } = await import('../../runtime/host/execa.ts');
  return new ExecaHost(whyWithoutInit());
}

/**
 * Evaluating process.stdout or process.stderr makes the pipe behind it non-blocking, for the application as well, which
 * then loses output with EAGAIN; Node's own `assert` does that. So in a supervisor both lead nowhere, and messages go to
 * descriptor 2. A limit on the size of files (RLIMIT_FSIZE) must not end the supervisor either.
 */
function keepToOurselves(): void {
  for (const [name, fd] of [
    ['stdout', 1],
    ['stderr', 2],
  ] as const) {
    // Node's own warnings go through its console, which listens to the stream while it writes.
    const nowhere = { fd, isTTY: false, write: () => true, once: () => {}, removeListener: () => {} };
    Object.defineProperty(process, name, { value: nowhere, configurable: true });
  }
  process.on('SIGXFSZ', () => {});
}

/** Prints all problems in one message; nothing was started. A stalled reader of stderr must not keep the container. */
async function refuseToStart(host: Host, refusal: Extract<Resolution, { ok: false }>): Promise<void> {
  const { problems, name, terminationLog } = refusal;
  await withTimeout(complainInTime(new SextonError('badConfiguration', { problems })), MAX_COMPLAINING_MS);
  await leaveRefusal(terminationLog, name, problems);
  host.commit({ ack: undefined, memo: undefined, commands: [{ type: 'exit', code: EXIT.sexton }] });
}

const MAX_COMPLAINING_MS = 200;
const NOT_REAPED =
  'orphans are not reaped here: this is not PID 1 and no subreaper; add -s, set TINI_SUBREAPER, or make it PID 1';
