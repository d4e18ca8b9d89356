/**
 * A pod with two long-lived members, a main and a sidecar with probes and restarts in place. Others beside them come
 * and go as containers do: by themselves, by a stop, by a KILL of the whole container.
 */
import { writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isSupervisor } from '../helpers/container.ts';
import { buildFixtures } from '../helpers/fixture.ts';
import { childrenOf, send } from '../helpers/process.ts';
import { waitForTombstone } from '../helpers/tombstone.ts';
import { FAR_MS, waitFor, within } from '../helpers/wait.ts';
import { type BigPod, withBigPod } from './pod.ts';

export interface Churn {
  /** The processes of the two long-lived members. */
  readonly pids: Readonly<Record<'main: init' | 'main: supervisor' | 'sidecar: init' | 'sidecar: supervisor', number>>;
  /** One container comes, runs and goes. `kind` counts them. */
  life(kind: number): Promise<void>;
  /** Restarts of the sidecar so far. */
  restarts(): number;
  probed(): number;
}

/** Hands the pod over once its long-lived members run, and then ends the main, and so all. */
export async function withChurn<T>(use: (churn: Churn) => Promise<T>): Promise<T> {
  const { member } = await buildFixtures();
  let probed = 0;
  const server = createServer((_request, response) => {
    probed++;
    response.end('ok');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  try {
    return await withBigPod(async (pod) => {
      const alive = join(pod.graveyard, '..', 'alive');
      writeFileSync(alive, '');
      const probe = `exec:${member} exists=${alive},period=1s,timeout=60s,failures=30`;
      const http = `http://127.0.0.1:${port}/,period=500ms,timeout=60s,failures=30`;
      const probes = ['--restart-policy', 'Never', '--liveness', probe, '--readiness', http];
      await pod.start([
        { name: 'main', flags: probes, application: ['stop=TERM,USR1', 'exit=0'] },
        // Its child ends after a second each time, so the backoff soon reaches its maximum of ten seconds.
        {
          name: 'side',
          flags: [...probes, '--role', 'sidecar', '--mains', 'main'],
          application: ['run=1000', 'exit=1'],
        },
      ]);
      await waitForTombstone(pod.graveyard, 'main', 'runs', ({ Phase }) => Phase === 'running');
      await waitForTombstone(pod.graveyard, 'side', 'restarts', ({ Restarts = 0 }) => Restarts > 0);
      const result = await use({
        pids: await pidsOf(pod),
        life: (kind) => life(pod, kind),
        restarts: () => pod.timeline().of('side', 'Starting').length - 1,
        probed: () => probed,
      });
      assertLives(pod);
      send(pod.member('main').pid1, 'SIGUSR1');
      await pod.ended(FAR_MS);
      return result;
    });
  } finally {
    await close(server);
  }
}

/** Few names, as a pod has few containers. */
const NAMES = 6;
const SHORT = ['--restart-policy', 'OnFailure'];

async function life(pod: BigPod, kind: number): Promise<void> {
  const name = `short-${kind % NAMES}`;
  // A sidecar does not end when its child exits 0, nor when it is asked to stop while it holds.
  const isSidecar = kind % 3 !== 0 && kind % 2 === 1;
  const role = isSidecar ? ['--role', 'sidecar', '--mains', 'main', '--hold', 'never'] : [];
  const isBrief = kind % 3 === 0;
  await pod.start([{ name, flags: [...SHORT, ...role], application: isBrief ? ['run=400'] : [], isBrief }]);
  const { pid1, ended } = pod.members.at(-1) ?? { pid1: 0, ended: Promise.resolve() };
  if (!isBrief) {
    const since = Date.now();
    await waitForTombstone(pod.graveyard, name, 'runs', ({ Phase, Born = '' }) => {
      return Phase === 'running' && Date.parse(Born) > since - 60_000;
    });
    await sleep(100);
    send(pid1, kind % 3 === 1 ? 'SIGTERM' : 'SIGKILL');
  }
  await within(`${name} ends`, ended);
}

async function pidsOf(pod: BigPod): Promise<Churn['pids']> {
  const [main, side] = [pod.member('main').pid1, pod.member('side').pid1];
  const supervisorOf = (pid1: number): Promise<number> =>
    waitFor('the supervisor is there', () => childrenOf(pid1).find(isSupervisor));
  return {
    'main: init': main,
    'main: supervisor': await supervisorOf(main),
    'sidecar: init': side,
    'sidecar: supervisor': await supervisorOf(side),
  };
}

/** Checks that the long-lived members kept their supervisors, and the main its application. */
function assertLives(pod: BigPod): void {
  const starts = pod.timeline().of('main', 'Starting').length;
  if (starts !== 1) throw new Error(`the main was started ${starts} times`);
  for (const name of ['main', 'side'])
    if (pod.said(name).includes('started again')) throw new Error(`the supervisor of ${name} was started again`);
}

function close(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(() => resolve()));
}
