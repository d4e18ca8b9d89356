import assert from 'node:assert/strict';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { constants } from 'node:os';
import type { TestContext } from 'node:test';
import { fill } from '../../src/core/lifecycle/prepared/prepared-ends.ts';
import { makeCgroup, whyNoCgroup } from '../helpers/cgroup.ts';
import { send } from '../helpers/process.ts';
import { sendFromOutside } from '../helpers/program.ts';
import { tempGraveyard } from '../helpers/scratch.ts';
import { waitFor } from '../helpers/wait.ts';
import type { Build } from './builds.ts';
import type { Supervisor } from './connection.ts';
import { orders } from './orders.ts';
import {
  AGENT,
  type Bench,
  begin,
  connected,
  eachBuild,
  fallAsleep,
  hasPassed,
  type Init,
  layBench,
  loseSupervisor,
} from './scripted.ts';

const { SIGTERM, SIGUSR1, SIGKILL } = constants.signals;
/** Places, as `src/core/lifecycle/prepared/placeholders.ts` describes them. */
const PLACES = { time: '\u00010', clock: '\u0002n0-0\u0002', code: '\u0003', moment: '\u00040', hour: '\u00050' };
const TEXT = `{\n  "Died": "${PLACES.time}",\n  "At": ${PLACES.clock}, "In": "Zürich", "Again": "${PLACES.time}", "ExitCode": ${PLACES.code}\n}`;
/** Longer than any of these tests. */
const PATIENCE_MS = 600_000;
/** Prints a line for each USR1. */
const TELLER = ['sh', '-c', "trap 'echo told' USR1; echo up; while :; do sleep 60 & wait $!; done"];
const [ALL, STAYS] = [['', 0, 255, 1, 256, TEXT, '', ''] as const, 257];
const { log: LOG, evidence: EVIDENCE } = {
  log: `${PLACES.moment} ended with ${PLACES.code}\n${PLACES.hour} dead\n`,
  evidence: `{"Summary":"ended with ${PLACES.code} at ${PLACES.time}"}\n`,
};

interface Scene {
  readonly bench: Bench;
  readonly init: Init;
  readonly supervisor: Supervisor;
  readonly path: string;
}

/** The agent runs, all is acknowledged, and the tombstone is an old one. */
async function lay(t: TestContext, build: Build, words: readonly string[] = AGENT): Promise<Scene> {
  const bench = await layBench(t, build);
  const { init, supervisor } = await begin(bench, ['--', ...words]);
  mkdirSync(bench.path('grave'));
  const path = bench.path('grave/web');
  writeFileSync(path, 'old');
  supervisor.commit('ack', 1, 'listen', bench.path('live'));
  await waitFor('it listens', () => existsSync(bench.path('live')));
  return { bench, init, supervisor, path };
}

/** Init has applied it, and a millisecond has gone by since. */
async function apply({ bench, supervisor }: Scene, ...fields: readonly (string | number)[]): Promise<void> {
  supervisor.commit(...fields, 'listen', bench.path('applied'));
  await waitFor('it is applied', () => existsSync(bench.path('applied')));
  rmSync(bench.path('applied'));
  const appliedMs = Number(process.hrtime.bigint() / 1_000_000n);
  await waitFor('another millisecond', () => Number(process.hrtime.bigint() / 1_000_000n) > appliedMs);
}

function preparedEnds({ path }: Scene, ...ends: readonly (readonly (string | number)[])[]): (string | number)[] {
  return ['prepared-ends', 1, SIGTERM, PATIENCE_MS, 3 + 8 * ends.length, path, '', 0, ...ends.flat()];
}

/** Connections to the mains that this names, in place of those before, and the operation itself. */
function endWith(...fields: readonly (string | number)[]): (string | number)[] {
  const paths = fields.slice(6, 6 + Number(fields[5])).filter((_, index) => index % 2 === 1);
  return ['connections', 0, 'connections', paths.length, ...paths, 'end-with', 1, ...fields];
}

