/**
 * `sexton run`: from the command line to a supervisor that runs. What the application does not need is loaded after it was started.
 */
import { EXIT } from '../core/exit.ts';
import { readBootId } from '../runtime/boot-id.ts';
import { SystemClock } from '../runtime/clock.ts';
import type { Host } from '../runtime/host/host.ts';
import { InitHost } from '../runtime/host/init.ts';
import { whyWithoutInit } from '../runtime/host/without-init.ts';
import { isLate } from '../runtime/late.ts';
import { Log } from '../runtime/log.ts';
import { Supervisor } from '../runtime/supervisor.ts';
import { leaveRefusal } from '../runtime/termination-log.ts';
import { type Resolution, type RunConfig, resolveRun } from './config.ts';
import type { DropIn } from './dropin.ts';
import { complainInTime, SextonError } from './errors.ts';
import { machine } from './machine.ts';

/** `argv` is what follows the program's name; `as`: that name, where it is another program's. */
export async function run(argv: readonly string[], as?: DropIn): Promise<void> {
  keepToOurselves();
  const host = await openHost(process.env);
  const resolution = await resolveRun(argv, process.env, machine, as);
  if (!resolution.ok) return refuse(host, resolution);
  await supervise(host, resolution.run, resolution);
}

async function supervise(
  host: Host,
  { member, graveyard, makesGraveyard, program, logLevel, logFormat, http, terminationLog, host: wishes }: RunConfig,
  { warnings, notes }: { readonly warnings: readonly string[]; readonly notes: readonly string[] },
): Promise<void> {
  const clock = new SystemClock();
  const log = new Log({ level: logLevel, format: logFormat, member: member.name });
  for (const warning of warnings) log.say('warn', warning);
  for (const note of notes) log.say('info', note);
  // init is our parent.
  if (wishes.missesOrphans && process.ppid !== 1) log.say('warn', NOT_REAPED);
  const bootId = readBootId();
  const openPlot =
    graveyard === undefined
      ? undefined
      : async () => {
          const { Plot } = await import('../runtime/plot.ts');
          return new Plot({ dir: graveyard, makes: makesGraveyard, member, clock, log });
        };
  await new Supervisor({ member, program, host, wishes, clock, log, bootId, openPlot, http, terminationLog }).start();
}

/** sexton-init when it started us, else this process itself. */
async function openHost(env: NodeJS.ProcessEnv): Promise<Host> {
  const fd = env.SEXTON_INIT_FD;
  // It is init's word to us and nobody else's: the application gets its environment from init.
  delete env.SEXTON_INIT_FD;
  delete env.SEXTON_INIT_AS;
  if (fd !== undefined && /^[0-9]{1,4}$/.test(fd)) return new InitHost(Number(fd));
  const { ExecaHost } = await import('../runtime/host/execa.ts');
  return new ExecaHost(whyWithoutInit());
}

/**
 * Whoever evaluates process.stdout or process.stderr makes the pipe behind it non-blocking, for the application as well, which then
 * loses output with EAGAIN; and Node's own `assert`, which pino loads, is one of those. So in a supervisor both lead nowhere; what
 * there is to say goes to descriptor 2. And a limit on the size of files (RLIMIT_FSIZE) is a trouble of the graveyard, not our death.
 */
function keepToOurselves(): void {
  for (const [name, fd] of [
    ['stdout', 1],
    ['stderr', 2],
  ] as const) {
    Object.defineProperty(process, name, { value: { fd, isTTY: false, write: () => true }, configurable: true });
  }
  process.on('SIGXFSZ', () => {});
}

/** Everything that is wrong in one message; nothing was started. A reader who has stalled must not keep the container. */
async function refuse(host: Host, refusal: Extract<Resolution, { ok: false }>): Promise<void> {
  const { problems, name, terminationLog } = refusal;
  await isLate(complainInTime(new SextonError('badConfiguration', { problems })), MOST_COMPLAINING_MS);
  await leaveRefusal(terminationLog, name, problems);
  host.commit({ ack: undefined, memo: undefined, commands: [{ type: 'exit', code: EXIT.sexton }] });
}

const MOST_COMPLAINING_MS = 200;
const NOT_REAPED =
  'orphans are not reaped here: this is not PID 1 and no subreaper; add -s, set TINI_SUBREAPER, or make it PID 1';
