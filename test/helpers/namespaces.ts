/**
 * A container as a PID namespace with its own /proc. util-linux `unshare` makes it and ends as PID 1 ended. When
 * `unshare` itself is killed, the whole namespace goes with it, so nothing can outlive a test.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import type { Launched, Order } from './engine.ts';
import { childrenOf, hasEnded, programOf, send } from './process.ts';
import { waitFor } from './wait.ts';

export function launchInNamespaces(order: Order): Launched {
  const rootless = process.getuid?.() === 0 ? [] : ['--user', '--map-root-user'];
  const namespaces = ['--pid', '--fork', '--mount-proc', '--kill-child=KILL', ...rootless];
  const argv = ['unshare', ...namespaces, '--', ...surroundings(order), ...order.argv];
  const [file, ...rest] = order.terminal
    ? ['script', '--quiet', '--return', '--command', `exec ${argv.map(quoted).join(' ')}`, '/dev/null']
    : argv;
  const child = spawn(file ?? '', rest, { env: order.env, stdio: order.stdio });
  return {
    process: child,
    findPid1: (program) => findPid1(child, program),
    kill: async () => {
      const found = findPid1(child, undefined);
      const outer = unshareOf(child);
      // A killed unshare shows KILL. It reports 1 when only its PID 1 is killed, because signal(2) refuses KILL.
      if (outer !== undefined) send(outer, 'SIGKILL');
      // A PID 1 that has changed its uid no longer dies with its parent: prctl(2).
      if (found !== undefined) send(found, 'SIGKILL');
      if (found !== undefined) await waitFor('the namespace is gone', () => hasEnded(found));
      return found !== undefined;
    },
    // The search for leftovers finds these processes on its own.
    clear: () => Promise.resolve(undefined),
  };
}

/** What runs before PID 1's own program and execs it. `unshare --mount-proc` has made a mount namespace for it. */
function surroundings({ terminal, dir, tmpfs, user, hardened }: Order): string[] {
  const ownUser = ['setpriv', '--reuid', String(user), '--regid', String(user), '--clear-groups'];
  const none = ['--bounding-set=-all', '--inh-caps=-all', '--no-new-privs'];
  const mounts = [
    ...(tmpfs === undefined ? [] : [`mount -t tmpfs -o size=64k none ${quoted(tmpfs)}`]),
    ...(hardened ? [`mount --bind ${quoted(dir)} ${quoted(dir)}`, 'mount -o remount,bind,ro /'] : []),
    ...(hardened ? ['mount -o remount,hidepid=2 /proc'] : []),
  ];
  return [
    // PID 1 leads its session, as a container runtime has it for `-t`.
    ...(terminal ? ['setsid', '--ctty'] : []),
    ...(mounts.length === 0 ? [] : ['sh', '-c', [...mounts, 'exec "$@"'].join(' && '), 'sh']),
    ...(user === undefined ? [] : [...ownUser, ...(hardened ? none : []), '--']),
  ];
}

function findPid1(outermost: ChildProcess, program: string | undefined): number | undefined {
  const outer = unshareOf(outermost);
  const [pid] = outer === undefined ? [] : childrenOf(outer);
  if (pid === undefined) return undefined;
  const runs = programOf(pid);
  const good = program === undefined ? runs !== '' && !runs.endsWith('/unshare') : runs === program;
  return good ? pid : undefined;
}

/** What we started, or what `script` started. */
function unshareOf({ pid, spawnfile }: ChildProcess): number | undefined {
  if (pid === undefined || spawnfile === 'unshare') return pid;
  return childrenOf(pid).find((it) => programOf(it).endsWith('/unshare'));
}

export function quoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}
