/**
 * From what the core wants done to what the host is told, and from what the host reports to what the core understands.
 */
import type { MemberConfig } from '../core/config.ts';
import type { Effect, Event } from '../core/events.ts';
import { isStopRequest, ladderOf } from '../core/ladder.ts';
import { SIGTERM, signalName } from '../core/signals.ts';
import type { State } from '../core/state.ts';
import { actionOf } from '../core/tasks.ts';
import type { Instant } from '../core/time.ts';
import type { HostCommand, HostEvent, Program } from './host/host.ts';

/** `single`: signals are for the first process of the application, not for its group. */
export function commandsOf(effects: readonly Effect[], program: Program, single: boolean): readonly HostCommand[] {
  return effects.flatMap((effect): HostCommand[] => {
    switch (effect.type) {
      case 'spawnChild':
        return [{ type: 'spawn', id: effect.id, program }];
      case 'signalChild':
        return [{ type: 'kill', id: effect.id, signal: effect.signal }];
      case 'forwardStopOnce':
        return [{ type: 'once', id: effect.id, table: effect.table }];
      case 'forwardSignals':
        return [
          ...(single ? [{ type: 'single', id: effect.id } as const] : []),
          { type: 'forward', id: effect.id, table: effect.table },
        ];
      case 'sweepStrays':
        return [{ type: 'sweep', signal: effect.signal }];
      // The host runs commands; what goes over the network is done by the supervisor itself.
      case 'runAction':
        return effect.action.kind === 'exec'
          ? [{ type: 'exec', id: effect.id, argv: effect.action.argv, outputLimit: MOST_OUTPUT_BYTES }]
          : [];
      // Nothing happens when it is none of the host's.
      case 'endAction':
        return [{ type: 'endHelper', id: effect.id }];
      // Said and done by the supervisor itself; leaving waits for the tombstone.
      case 'log':
      case 'watchTraffic':
      case 'leaveTraffic':
      case 'exitContainer':
        return [];
      default:
        return effect satisfies never;
    }
  });
}

/** What the host does should no supervisor ever come back: the ladder has but its first rung then. */
export function fallbackOf(config: MemberConfig): HostCommand {
  const [{ signal }] = ladderOf(config, SIGTERM);
  return {
    type: 'fallback',
    stopSignals: config.stopSignals.filter((stop) => isStopRequest(config, stop)),
    signal: config.ladder === undefined && signal === SIGTERM ? undefined : signal,
    graceMs: config.gracePeriodMs,
  };
}

/** Of what a probe or a hook writes. */
const MOST_OUTPUT_BYTES = 4096;

/**
 * `oom`: of a KILL, the kernel's OOM killer was at work since the last one. `program`: what a helper was to run; undefined: nobody is
 * interested in it any more.
 */
export function coreEventOf(event: HostEvent, at: Instant, oom: boolean, program?: string): Event {
  switch (event.type) {
    case 'signal':
      return {
        type: 'signalReceived',
        at,
        signal: event.signal,
        senderPid: event.senderPid,
        fromTerminal: event.fromTerminal,
      };
    case 'forwarded':
      return { type: 'signalForwarded', at, signal: event.signal, as: event.as, senderPid: event.senderPid };
    case 'spawned':
      return { type: 'childSpawned', at, id: event.id, pid: event.pid };
    case 'spawnFailed':
      return { type: 'childSpawnFailed', at, id: event.id, errno: event.errno };
    case 'overdue':
      return { type: 'childKilled', at, id: event.id };
    case 'exited':
      return {
        type: 'childExited',
        at,
        id: event.id,
        exit: { code: event.code, signal: event.signal },
        core: event.core,
        oom,
      };
    case 'groupGone':
      return { type: 'groupEmptied', at, id: event.id, strays: event.strays };
    case 'straysGone':
      return { type: 'straysGone', at };
    case 'helperEnded':
      return {
        type: 'actionEnded',
        at,
        id: event.id,
        ok: event.code === 0,
        detail: endOf(event, oom, program),
        output: outputOf(event),
      };
    default:
      return event satisfies never;
  }
}

/** The program of the command that a helper runs. */
export function programOf(config: MemberConfig, { tasks }: Pick<State, 'tasks'>, event: HostEvent): string | undefined {
  const task = event.type === 'helperEnded' ? tasks.find(({ id }) => id === event.id) : undefined;
  const action = task === undefined ? undefined : actionOf(config, task.key);
  return action?.kind === 'exec' ? action.argv[0] : undefined;
}

function endOf(
  { code, signal, errno }: HostEvent & { type: 'helperEnded' },
  oom: boolean,
  program: string | undefined,
): string {
  if (errno !== undefined) return `${program ?? 'it'} cannot be started: ${reasonOf(errno)}`;
  if (oom) return 'killed by the OOM killer; raise the memory limit of the container';
  return signal === undefined ? `exit code ${code}` : `killed by ${signalName(signal)}`;
}

/** The host keeps the first bytes only. */
function outputOf({ output }: HostEvent & { type: 'helperEnded' }): string {
  return Buffer.byteLength(output) < MOST_OUTPUT_BYTES ? output : `${output.trimEnd()} ...`;
}

/** Why a program cannot be started, in words. */
export function reasonOf(errno: string): string {
  return REASONS[errno] ?? errno;
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'not found; check the spelling, the PATH and, for a script, the interpreter in its first line',
  EACCES: 'not executable, or a directory; check the mode of the file',
  ENOEXEC: 'not a program that the kernel can run; a script needs a first line like #!/bin/sh',
  ENOTDIR: 'a part of its path is not a directory',
  EAGAIN: 'no more processes are allowed; raise the pids limit of the container',
  ENOMEM: 'out of memory; raise the memory limit of the container',
};
