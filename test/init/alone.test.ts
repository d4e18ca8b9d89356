import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, readlinkSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { constants } from 'node:os';
import type { MainsRow } from '../../src/core/mains-row.ts';
import { childrenOf, hasEnded, send } from '../helpers/process.ts';
import { waitFor } from '../helpers/wait.ts';
import { STATIC } from './builds.ts';
import { orders } from './orders.ts';
import {
  AGENT,
  begin,
  eachBuild,
  hasPassed,
  layBench,
  loseSupervisor,
  onBench,
  onTerminal,
  REFUSED,
  shell,
} from './scripted.ts';

const { SIGTERM, SIGINT, SIGUSR1, SIGUSR2, SIGKILL } = constants.signals;

onBench('init gives up after five failed starts, and still acts on a stop request', async (bench) => {
  rmSync(bench.path('bin/node'));
  writeFileSync(bench.path('bin/node'), '#!/bin/sh\necho started >>"$SX_DIR/starts"\nexit 1\n', { mode: 0o755 });
  const init = bench.start(
    shell('trap "echo term; exit 7" TERM; echo up; while read l; do :; done; while :; do sleep 1; done'),
  );
  await init.says('up');
  send(init.pid, SIGTERM);
  await init.says('term');
  assert.deepEqual(await init.ended, { code: 7, signal: null });
  assert.match(
    init.stderr(),
    /cannot start the supervisor: it dies again and again \(code 1; a seccomp profile may be/,
  );
});

onBench('init alone forwards by its tables, KILLs after the grace period, and exits with 128+n', async (bench) => {
  const init = bench.start(shell('trap "echo int" INT; trap "echo usr2" USR2; echo up; while :; do read l; done'));
  const supervisor = await init.supervisor();
  await supervisor.expect('spawned');
  await init.says('up');
  send(init.pid, 40);
  await supervisor.expect('signal');
  const rows = { stops: [SIGTERM], unheard: [1, SIGINT], grace: 3_000, each: { [SIGUSR1]: SIGUSR2 } } as const;
  supervisor.commit('ack', 2, ...orders(rows));
  await hasPassed(bench, supervisor, supervisor.sent);
  await loseSupervisor({ bench, init, supervisor });
  send(init.pid, SIGUSR1);
  await init.says('usr2');
  send(init.pid, SIGTERM);
  await init.says('int');
  assert.deepEqual(await init.ended, { code: 128 + SIGKILL, signal: null });
});

onBench('init alone takes no change of the window size for a stop request', async (bench) => {
  rmSync(bench.path('bin/node'));
  writeFileSync(bench.path('bin/node'), '#!/bin/sh\nexit 1\n', { mode: 0o755 });
  const traps = 'trap "echo winch" WINCH; trap "echo term; exit 7" TERM';
  writeFileSync(bench.path('application'), `${traps}; echo up; while :; do sleep 0.02; done\n`);
  const flags = '--graveyard /graveyard --grace-period 600s';
  const command = `${bench.sexton} ${flags} -- sh ${bench.path('application')}`;
  const init = onTerminal(bench, `exec ${command} </dev/null 2>${bench.path('said')}`);
  await init.says('up');
  const [pid = 0] = childrenOf(init.pid);
  await waitFor('init is alone', () => /goes on without it/.test(readFileSync(bench.path('said'), 'utf8')));
  const terminal = readlinkSync(`/proc/${pid}/fd/1`);
  assert.equal(spawnSync('stty', ['-F', terminal, 'cols', '99', 'rows', '33']).status, 0);
  await init.says('winch');
  send(pid, SIGTERM);
  await init.says('term');
  assert.deepEqual(await init.ended, { code: 7, signal: null });
});

onBench('init alone forwards a signal that waits in its queue by its table, too', async (bench) => {
  const scene = await begin(
    bench,
    shell('trap "echo usr1" USR1; trap "echo usr2" USR2; echo up; while :; do read l; done'),
  );
  const { init, supervisor } = scene;
  send(init.pid, SIGUSR1);
  await supervisor.expect('signal');
  supervisor.commit(...orders({ each: { [SIGUSR1]: SIGUSR2 } }));
  await hasPassed(bench, supervisor, supervisor.sent);
  await loseSupervisor(scene);
  await init.says('usr2');
  assert.doesNotMatch(init.stdout(), /usr1/);
  send(scene.pid, SIGKILL);
  assert.equal((await init.ended).code, 128 + SIGKILL);
});

onBench('P12 init alone tries another supervisor, and reports what it has forwarded meanwhile', async (bench) => {
  const node = bench.path('bin/node');
  const init = bench.start(shell('trap "echo term" TERM; echo up; while :; do read l; done'));
  const first = await init.supervisor();
  await first.expect('spawned');
  await init.says('up');
  renameSync(node, `${node}.away`);
  await first.kill();
  await waitFor('init goes on alone', () => init.stderr().includes('goes on without it'));
  send(init.pid, SIGTERM);
  await init.says('term');
  renameSync(`${node}.away`, node);
  const second = await init.supervisor();
  await second.expect('spawned');
  const [, row, signal, as] = await second.expect('ordered');
  assert.deepEqual([row, signal, as], ['first', String(SIGTERM), String(SIGTERM)]);
  // With its first commit it decides again.
  second.commit('ack', 2);
  await hasPassed(bench, second, second.sent);
  send(init.pid, SIGUSR1);
  assert.equal((await second.expect('signal'))[0], String(SIGUSR1));
  second.commit('exit', 5);
  assert.deepEqual(await init.ended, { code: 5, signal: null });
});

onBench(
  'B4 init alone waits longer before it tries each further supervisor',
  async (bench) => {
    rmSync(bench.path('bin/node'));
    const script = `#!/bin/sh\ndate +%s%N >>'${bench.path('starts')}'\nexit 1\n`;
    writeFileSync(bench.path('bin/node'), script, { mode: 0o755 });
    const init = bench.start(['--', ...AGENT]);
    // The first five in a row, then two after a pause each.
    const starts = await waitFor('it is tried twice more', () => {
      const times = existsSync(bench.path('starts')) ? readFileSync(bench.path('starts'), 'latin1') : '';
      return times.split('\n').length > 7 && times.trim().split('\n').map(Number);
    });
    const [fifth = 0, sixth = 0, seventh = 0] = starts.slice(4);
    assert.ok(seventh - sixth > 1.5 * (sixth - fifth), `${starts}`);
    init.write('exit 3\n');
    assert.deepEqual(await init.ended, { code: 3, signal: null });
  },
  [STATIC],
);

eachBuild(
  'init alone stops a sidecar after its mains, killed ones too where ordered, and its linger',
  async (t, build) => {
    const ways = [
      { needed: 0, lost: 1, says: '' },
      { needed: 1, lost: 1, says: '' },
      { needed: 1, lost: 0, says: 'dead ID 1\n', lingerMs: 700 },
      { needed: 0, lost: 0, says: '', stop: true },
      { needed: 1, lost: 0, says: 'dead ID 2\n', stop: true, lingerMs: 700 },
    ];
    for (const { needed, lost, says, stop, lingerMs = 0 } of ways) {
      const bench = await layBench(t, build);
      const main = await speakerAt(bench.path('.main.sock'));
      const trap = 'trap "echo term; exit 7" TERM; echo up; while :; do sleep 60 & wait $!; done';
      const { init, supervisor } = await begin(bench, ['--graveyard', '/graveyard', '--', 'sh', '-c', trap]);
      const path = bench.path('.main.sock');
      const mains = { ...mainsAt(path), needed, countsLost: lost === 1, lingerMs };
      const rows = { stops: [SIGTERM], unheard: [600_000, 0] } as const;
      supervisor.commit('ack', 1, 'connections', 1, path);
      supervisor.commit(...orders({ ...rows, mains }));
      // The mains outlive the row.
      supervisor.commit(...orders(rows));
      await hasPassed(bench, supervisor, supervisor.sent);
      await loseSupervisor({ bench, init, supervisor });
      if (stop === true) send(init.pid, SIGTERM);
      const endedMs = performance.now();
      void main.end(says.replace('ID', HOST_ID));
      await init.says('term');
      assert.ok(performance.now() - endedMs >= lingerMs);
      assert.deepEqual(await init.ended, { code: 7, signal: null });
    }
  },
);

onBench('init alone sends no second stop signal to a sidecar whose ladder has begun', async (bench) => {
  const main = await speakerAt(bench.path('.main.sock'));
  const trap = 'trap "echo term" TERM; trap "exit 7" USR1; echo up; while :; do sleep 60 & wait $!; done';
  const { init, supervisor } = await begin(bench, ['--graveyard', '/graveyard', '--', 'sh', '-c', trap]);
  const path = bench.path('.main.sock');
  supervisor.commit('ack', 1, 'kill', 1, SIGTERM, 'connections', 1, path);
  // Without a wait: the child has had it.
  supervisor.commit(...orders({ stops: [SIGTERM], mains: { ...mainsAt(path), signal: SIGUSR2 } }));
  await hasPassed(bench, supervisor, supervisor.sent);
  await init.says('term');
  await loseSupervisor({ bench, init, supervisor });
  await main.end(`dead ${HOST_ID} 1\n`);
  send(init.pid, SIGUSR1);
  assert.deepEqual(await init.ended, { code: 7, signal: null });
});

onBench('init alone counts the grace period of a stop request that follows the end of the mains', async (bench) => {
  const main = await speakerAt(bench.path('.main.sock'));
  const trap = 'trap "echo term" TERM; echo up; while :; do sleep 60 & wait $!; done';
  const { init, supervisor } = await begin(bench, ['--graveyard', '/graveyard', '--', 'sh', '-c', trap]);
  const path = bench.path('.main.sock');
  supervisor.commit('ack', 1, 'connections', 1, path);
  supervisor.commit(...orders({ stops: [SIGTERM], unheard: [600_000, 0], grace: 500, mains: mainsAt(path) }));
  await hasPassed(bench, supervisor, supervisor.sent);
  await loseSupervisor({ bench, init, supervisor });
  await main.end(`dead ${HOST_ID} 1\n`);
  await init.says('term');
  send(init.pid, SIGTERM);
  assert.deepEqual(await init.ended, { code: 128 + SIGKILL, signal: null });
  assert.equal(init.stdout(), 'up\nterm\n');
});

onBench('init exits 125 with neither a supervisor nor an application', async (bench) => {
  rmSync(bench.path('bin/node'));
  writeFileSync(bench.path('bin/node'), '#!/bin/sh\nexit 1\n', { mode: 0o755 });
  const init = bench.start(REFUSED);
  assert.deepEqual(await init.ended, { code: 125, signal: null });
  assert.match(init.stderr(), /nothing was started/);
});

onBench('init exits with the ordered code, and leaves no process behind', async (bench) => {
  const init = bench.start(shell('setsid sh -c "sleep 600 & echo daemon; wait" & sleep 600 & echo up; wait'));
  const supervisor = await init.supervisor();
  const [, pid] = await supervisor.expect('spawned');
  await init.says('daemon');
  const all = descendants(init.pid);
  assert.ok(all.includes(Number(pid)) && all.length >= 5, String(all));
  supervisor.commit('exit', 42);
  assert.deepEqual(await init.ended, { code: 42, signal: null });
  for (const left of all) assert.ok(hasEnded(left), `${left} has ended`);
});

const HOST_ID = '0123456789abcdef'.repeat(2);

/** A main's liveness socket: `end` says this to the one that is connected, which then hangs up, and so do we. */
async function speakerAt(path: string): Promise<{ readonly end: (says: string) => Promise<unknown> }> {
  const connections: Socket[] = [];
  const server = createServer((socket) => connections.push(socket));
  await new Promise<void>((resolve) => server.listen(path, resolve));
  return {
    end: (says) => {
      server.close();
      return Promise.all(connections.map((socket) => once(socket.resume().end(says), 'close')));
    },
  };
}

function descendants(pid: number): number[] {
  const found = childrenOf(pid);
  for (const child of found) found.push(...childrenOf(child));
  return found;
}

/** The row for one main. */
function mainsAt(path: string): MainsRow {
  const row = { when: 'mains', needed: 1, countsLost: true, holds: false, lingerMs: 0, signal: SIGTERM } as const;
  return { ...row, mains: [{ hostId: HOST_ID, path }] };
}
