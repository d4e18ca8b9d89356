/** Descriptors in messages of others, whose close sleeps for an hour: TCP sockets that linger. */
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { constants } from 'node:os';
import { type Lingering, withLingering } from '../helpers/lingering.ts';
import { send } from '../helpers/process.ts';
import { waitFor } from '../helpers/wait.ts';
import type { Supervisor } from './connection.ts';
import { orders } from './orders.ts';
import { AGENT, attend, begin, connected, fallAsleep, onBench, type Scene } from './scripted.ts';

const { SIGUSR1 } = constants.signals;

const FORMS: Readonly<Record<string, readonly string[]>> = {
  'one descriptor': ['1', '1'],
  '253 descriptors in each of three messages': ['3', '253'],
  'a socket that carries one': ['1', '1', 'nested'],
};

for (const [form, words] of Object.entries(FORMS)) {
  onBench(`init outlives ${form} in a connection that it has accepted`, async (bench) => {
    const scene = await begin(bench);
    const path = bench.path('live');
    scene.supervisor.commit('listen', path);
    (await connected(path)).destroy();
    await withLingering(['connect', path, ...words], async (peer) => {
      await peer.says('connected');
      await isThere(scene);
      await sends(scene, peer);
      peer.goOn();
      await peer.says('closed');
      await isThere(scene);
    });
    await endsAlone(scene);
  });

  onBench(`init outlives ${form} in a connection that waits to be accepted`, async (bench) => {
    const scene = await begin(bench);
    const path = bench.path('live');
    scene.supervisor.commit('listen', path);
    (await connected(path)).destroy();
    send(scene.init.pid, 'SIGSTOP');
    await withLingering(['connect', path, ...words], async (peer) => {
      await sends(scene, peer);
      peer.goOn();
      await peer.says('closed');
      await isThere(scene);
    });
  });

  onBench(`init outlives ${form} in a connection that it holds for the supervisor`, async (bench) => {
    const scene = await begin(bench);
    const path = bench.path('peer');
    await withLingering(['serve', path, ...words], async (peer) => {
      await peer.says('listening');
      const row = { when: 'mains', needed: 1, countsLost: false, holds: false, lingerMs: 0, signal: 15 } as const;
      const mains = { ...row, mains: [{ hostId: 'f'.repeat(32), path }] };
      scene.supervisor.commit('connections', 1, path, ...orders({ mains }));
      assert.deepEqual(await scene.supervisor.news(), ['contact', path, '']);
      await sends(scene, peer);
      await isThere(scene);
      scene.supervisor.commit('connections', 0);
      await isThere(scene);
    });
    await endsAlone(scene);
  });

  onBench(`init outlives ${form} from a peer while the supervisor sleeps`, async (bench) => {
    const scene = await begin(bench);
    const dir = bench.path('shared');
    mkdirSync(dir);
    await withLingering(['serve', `${dir}/.main.sock`, ...words], async (peer) => {
      await peer.says('listening');
      scene.supervisor.commit('ack', 1, 'watch', 1, 0, dir, 'web', 'connections', 1, `${dir}/.main.sock`);
      await fallAsleep(scene);
      await sends(scene, peer);
      await isThere({ ...scene, supervisor: await scene.init.supervisor() });
    });
  });

  onBench(`init outlives ${form} at NOTIFY_SOCKET, and reads on`, async (bench) => {
    const scene = await attend(bench);
    scene.supervisor.commit('notify', 1, 0, 'spawn', 1, 0, 0, AGENT.length, ...AGENT);
    await scene.supervisor.expect('spawned');
    scene.init.write('echo "$NOTIFY_SOCKET;"\n');
    const [, name = ''] = await waitFor('it has one', () => /@(.*);/.exec(scene.init.stdout()) ?? undefined);
    await withLingering(['notify', name, ...words], async (peer) => {
      await sends(scene, peer);
      await isThere(scene);
      scene.init.write('systemd-notify --no-block STATUS=after\n');
      assert.deepEqual(await fieldsOf(scene.supervisor, 'notified'), ['1', '0', 'STATUS=after']);
    });
    await endsAlone(scene);
  });
}

/** The peer has sent to this many connections before init goes on, so that the copies of init are the last ones. */
async function sends({ init }: Pick<Scene, 'init'>, peer: Lingering, connections = 1): Promise<void> {
  send(init.pid, 'SIGSTOP');
  peer.goOn(connections);
  await waitFor('it has sent', () => peer.output().match(/sent/g)?.length === connections);
  send(init.pid, 'SIGCONT');
}

/** A signal comes after what has happened to the sockets before it. */
async function isThere({ init, supervisor }: Pick<Scene, 'init' | 'supervisor'>): Promise<void> {
  send(init.pid, SIGUSR1);
  while ((await fieldsOf(supervisor, 'signal'))[0] !== String(SIGUSR1));
}

/** No process of init itself counts as a stray. */
async function endsAlone({ init, supervisor }: Pick<Scene, 'init' | 'supervisor'>): Promise<void> {
  init.write('exit\n');
  assert.deepEqual(await fieldsOf(supervisor, 'roots-gone'), ['1']);
}

/** The fields of the next such frame: init also reports the CONT that it gets. */
async function fieldsOf(supervisor: Supervisor, name: string): Promise<readonly string[]> {
  for (;;) {
    const [got, , , ...fields] = await supervisor.next();
    if (got === name) return fields;
  }
}