eachBuild('F01 init announces a prepared end to its peers, writes the tombstone, and reports it', async (t, build) => {
  const scene = await lay(t, build);
  const { supervisor, init, path } = scene;
  const peers = [await hearer(scene.bench.path('live')), await hearer(scene.bench.path('live'))];
  await apply(
    scene,
    ...preparedEnds(scene, ['', 0, 6, 0, STAYS, 'another', '', ''], ['', 7, 7, 1, STAYS, TEXT, '', '']),
  );
  init.write('exit 7\n');
  const [name, , atMs, id, , code, wall = ''] = await supervisor.next();
  assert.deepEqual([name, id, code], ['end-written', '1', '7']);
  assert.equal(readFileSync(path, 'utf8'), fill(TEXT, { moments: [{ mono: Number(atMs), wall }], code: 7 }));
  assert.equal(lstatSync(path).mode & 0o7777, 0o644);
  assert.deepEqual(readdirSync(scene.bench.path('grave')), ['web']);
  const drift = Date.now() - Number(BigInt(wall) / 1_000_000n);
  assert.ok(drift >= -2 && drift < 60_000, `the wall clock of the word is ${drift} ms old`);
  await waitFor('both hear it', () => peers.every((peer) => /^dead [0-9a-f]{32} 1\n$/.test(peer.heard())));
  assert.equal(supervisor.pending, 0, 'it stands for `exited` and `group-gone`');
});

eachBuild('F02 init leaves an end that was not prepared to the supervisor', async (t, build) => {
  for (const [why, ends, code] of [
    ['another code', [['', 0, 6, 1, STAYS, TEXT, '', '']], 7],
    ['a signal', [ALL], -9],
    ['a text that is too long', [['', 0, 255, 1, STAYS, `${'x'.repeat(8_191)}${PLACES.code}`, '', '']], 7],
    ['nothing', [], 7],
  ] as const) {
    const scene = await lay(t, build);
    await apply(
      scene,
      ...(ends.length === 0 ? ['prepared-ends', 1, SIGTERM, PATIENCE_MS, 0] : preparedEnds(scene, ...ends)),
    );
    scene.init.write(code < 0 ? 'kill -9 $$\n' : `exit ${code}\n`);
    assert.equal((await scene.supervisor.expect('exited'))[0], '1', why);
    await scene.supervisor.expect('roots-gone');
    assert.equal(readFileSync(scene.path, 'utf8'), 'old', why);
  }
});

eachBuild('F02 init leaves an end with leftover processes to the supervisor', async (t, build) => {
  const group = await lay(t, build);
  await apply(group, ...preparedEnds(group, ALL));
  group.init.write('sleep 1000 & exit 0\n');
  await group.supervisor.expect('exited');
  group.supervisor.commit('kill', 1, SIGKILL);
  await group.supervisor.expect('roots-gone');
  const daemon = await lay(t, build);
  await apply(daemon, ...preparedEnds(daemon, ALL));
  daemon.init.write('(setsid sleep 1000 &) ; exit 0\n');
  await daemon.supervisor.expect('exited');
  daemon.supervisor.commit('kill', 1, SIGKILL);
  await daemon.supervisor.expect('roots-gone');
  for (const { path } of [group, daemon]) assert.equal(readFileSync(path, 'utf8'), 'old');
});

eachBuild('F03 a reflex does not hold while an event is not acknowledged', async (t, build) => {
  const scene = await lay(t, build);
  const main = await speaker(scene, 'main');
  await apply(scene, ...endWith(1, 0, 0, 0, SIGUSR1, 2, main.id, main.path), ...preparedEnds(scene, ALL));
  send(scene.init.pid, 'SIGWINCH');
  await scene.supervisor.expect('signal');
  await main.say(`dead ${main.id} 1\n`);
  await apply(scene);
  scene.init.write('exit 0\n');
  await scene.supervisor.skip('exited', 'roots-gone');
  assert.equal(readFileSync(scene.path, 'utf8'), 'old');
});

