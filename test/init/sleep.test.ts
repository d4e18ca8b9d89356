/** A supervisor that asks to be let go: when init agrees, when it does not, and what has it started again. */
import assert from 'node:assert/strict';
import { appendFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { constants } from 'node:os';
import type { TestContext } from 'node:test';
import { readSleepers } from '../../src/runtime/graveyard/members.ts';
import { encodeFrame } from '../../src/runtime/host/frames.ts';
import { hasEnded, send } from '../helpers/process.ts';
import { waitFor } from '../helpers/wait.ts';
import type { Supervisor } from './connection.ts';
import { orders } from './orders.ts';
import { type Bench, begin, eachBuild, fallAsleep, hasPassed, type Init, layBench } from './scripted.ts';

const { SIGUSR1, SIGUSR2 } = constants.signals;

interface Stage {
  readonly bench: Bench;
  readonly init: Init;
  readonly supervisor: Supervisor;
  readonly dir: string;
  /** The peer `main`, and the connections to it. */
  readonly peer: Server;
  readonly connections: Socket[];
}

/** A supervisor that has acknowledged all, and watches. Init reports nothing of the member `quiet`. */
async function watching(
  t: TestContext,
  build: Parameters<typeof layBench>[1],
  more: readonly string[] = [],
): Promise<Stage> {
  const bench = await layBench(t, build);
  const { init, supervisor } = await begin(bench);
  const dir = bench.path('shared');
  mkdirSync(dir);
  for (const name of ['web', 'main', 'quiet']) writeFileSync(`${dir}/${name}`, 'a tombstone');
  const connections: Socket[] = [];
  const peer = createServer((socket) => connections.push(socket.on('error', () => {})));
  await new Promise<void>((resolve) => peer.listen(`${dir}/.main.sock`, resolve));
  t.after(() => {
    peer.close();
    for (const socket of connections) socket.destroy();
  });
  supervisor.commit('ack', 1, 'memo', 'before', ...watch(dir), ...more);
  await settled(supervisor, init, SIGUSR1);
  return { bench, init, supervisor, dir, peer, connections };
}

function watch(dir: string): readonly string[] {
  return ['connections', '1', `${dir}/.main.sock`, 'watch', '1', '1', dir, 'web', 'quiet'];
}

/** Init has applied what was committed: it hears of its supervisor before it hears of a signal. Acknowledges the signal. */
async function settled(supervisor: Supervisor, init: Init, signal: number): Promise<number> {
  send(init.pid, signal);
  const [name, seq = ''] = await supervisor.next();
  assert.equal(name, 'signal');
  supervisor.ack(seq);
  return Number(seq);
}

/** The next supervisor, and what has woken it; it knows what the last one knew. */
async function woken({ init }: Stage): Promise<{ readonly next: Supervisor; readonly why: string }> {
  const next = await init.supervisor();
  const [, , , , memo, why = ''] = next.hello;
  assert.equal(memo, 'before');
  return { next, why };
}

interface Cause {
  /** How the reason may begin. */
  readonly why: string | readonly string[];
  readonly does: (stage: Stage) => void;
}

const CAUSES: Readonly<Record<string, Cause>> = {
  'a tombstone that is replaced': {
    why: 'file main',
    does: ({ dir }) => {
      writeFileSync(`${dir}/.main.0123456789ab.tmp`, 'another');
      renameSync(`${dir}/.main.0123456789ab.tmp`, `${dir}/main`);
    },
  },
  'a tombstone that is written in place': { why: 'file main', does: ({ dir }) => appendFileSync(`${dir}/main`, '.') },
  'a member that was not there before': { why: 'file other', does: ({ dir }) => writeFileSync(`${dir}/other`, '') },
  'the own tombstone, when it is removed': { why: 'the directory', does: ({ dir }) => rmSync(`${dir}/web`) },
  'a stop request': {
    why: 'file .web.0123456789ab.stop',
    does: ({ dir }) => writeFileSync(`${dir}/.web.0123456789ab.stop`, '{}'),
  },
  'the handle of a new life of a quiet one': {
    why: 'file .quiet.sock',
    does: ({ dir }) => writeFileSync(`${dir}/.quiet.sock`, ''),
  },
  // Its files go first, and init may look in between.
  'the end of the directory': { why: ['the directory', 'file '], does: ({ dir }) => rmSync(dir, { recursive: true }) },
  'the end of a peer': {
    why: 'a handle',
    does: ({ connections }) => {
      for (const socket of connections) socket.destroy();
    },
  },
  'a word of a peer': {
    why: 'a handle',
    does: ({ connections }) => {
      for (const socket of connections) socket.write('dead');
    },
  },
};

for (const [cause, { why: expected, does }] of Object.entries(CAUSES)) {
  eachBuild(`P15 ${cause} wakes the supervisor`, async (t, build) => {
    const stage = await watching(t, build);
    await waitFor('init is connected', () => stage.connections.length === 1);
    await fallAsleep(stage);
    does(stage);
    const { next, why } = await woken(stage);
    assert.ok(
      [expected].flat().some((begin) => why.startsWith(begin)),
      why,
    );
    send(stage.init.pid, SIGUSR2);
    await next.expect('signal');
  });
}

eachBuild('P15 a signal and the end of the child wake the supervisor, and each is reported once', async (t, build) => {
  const stage = await watching(t, build);
  await fallAsleep(stage);
  send(stage.init.pid, SIGUSR2);
  const { next, why } = await woken(stage);
  assert.equal(why, 'event');
  assert.deepEqual((await next.expect('signal'))[0], String(SIGUSR2));
  next.commit('ack', 3, ...watch(stage.dir), 'sleep', '');
  await next.closed();
  stage.init.write('exit 6\n');
  const { next: last } = await woken(stage);
  assert.deepEqual((await last.expect('exited')).slice(2, 4), ['6', '']);
  await last.expect('roots-gone');
  last.commit('exit', 6);
  assert.deepEqual(await stage.init.ended, { code: 6, signal: null });
});

eachBuild('P15 a sleep costs no new connection to a peer, unless that has spoken', async (t, build) => {
  const stage = await watching(t, build);
  const path = `${stage.dir}/.main.sock`;
  const answered = async (supervisor: Supervisor): Promise<void> => {
    while ((await supervisor.news())[1] !== path);
  };
  await answered(stage.supervisor);
  await fallAsleep(stage);
  send(stage.init.pid, SIGUSR2);
  const { next } = await woken(stage);
  const [, seq = ''] = await next.next();
  next.commit('ack', Number(seq), 'connections', 1, path);
  await answered(next);
  assert.equal(stage.connections.length, 1);
  stage.connections[0]?.write('a word');
  next.commit('watch', 2, 0, stage.dir, 'web');
  await waitFor('init has connected again', () => stage.connections.length === 2);
  await fallAsleep({ ...stage, supervisor: next });
  stage.connections[1]?.write('another word');
  assert.equal((await woken(stage)).why, 'a handle');
});

eachBuild(
  'P15 a lock on the tombstone shows the sleep until the supervisor wakes or may not sleep',
  async (t, build) => {
    const stage = await watching(t, build);
    const sleepers = async (): Promise<readonly string[]> => [
      ...(await readSleepers(stage.dir, ['web', 'main', 'gone'])),
    ];
    const shown = ['sleep', `${stage.dir}/web`];
    stage.supervisor.commit('exec', 1, 0, 4, 'tail', `--pid=${stage.init.pid}`, '-f', '/dev/null', ...shown);
    await settled(stage.supervisor, stage.init, SIGUSR1);
    assert.deepEqual(await sleepers(), [], 'a helper runs: it is not let go');
    stage.supervisor.commit('end-helper', 1);
    const [, seq = ''] = await stage.supervisor.next();
    stage.supervisor.commit('ack', Number(seq), ...watch(stage.dir), ...shown);
    await stage.supervisor.closed();
    assert.deepEqual(await sleepers(), ['web']);
    writeFileSync(`${stage.dir}/other`, '');
    await woken(stage);
    assert.deepEqual(await sleepers(), []);
  },
);

eachBuild('P15 the due time wakes the supervisor', async (t, build) => {
  const stage = await watching(t, build);
  const [uptime = ''] = readFileSync('/proc/uptime', 'latin1').split(' ');
  // At least half a second from now: the kernel may count uptime with the time that the machine was suspended.
  stage.supervisor.commit('due', Math.ceil(Number(uptime) * 1000) + 500);
  await fallAsleep(stage);
  assert.equal((await woken(stage)).why, 'due');
});

eachBuild('P15 a quiet member or a half-written file does not wake the supervisor', async (t, build) => {
  const stage = await watching(t, build);
  await fallAsleep(stage);
  const { dir } = stage;
  for (const file of ['quiet', '.main.0123456789ab.tmp', '.main.0123456789ab.stop', 'Not_a_member', '.generation'])
    writeFileSync(`${dir}/${file}`, 'news');
  writeFileSync(`${dir}/other`, '');
  assert.equal((await woken(stage)).why, 'file other');
});

const REFUSALS: Readonly<Record<string, (stage: Stage) => Promise<void> | void>> = {
  'an event is not acknowledged': async ({ supervisor, init }) => {
    send(init.pid, SIGUSR2);
    await supervisor.expect('signal');
  },
  'a tombstone was written since it began to watch': ({ dir }) => {
    writeFileSync(`${dir}/main`, 'news');
  },
  'a peer has gone since it began to watch': async ({ connections }) => {
    await waitFor('init is connected', () => connections.length === 1);
    connections[0]?.destroy();
  },
  'there is no such directory': async ({ supervisor }) => {
    supervisor.commit(...watch('/nowhere'));
  },
  'nobody holds the handle of a peer': async ({ supervisor, dir }) => {
    supervisor.commit('connections', 1, `${dir}/.other.sock`);
  },
  'a helper runs': async ({ supervisor, init }) => {
    supervisor.commit('exec', 1, 0, 4, 'tail', `--pid=${init.pid}`, '-f', '/dev/null');
  },
  'it is due already': async ({ supervisor }) => {
    supervisor.commit('due', 1);
  },
};

for (const [why, does] of Object.entries(REFUSALS)) {
  eachBuild(`P15 init refuses to end a supervisor when ${why}`, async (t, build) => {
    const stage = await watching(t, build);
    await does(stage);
    const { supervisor, init, dir } = stage;
    supervisor.commit('sleep', '', 'memo', 'later', 'listen', `${dir}/.applied`);
    await waitFor('it is applied', () => existsSync(`${dir}/.applied`));
    send(init.pid, SIGUSR1);
    await supervisor.expect('signal');
    // It is the same one, and goes on.
    assert.ok(!hasEnded(supervisor.about.pid));
    await supervisor.kill();
    const [, , , , memo, wokenBy] = (await init.supervisor()).hello;
    assert.deepEqual([memo, wokenBy], ['later', '']);
  });
}

eachBuild('P15 a supervisor that dies before its sleep is started again, and was not woken', async (t, build) => {
  const stage = await watching(t, build);
  writeFileSync(`${stage.dir}/main`, 'news');
  await stage.supervisor.kill();
  assert.equal((await woken(stage)).why, '');
});

eachBuild('P15 init applies a commit that follows sleep, and wakes the next supervisor', async (t, build) => {
  const { supervisor, init, dir } = await watching(t, build);
  // A supervisor sends this if it tries to sleep once more before init has read that it may.
  const frames = [
    ['commit', 'sleep', ''],
    ['commit', 'memo', 'behind', ...watch(dir)],
  ].map(encodeFrame);
  supervisor.raw(Buffer.concat(frames));
  const [, , , , memo, why] = (await init.supervisor()).hello;
  assert.equal(memo, 'behind');
  assert.equal(why, 'commit');
});

eachBuild('P15 an ordered KILL is not late while the supervisor sleeps', async (t, build) => {
  const [uptime = ''] = readFileSync('/proc/uptime', 'latin1').split(' ');
  const stage = await watching(t, build, orders({ deadline: Math.ceil(Number(uptime) * 1000) + 700 }).map(String));
  await fallAsleep(stage);
  const { next } = await woken(stage);
  await next.expect('ordered');
});

eachBuild('failures before a sleep delay no supervisor after it', async (t, build) => {
  const stage = await watching(t, build);
  let { supervisor } = stage;
  await hasPassed(stage.bench, supervisor, supervisor.sent);
  const replace = async (): Promise<number> => {
    const killedAt = performance.now();
    await supervisor.kill();
    supervisor = await stage.init.supervisor();
    const waitedMs = performance.now() - killedAt;
    supervisor.commit(...watch(stage.dir));
    await hasPassed(stage.bench, supervisor, supervisor.sent);
    return waitedMs;
  };
  let beforeMs = 0;
  for (let lives = 0; lives < 6; lives++) beforeMs = await replace();
  await fallAsleep({ ...stage, supervisor });
  send(stage.init.pid, SIGUSR2);
  supervisor = await stage.init.supervisor();
  const [, seq = ''] = await supervisor.next();
  supervisor.ack(seq);
  const afterMs = await replace();
  assert.ok(afterMs < beforeMs, `${afterMs} ms after the sleep, ${beforeMs} ms before it`);
});
