/**
 * `sexton run` starts a supervisor with the configuration of the memo or, the first time, of the command line. It loads
 * what the application does not need only after the application has started.
 */
import type { DropIn } from '../../../config/dropin/dropin.ts';
import { keptConfig, type RunConfig, restoredConfig } from '../../../config/run-config.ts';
import type { State } from '../../../core/state/state.ts';
import { readBootId, SystemClock } from '../../../runtime/clock.ts';
import { collectGarbageWhenIdle } from '../../../runtime/garbage.ts';
import type { Hello, Host } from '../../../runtime/host/host.ts';
import { InitHost } from '../../../runtime/host/init.ts';
import { whyWithoutInit } from '../../../runtime/host/without-init.ts';
import { Log } from '../../../runtime/log/log.ts';
import { MACHINE } from '../../../runtime/machine.ts';
import { readMemo } from '../../../runtime/memo.ts';
import { type Before, type Remarks, Supervisor } from '../../../runtime/supervisor.ts';
import { versionNumber } from '../../../text/version.ts';

/** `argv`: what init gives for the words behind the program's name; `as`: the program that is replaced. */
export async function run(argv: readonly string[], as?: DropIn): Promise<void> {
  keepToOurselves();
  const { host, hello, isSolo } = await openHost(process.env);
  const config = hello && leftConfig(hello, argv);
  if (config !== undefined) return supervise(host, config, undefined);
  const { configure } = await import('./configure.ts');
  const configured = await configure({
    host,
    argv,
    as,
    isSolo,
    whyNode: hello?.whyNode,
    isResumed: hello?.memo !== undefined,
  });
  if (configured !== undefined) await supervise(host, configured.config, configured.remarks);
}

/** The configuration that the first supervisor of this container resolved. */
function leftConfig({ memo, hostId }: Hello, argv: readonly string[]): RunConfig | undefined {
  const kept = memo === undefined ? undefined : readMemo(memo, hostId)?.config;
  return kept?.version === versionNumber() ? restoredConfig(kept, argv) : undefined;
}

async function supervise(host: Host, config: RunConfig, remarks: Remarks | undefined): Promise<void> {
  const { member, graveyard, makesGraveyard, logLevel, logFormat, otlp, host: hostSetup, ...others } = config;
  const clock = new SystemClock();
  const log = new Log({ level: logLevel, format: logFormat, member: member.name });
  const version = versionNumber();
  const openMembership =
    graveyard === undefined
      ? undefined
      : async (before: Before) => {
          const { Membership } = await import('../../../runtime/membership.ts');
          return new Membership({ dir: graveyard, makes: makesGraveyard, member, clock, log, ...before });
        };
  const sendTrace =
    otlp === undefined
      ? undefined
      : async (state: State, maxMs: number) => {
          const { sendTrace: send } = await import('./send-trace.ts');
          const { url, service } = otlp;
          return send(url, { member, state, service, version }, maxMs);
        };
  const about = { ...others, member, host, hostSetup, clock, log, machine: MACHINE, openMembership, sendTrace };
  const kept = { config: keptConfig(config, version), ...(remarks && { remarks }) };
  await new Supervisor({ ...about, ...kept, bootId: readBootId() }).start();
  collectGarbageWhenIdle();
}

/** sexton-init when it started us, with what it says first; else this process itself. */
async function openHost(env: NodeJS.ProcessEnv) {
  const fd = env.SEXTON_INIT_FD;
  // Init saw no default graveyard when it started.
  const isSolo = env.SEXTON_INIT_SOLO !== undefined;
  // init sets these for the supervisor alone: the application gets its environment from init.
  delete env.SEXTON_INIT_FD;
  delete env.SEXTON_INIT_AS;
  delete env.SEXTON_INIT_SOLO;
  if (fd !== undefined && /^[0-9]{1,4}$/.test(fd)) {
    const host = new InitHost(Number(fd));
    return { host, hello: await host.hello(), isSolo };
  }
  const { ExecaHost } = await import('../../../runtime/host/execa.ts');
  return { host: new ExecaHost(whyWithoutInit()), hello: undefined, isSolo };
}

/**
 * Evaluating process.stdout or process.stderr makes the pipe behind it non-blocking; Node's own `assert` does that. The
 * application shares the pipe and would lose output with EAGAIN. So in a supervisor both lead nowhere, and messages go
 * to descriptor 2.
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
}