eachBuild('F03 a reflex ends with the commit that takes it back, and when the supervisor is due', async (t, build) => {
  const scene = await lay(t, build);
  await apply(scene, ...preparedEnds(scene, ALL));
  await apply(scene, 'prepared-ends', 1, SIGTERM, PATIENCE_MS, 0);
  scene.init.write('exit 0\n');
  await scene.supervisor.expect('exited');
  const due = await lay(t, build);
  await apply(due, ...preparedEnds(due, ALL), 'due', 1);
  due.init.write('exit 0\n');
  await due.supervisor.expect('exited');
  const died = await lay(t, build);
  await apply(died, ...preparedEnds(died, ALL), 'due', 1);
  await died.supervisor.kill();
  const next = await died.init.supervisor();
  died.init.write('exit 0\n');
  await next.expect('exited');
  for (const { path } of [scene, due, died]) assert.equal(readFileSync(path, 'utf8'), 'old');
});

eachBuild('F04 init leaves a tombstone that it cannot replace to the supervisor, and cleans up', async (t, build) => {
  const spoil: Record<string, (scene: Scene) => void> = {
    'the directory is gone': ({ bench }) => rmSync(bench.path('grave'), { recursive: true }),
    'a link is in its place': ({ bench }) => {
      rmSync(bench.path('grave'), { recursive: true });
      mkdirSync(bench.path('elsewhere'));
      symlinkSync(bench.path('elsewhere'), bench.path('grave'));
    },
    'a directory has the name': ({ path }) => {
      rmSync(path);
      mkdirSync(path);
    },
  };
  for (const [why, does] of Object.entries(spoil)) {
    const scene = await lay(t, build);
    const peer = await hearer(scene.bench.path('live'));
    await apply(scene, ...preparedEnds(scene, ALL));
    does(scene);
    scene.init.write('exit 0\n');
    assert.equal((await scene.supervisor.expect('exited'))[0], '1', why);
    await scene.supervisor.expect('roots-gone');
    const files = existsSync(scene.bench.path('grave')) ? readdirSync(scene.bench.path('grave')) : [];
    assert.ok(
      files.every((file) => file === 'web' && !lstatSync(scene.path).isFile()),
      `${why}: ${files}`,
    );
    await waitFor(`it is told all the same: ${why}`, () => /^dead [0-9a-f]{32} 1\n$/.test(peer.heard()));
  }
});

eachBuild('F05 init exits after a prepared end when no supervisor runs and nothing else is owed', async (t, build) => {
  for (const [code, status] of [
    [256, 7],
    [3, 3],
  ] as const) {
    const scene = await lay(t, build);
    await apply(scene, ...preparedEnds(scene, ['', 0, 255, 1, code, TEXT, '', '']));
    await loseSupervisor(scene);
    scene.init.write('exit 7\n');
    assert.deepEqual(await scene.init.ended, { code: status, signal: null });
    assert.match(readFileSync(scene.path, 'utf8'), /"ExitCode": 7/);
  }
});

function telling({ path, bench }: Scene, isNamed: 0 | 1): (string | number)[] {
  const end = ['', 0, 255, 1, 256, TEXT, LOG, EVIDENCE];
  return ['prepared-ends', 1, SIGTERM, PATIENCE_MS, 11, path, bench.path('evidence'), isNamed, ...end];
}

