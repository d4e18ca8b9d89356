/**
 * What the host reports, as the core hears it: the same events by the same names. Only two of them get something that
 * the host does not know.
 */
import type { MemberConfig } from '../../core/config.ts';
import { actionOf } from '../../core/lifecycle/tasks.ts';
import { signalName } from '../../core/signals.ts';
import type { Event } from '../../core/state/events.ts';
import type { State } from '../../core/state/state.ts';
import type { Instant } from '../../core/time.ts';
import { MAX_OUTPUT_BYTES } from './frames.ts';
import type { EndWritten, HelperEnded, HostEvent } from './host.ts';

/**
 * `oom`: of a KILL, the kernel's OOM killer was at work since the last one. `program`: what a helper or the child was to
 * run; undefined: its task is forgotten.
 */
export function eventOf(
  { seq: _seq, ...report }: Exclude<HostEvent, EndWritten>,
  at: Instant,
  oom: boolean,
  program?: string,
): Event {
  switch (report.type) {
    case 'exited':
      return { ...report, at, oom };
    case 'spawnFailed':
      return { ...report, at, why: `${program}: ${errnoText(report.errno)}` };
    case 'helperEnded': {
      const { id, code } = report;
      return {
        type: 'taskEnded',
        at,
        id,
        ok: code === 0,
        detail: helperEndText(report, oom, program),
        output: outputOf(report),
      };
    }
    case 'ordered': {
      const { wall, ...ordered } = report;
      return { ...ordered, at: { ...at, wall } };
    }
    default:
      return { ...report, at };
  }
}

export function programOf(config: MemberConfig, { tasks }: Pick<State, 'tasks'>, event: HostEvent): string | undefined {
  const task = event.type === 'helperEnded' ? tasks.find(({ id }) => id === event.id) : undefined;
  const action = task === undefined ? undefined : actionOf(config, task.key);
  return action?.kind === 'exec' ? action.argv[0] : undefined;
}

function helperEndText({ code, signal, errno }: HelperEnded, oom: boolean, program: string | undefined): string {
  if (errno !== undefined) return `${program ?? 'it'} cannot be started: ${errnoText(errno)}`;
  if (oom) return 'killed by the OOM killer; raise the memory limit of the container';
  return signal === undefined ? `exit code ${code}` : `killed by ${signalName(signal)}`;
}

/** The host keeps the first bytes only. */
function outputOf({ output }: HelperEnded): string {
  return Buffer.byteLength(output) < MAX_OUTPUT_BYTES ? output : `${output.trimEnd()} ...`;
}

function errnoText(errno: string): string {
  return ERRNO_TEXTS[errno] ?? errno;
}

const ERRNO_TEXTS: Readonly<Record<string, string>> = {
  ENOENT: 'not found; check the spelling, the PATH and, for a script, the interpreter in its first line',
  EACCES: 'not executable, or a directory; check the mode of the file',
  ENOEXEC: 'not a program that the kernel can run; a script needs a first line like #!/bin/sh',
  ENOTDIR: 'a part of its path is not a directory',
  EAGAIN: 'no more processes are allowed; raise the pids limit of the container',
  ENOMEM: 'out of memory; raise the memory limit of the container',
};
