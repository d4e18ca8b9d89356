/** Programs as PID 1 of PID namespaces of their own, as in containers, without a container engine. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/**
 * The first process that the shell starts is PID 1, and it mounts a /proc of its own. The shell reports how it ended,
 * and only that: it is what makes 137 of a KILL. Should the shell be killed, PID 1 goes with it.
 */
const REPORT = 'exec 3>&2 2>/dev/null; (exec "$@" 2>&3 3>&-); exit $?';
const PID_1 = ['/bin/sh', '-c', REPORT, 'sh', 'unshare', '--mount-proc', '--', 'setpriv', '--pdeathsig', 'KILL', '--'];

export interface Namespaces {
  /** What stands in front of a command that becomes PID 1. */
  readonly prefix: readonly string[];
  /** What stands in front of a command that joins PID 1, as under `kubectl exec`. */
  readonly join: (pid1: number) => readonly string[];
}

/** Root makes the namespace as it is; others need a user namespace around it. undefined: neither can be made here. */
export function usableNamespaces(): Namespaces | undefined {
  return [[], ['--user']].map(waysOf).find(({ prefix: [file = '', ...args] }) => {
    return spawnSync(file, [...args, '/bin/true']).status === 0;
  });
}

function waysOf(user: readonly string[]): Namespaces {
  const mapped = user.length > 0 ? [...user, '--map-root-user'] : [];
  const kept = user.length > 0 ? [...user, '--preserve-credentials'] : [];
  return {
    prefix: ['unshare', '--pid', ...mapped, '--', ...PID_1],
    join: (pid1) => ['nsenter', `--target=${pid1}`, ...kept, '--pid', '--mount', '--'],
  };
}

export const NO_NAMESPACE =
  'cannot make a PID namespace: the demo needs Linux, unshare and setpriv (util-linux), and root or user namespaces';

/** PID 1 of the namespace, by the number that it has out here; `outside`: what was started with `prefix`. */
export function initOf(outside: number): number {
  const [child = 0] = childrenOf(outside);
  if (!(child > 1)) throw new Error('cannot find PID 1: it has ended; see the messages above');
  return child;
}

export function childrenOf(pid: number): readonly number[] {
  const pids = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');
  return pids.map(Number).filter((child) => child > 0);
}