eachBuild('F05 init writes log and evidence before it exits', async (t, build) => {
  for (const [why, isNamed, isThere] of [
    ['a file that is mounted', 0, true],
    ['a file that was named', 1, false],
    ['no file', 0, false],
  ] as const) {
    const scene = await lay(t, build);
    if (isThere) writeFileSync(scene.bench.path('evidence'), '');
    await apply(scene, ...telling(scene, isNamed));
    await loseSupervisor(scene);
    scene.init.write('exit 7\n');
    assert.deepEqual(await scene.init.ended, { code: 7, signal: null }, why);
    const { Died } = JSON.parse(readFileSync(scene.path, 'utf8')) as { Died: string };
    const moment = `${Died.slice(0, 23)}Z`;
    assert.ok(scene.init.stderr().endsWith(`${moment} ended with 7\n${moment.slice(11)} dead\n`), scene.init.stderr());
    const left = existsSync(scene.bench.path('evidence')) ? readFileSync(scene.bench.path('evidence'), 'utf8') : '';
    assert.equal(left, isThere || isNamed ? `{"Summary":"ended with 7 at ${Died}"}\n` : '', why);
  }
});

eachBuild('F05 init leaves evidence that another has written to the supervisor', async (t, build) => {
  for (const spoil of [
    (path: string) => writeFileSync(path, 'a word of the application'),
    (path: string) => mkdirSync(path),
  ]) {
    const scene = await lay(t, build);
    spoil(scene.bench.path('evidence'));
    await apply(scene, ...telling(scene, 1));
    await fallAsleep(scene);
    scene.init.write('exit 7\n');
    const next = await scene.init.supervisor();
    await next.expect('end-written');
    assert.doesNotMatch(scene.init.stderr(), /ended with/);
    next.commit('exit', 3);
    assert.deepEqual(await scene.init.ended, { code: 3, signal: null });
  }
});

eachBuild(
  'F06 init signals a sidecar when all of its mains have said that they are gone for good',
  async (t, build) => {
    const scene = await lay(t, build, TELLER);
    const [a, b] = [await speaker(scene, 'a'), await speaker(scene, 'b')];
    await apply(scene, ...endWith(2, 0, 0, 0, SIGUSR1, 4, a.id, a.path, b.id, b.path));
    await a.say(`dead ${a.id} 1\n`);
    await apply(scene);
    assert.doesNotMatch(scene.init.stdout(), /told/);
    await b.say(`dead ${b.id} 1\n`);
    const [name, seq = '', , ...rest] = await scene.supervisor.next();
    assert.deepEqual([name, ...rest.slice(0, 4)], ['ordered', '1', 'mains', '0', String(SIGUSR1)]);
    assert.match(rest[6] ?? '', /^\d{19}$/);
    await scene.init.says('told\n');
    // An order of the supervisor does not send it again.
    const times = (): number => scene.init.stdout().split('told\n').length - 1;
    scene.supervisor.commit('stop', 1, SIGUSR1, 0, 0);
    await apply(scene, 'ack', seq, 'stop', 1, SIGUSR1, 0, 0);
    assert.equal(times(), 1);
    scene.supervisor.commit('kill', 1, SIGKILL);
    await scene.supervisor.skip('exited', 'roots-gone');
  },
);

eachBuild('F06 init counts no notice of another host, for a while, cut short, or in other words', async (t, build) => {
  const scene = await lay(t, build);
  for (const word of ['dead ID 0\n', `dead ${'0'.repeat(32)} 1\n`, 'dead', `${'talk '.repeat(100)}`]) {
    const main = await speaker(scene, 'main');
    await apply(scene, ...endWith(1, 0, 0, 0, SIGTERM, 2, main.id, main.path));
    await main.say(word.replace('ID', main.id));
    await apply(scene);
  }
  const gone = await speaker(scene, 'gone');
  await apply(scene, ...endWith(1, 0, 0, 0, SIGTERM, 2, gone.id, gone.path));
  await gone.hangUp();
  await apply(scene, ...endWith(1, 0, 0, 0, SIGTERM, 2, gone.id, scene.bench.path('nobody')));
  await hasPassed(scene.bench, scene.supervisor, scene.supervisor.sent);
  scene.init.write('echo lives\n');
  await scene.init.says('lives');
  assert.equal(scene.supervisor.pending, 0);
});

eachBuild('F06 a stop request is for the supervisor if that is awake, whatever a main has said', async (t, build) => {
  const scene = await lay(t, build, TELLER);
  const main = await speaker(scene, 'main');
  await apply(scene, ...orders({ stops: [SIGTERM], unheard: [600_000, 0] }));
  const ends = preparedEnds(scene, ['st', 0, 255, 1, 256, TEXT, '', '']);
  await apply(scene, ...endWith(0, 0, 1, 0, SIGUSR1, 2, main.id, main.path), ...ends);
  await main.say(`dead ${main.id} 2\n`);
  await apply(scene);
  await sendFromOutside(scene.init.pid, SIGTERM);
  assert.equal((await scene.supervisor.next())[0], 'signal');
  await hasPassed(scene.bench, scene.supervisor, scene.supervisor.sent);
  assert.equal(scene.supervisor.pending, 0);
  assert.doesNotMatch(scene.init.stdout(), /told/);
  scene.supervisor.commit('kill', 1, SIGKILL);
  await scene.supervisor.skip('exited', 'roots-gone');
});

/** The moments are that of the stop signal and that of the end. */
const STOPPED = `{"Sent": "${'\u00010'}", "Died": "${'\u00011'}", "Ms": ${'\u0002n100\u0002'}, "Left": "${'\u0002s0130000\u0002'}"}`;

interface Asleep {
  readonly scene: Scene;
  readonly main: Speaker;
  readonly peer: Hearer;
}

/** A sidecar whose supervisor sleeps, and whose end is prepared after the stop signal that its main causes. */
async function asleep(t: TestContext, build: Build, patienceMs: number, words?: readonly string[]): Promise<Asleep> {
  const scene = await lay(t, build, words);
  const main = await speaker(scene, 'main');
  const peer = await hearer(scene.bench.path('live'));
  const signal = 256 + SIGUSR1;
  const ends = ['t', 0, 0, 1, 256, STOPPED, '', '', 't', signal, signal, 1, 5, STOPPED, '', ''];
  await apply(scene, ...endWith(1, 0, 0, 0, SIGUSR1, 2, main.id, main.path));
  await apply(scene, 'prepared-ends', 1, SIGTERM, patienceMs, 3 + ends.length, scene.path, '', 0, ...ends);
  await apply(scene, 'watch', 1, 0, scene.bench.path('grave'), 'web');
  await fallAsleep(scene);
  return { scene, main, peer };
}

eachBuild('F07 a prepared stop needs no supervisor from the notice of the main to the end', async (t, build) => {
  const { scene, main, peer } = await asleep(t, build, PATIENCE_MS);
  await main.say(`dead ${main.id} 1\n`);
  assert.deepEqual(await scene.init.ended, { code: 5, signal: null }, 'by the signal that it was sent');
  const { Sent, Died, Ms, Left } = JSON.parse(readFileSync(scene.path, 'utf8'));
  assert.ok(Date.parse(Died) >= Date.parse(Sent) - 1 && Ms >= 0);
  assert.match(Left, /^(30|29|2[0-8]) s$/);
  await waitFor('its peers hear it', () => /^dead [0-9a-f]{32} 1\n$/.test(peer.heard()));
});

eachBuild(
  'F07 a main that ended before the stop request may come back, also if both come at once',
  async (t, build) => {
    const why = whyNoCgroup('freezer');
    if (why !== undefined) return t.skip(why);
    const scene = await lay(t, build, TELLER);
    const main = await speaker(scene, 'main');
    await apply(scene, ...orders({ stops: [SIGTERM], unheard: [600_000, 0] }));
    const ends = preparedEnds(scene, ['st', 0, 255, 1, 256, TEXT, '', '']);
    await apply(scene, ...endWith(0, 0, 1, 0, SIGUSR1, 2, main.id, main.path), ...ends);
    await apply(scene, 'watch', 1, 0, scene.bench.path('grave'), 'web');
    await fallAsleep(scene);
    const freezer = makeCgroup(await tempGraveyard(t), 'freezer');
    assert.ok(freezer.enter(scene.init.pid));
    await freezer.freeze();
    scene.bench.noteSupervisors();
    await main.say(`dead ${main.id} 0\n`);
    await sendFromOutside(scene.init.pid, SIGTERM);
    freezer.thaw();
    const isTold = (): boolean => scene.init.stdout().includes('told');
    await waitFor('init acts', () => existsSync(scene.bench.path('node-started')) || isTold());
    assert.ok(!isTold(), 'a supervisor decides');
    const next = await scene.init.supervisor();
    await next.expect('signal');
    next.commit('kill', 1, SIGKILL);
    await next.expect('exited');
  },
);

eachBuild('F07 a request for the member wakes a supervisor in a prepared stop', async (t, build) => {
  const { scene, main } = await asleep(t, build, PATIENCE_MS, TELLER);
  await main.say(`dead ${main.id} 1\n`);
  // By then the connection that init watches has changed, too, which alone wakes no supervisor.
  await scene.init.says('told');
  writeFileSync(scene.bench.path('grave/.web.request'), '');
  const next = await scene.init.supervisor();
  await next.expect('ordered');
  next.commit('kill', 1, SIGKILL);
  await next.expect('exited');
});

eachBuild('F07 init wakes a supervisor when a prepared stop takes long or changes', async (t, build) => {
  const late = await asleep(t, build, 1, TELLER);
  await late.main.say(`dead ${late.main.id} 1\n`);
  const next = await late.scene.init.supervisor();
  await next.expect('ordered');
  next.commit('kill', 1, SIGKILL);
  await next.expect('exited');
  const other = await asleep(t, build, PATIENCE_MS);
  other.scene.init.write('exit 3\n');
  await (await other.scene.init.supervisor()).expect('exited');
  assert.equal(readFileSync(other.scene.path, 'utf8'), 'old');
});

eachBuild(
  'F08 a sidecar that ignores the end of its mains gets KILL after its declared grace period',
  async (t, build) => {
    const scene = await lay(t, build, TELLER);
    const main = await speaker(scene, 'main');
    // With a grace period of 500 ms.
    await apply(scene, ...orders({ stops: [], unheard: [60_000, SIGTERM], grace: 500, mainsGrace: 1_500 }));
    await apply(scene, ...endWith(1, 0, 0, 0, SIGUSR1, 2, main.id, main.path));
    await main.say(`dead ${main.id} 1\n`);
    await scene.supervisor.expect('ordered');
    assert.equal((await scene.supervisor.expect('ordered'))[1], 'mains-grace');
    await scene.supervisor.expect('exited');
  },
);

interface Hearer {
  heard(): string;
}

/** Connects once it listens: the socket is there a moment before. */
async function hearer(path: string): Promise<Hearer> {
  let heard = '';
  const socket = await connected(path);
  socket.on('data', (bytes) => {
    heard += bytes;
  });
  return { heard: () => heard };
}

interface Speaker {
  readonly id: string;
  readonly path: string;
  /** Resolves once init can read it. */
  say(word: string): Promise<void>;
  hangUp(): Promise<void>;
}

/** A main's init in the hands of the test. */
async function speaker({ bench }: Scene, name: string): Promise<Speaker> {
  const path = bench.path(`${name}.sock`);
  rmSync(path, { force: true });
  const sockets: Socket[] = [];
  const server: Server = createServer((socket) => sockets.push(socket.on('error', () => {}).resume()));
  server.unref();
  await new Promise<void>((resolve) => server.listen(path, resolve));
  const connection = (): Promise<Socket> => waitFor('init is connected', () => sockets[0]);
  return {
    id: 'abcdef0123456789'.repeat(2),
    path,
    say: async (word) => {
      const socket = await connection();
      await new Promise<void>((resolve) => socket.write(word, () => resolve()));
    },
    hangUp: async () => void (await connection()).destroy(),
  };
}
