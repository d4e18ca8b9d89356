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
import type { EndRow } from '../../src/core/end-rows.ts';
import type { MainsRow } from '../../src/core/mains-row.ts';
import { rfc3339Milliseconds } from '../../src/core/time.ts';
import { type Closing, closedEvidence, closedTombstone } from '../core/closing.ts';
import { makeCgroup, whyNoCgroup } from '../helpers/cgroup.ts';
import { send } from '../helpers/process.ts';
import { sendFromOutside } from '../helpers/program.ts';
import { tempGraveyard } from '../helpers/scratch.ts';
import { waitFor } from '../helpers/wait.ts';
import type { Build } from './builds.ts';
import type { Supervisor } from './connection.ts';
import { type OrderRows, orders } from './orders.ts';
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
const OPEN = '{\n  "Name": "Zürich"';
/** Longer than any of these tests. */
const PATIENCE_MS = 600_000;
/** Prints a line for each USR1. */
const TELLER = ['sh', '-c', "trap 'echo told' USR1; echo up; while :; do sleep 60 & wait $!; done"];

const ALL: EndRow = {
  when: 'end',
  prelude: '',
  patienceMs: PATIENCE_MS,
  from: 0,
  to: 255,
  final: true,
  code: undefined,
  signal: '',
  reason: 'completed',
  stopReason: '',
};
const OPEN_EVIDENCE = '"Version":1,"Name":"Zürich"';
const LOG = { log: ' info  web: dead', errorLog: ' error web: dead' };

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

interface Left {
  readonly evidence?: string;
  readonly isMade?: boolean;
  readonly log?: string;
  readonly errorLog?: string;
  readonly open?: string;
}

/** The open texts, as a supervisor leaves them behind. */
function texts({ path }: Scene, left: Left = {}): readonly (string | number)[] {
  const { evidence = '', isMade = false, log = '', errorLog = '', open = OPEN } = left;
  return ['texts', 7, path, evidence, isMade ? 1 : 0, open, OPEN_EVIDENCE, log, errorLog];
}

/** The texts, and orders with these rows. */
function closing(scene: Scene, ends: readonly EndRow[], left: Left = {}, rows: OrderRows = {}): (string | number)[] {
  return [...texts(scene, left), ...orders({ ...CALM, ...rows, ends })];
}

/** Stop requests wait for longer than these tests. */
const CALM: OrderRows = { stops: [SIGTERM], unheard: [PATIENCE_MS, 0] };

function rowOf(change: Partial<MainsRow>, ...mains: readonly Speaker[]): MainsRow {
  const named = mains.map(({ id, path }) => ({ hostId: id, path }));
  const row = { when: 'mains', needed: mains.length, countsLost: false, holds: false, lingerMs: 0 } as const;
  return { ...row, signal: SIGUSR1, mains: named, ...change };
}

/** New connections to the mains of the row, in place of those before. */
function contacts({ mains }: MainsRow): (string | number)[] {
  return ['connections', 0, 'connections', mains.length, ...mains.map(({ path }) => path)];
}

eachBuild('F01 init announces an end by a row to its peers, writes the tombstone, and reports it', async (t, build) => {
  const scene = await lay(t, build);
  const { supervisor, init, path } = scene;
  const peers = [await hearer(scene.bench.path('live')), await hearer(scene.bench.path('live'))];
  const seven: EndRow = { ...ALL, from: 7, to: 7, reason: 'error' };
  await apply(scene, ...closing(scene, [{ ...ALL, to: 6, final: false }, seven]));
  init.write('exit 7\n');
  const [name, , atMs, id, , code, wall = ''] = await supervisor.next();
  assert.deepEqual([name, id, code], ['end-written', '1', '7']);
  const moments = [{ mono: Number(atMs), wall }];
  const written = { end: seven, exit: { code: 7, signal: undefined }, moments, graceMs: undefined };
  assert.equal(readFileSync(path, 'utf8'), closedTombstone(OPEN, written));
  assert.equal(lstatSync(path).mode & 0o7777, 0o644);
  assert.deepEqual(readdirSync(scene.bench.path('grave')), ['web']);
  const drift = Date.now() - Number(BigInt(wall) / 1_000_000n);
  assert.ok(drift >= -2 && drift < 60_000, `the wall clock of the word is ${drift} ms old`);
  await waitFor('both hear it', () => peers.every((peer) => /^dead [0-9a-f]{32} 1\n$/.test(peer.heard())));
  assert.equal(supervisor.pending, 0, 'it stands for `exited` and `group-gone`');
});

eachBuild('F02 init leaves an end without a row to the supervisor', async (t, build) => {
  for (const [why, rows, code, open] of [
    ['another code', [{ ...ALL, to: 6 }], 7, OPEN],
    ['a signal', [ALL], -9, OPEN],
    ['a text that is too long', [ALL], 7, `${OPEN},"x":"${'x'.repeat(7_680)}"`],
    ['nothing', [], 7, OPEN],
  ] as const) {
    const scene = await lay(t, build);
    await apply(scene, ...closing(scene, rows, { open }));
    scene.init.write(code < 0 ? 'kill -9 $$\n' : `exit ${code}\n`);
    assert.equal((await scene.supervisor.expect('exited'))[0], '1', why);
    await scene.supervisor.expect('roots-gone');
    assert.equal(readFileSync(scene.path, 'utf8'), 'old', why);
  }
});

eachBuild('F02 init leaves an end with leftover processes to the supervisor', async (t, build) => {
  const group = await lay(t, build);
  await apply(group, ...closing(group, [ALL]));
  group.init.write('sleep 1000 & exit 0\n');
  await group.supervisor.expect('exited');
  group.supervisor.commit('kill', 1, SIGKILL);
  await group.supervisor.expect('roots-gone');
  const daemon = await lay(t, build);
  await apply(daemon, ...closing(daemon, [ALL]));
  daemon.init.write('(setsid sleep 1000 &) ; exit 0\n');
  await daemon.supervisor.expect('exited');
  daemon.supervisor.commit('kill', 1, SIGKILL);
  await daemon.supervisor.expect('roots-gone');
  for (const { path } of [group, daemon]) assert.equal(readFileSync(path, 'utf8'), 'old');
});

eachBuild('F03 the rows of mains and ends do not hold while an event is not acknowledged', async (t, build) => {
  const scene = await lay(t, build);
  const main = await speaker(scene, 'main');
  const mains = rowOf({}, main);
  await apply(scene, ...contacts(mains), ...closing(scene, [ALL], {}, { mains }));
  send(scene.init.pid, 'SIGWINCH');
  await scene.supervisor.expect('signal');
  await main.say(`dead ${main.id} 1\n`);
  await apply(scene);
  scene.init.write('exit 0\n');
  await scene.supervisor.skip('exited', 'roots-gone');
  assert.equal(readFileSync(scene.path, 'utf8'), 'old');
});

eachBuild('F03 a row ends with the orders that replace it, and when the supervisor is due', async (t, build) => {
  const scene = await lay(t, build);
  await apply(scene, ...closing(scene, [ALL]));
  await apply(scene, ...orders(CALM));
  scene.init.write('exit 0\n');
  await scene.supervisor.expect('exited');
  const due = await lay(t, build);
  await apply(due, ...closing(due, [ALL]), 'due', 1);
  due.init.write('exit 0\n');
  await due.supervisor.expect('exited');
  const died = await lay(t, build);
  await apply(died, ...closing(died, [ALL]), 'due', 1);
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
    await apply(scene, ...closing(scene, [ALL]));
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

eachBuild('F05 init exits after an end by a row when no supervisor runs and nothing else is owed', async (t, build) => {
  for (const [code, status] of [
    ['same', 7],
    [3, 3],
  ] as const) {
    const scene = await lay(t, build);
    await apply(scene, ...closing(scene, [{ ...ALL, code }]));
    await loseSupervisor(scene);
    scene.init.write('exit 7\n');
    assert.deepEqual(await scene.init.ended, { code: status, signal: null });
    assert.match(readFileSync(scene.path, 'utf8'), /"ExitCode": 7/);
  }
});

function telling(scene: Scene, isMade: boolean, row: EndRow = { ...ALL, code: 'same' }): (string | number)[] {
  return closing(scene, [row], { evidence: scene.bench.path('evidence'), isMade, ...LOG });
}

/** The end that init has recorded, by its tombstone. */
function closingOf({ path }: Scene, end: EndRow, exit: Closing['exit']): Closing {
  const { Died, DiedMonotonic: mono } = JSON.parse(readFileSync(path, 'utf8'));
  const wall = `${Math.floor(Date.parse(Died) / 1_000)}${Died.slice(20, 29)}`;
  return { end, exit, moments: [{ mono, wall }], graceMs: undefined };
}

eachBuild('F05 init tells its peers of an end that the supervisor has recorded', async (t, build) => {
  const scene = await lay(t, build);
  const peer = await hearer(scene.bench.path('live'));
  scene.init.write('exit 3\n');
  await scene.supervisor.skip('exited', 'roots-gone');
  assert.equal(peer.heard(), '', 'it may get another life');
  scene.supervisor.commit('exit', 3);
  assert.deepEqual(await scene.init.ended, { code: 3, signal: null });
  await waitFor('it hears it', () => /^dead [0-9a-f]{32} 0\n$/.test(peer.heard()));
});

eachBuild('F05 init writes log and evidence before it exits', async (t, build) => {
  for (const [why, isMade, isThere] of [
    ['a file that is mounted', false, true],
    ['a file that was named', true, false],
    ['no file', false, false],
  ] as const) {
    const scene = await lay(t, build);
    if (isThere) writeFileSync(scene.bench.path('evidence'), '');
    await apply(scene, ...telling(scene, isMade));
    await loseSupervisor(scene);
    scene.init.write('exit 7\n');
    assert.deepEqual(await scene.init.ended, { code: 7, signal: null }, why);
    const written = closingOf(scene, { ...ALL, code: 'same' }, { code: 7, signal: undefined });
    const summary = 'ended by itself, exit code 7';
    const moment = rfc3339Milliseconds(written.moments[0]?.wall ?? '').slice(11);
    const line = `${moment} info  web: dead reason=completed exitCode=7 containerExitCode=7 summary=${summary}\n`;
    assert.ok(scene.init.stderr().endsWith(line), scene.init.stderr());
    const left = existsSync(scene.bench.path('evidence')) ? readFileSync(scene.bench.path('evidence'), 'utf8') : '';
    assert.equal(left, isThere || isMade ? closedEvidence(OPEN_EVIDENCE, written) : '', why);
  }
});

eachBuild('F05 init leaves no evidence of a crash, and logs it as an error', async (t, build) => {
  const scene = await lay(t, build);
  const crash: EndRow = { ...ALL, code: 'same', reason: 'error' };
  const open = { log: '', errorLog: '{"level":"error","member":"web","message":"dead"' };
  await apply(scene, ...closing(scene, [crash], { evidence: scene.bench.path('evidence'), isMade: true, ...open }));
  await loseSupervisor(scene);
  scene.init.write('exit 7\n');
  assert.deepEqual(await scene.init.ended, { code: 7, signal: null });
  assert.equal(readFileSync(scene.bench.path('evidence'), 'utf8'), '');
  const { evidence, time, ...line } = JSON.parse(scene.init.stderr().trimEnd().split('\n').at(-1) ?? '');
  const written = closingOf(scene, crash, { code: 7, signal: undefined });
  assert.deepEqual(evidence, JSON.parse(closedEvidence(OPEN_EVIDENCE, written)));
  assert.equal(time, rfc3339Milliseconds(written.moments[0]?.wall ?? ''));
  const end = { reason: 'error', exitCode: 7, containerExitCode: 7, summary: 'ended by itself, exit code 7' };
  assert.deepEqual(line, { level: 'error', member: 'web', message: 'dead', ...end });
});

eachBuild('F05 init keeps what the application has written beside the evidence', async (t, build) => {
  const ours = '{"Summary":"of an earlier stop"}\n';
  for (const [there, kept] of [
    ['a word of the application', 'a word of the application'],
    [`${ours}a word of the application`, 'a word of the application'],
    [ours, undefined],
    [ours.slice(0, -1), undefined],
  ] as const) {
    const scene = await lay(t, build);
    writeFileSync(scene.bench.path('evidence'), there);
    await apply(scene, ...telling(scene, true));
    await loseSupervisor(scene);
    scene.init.write('exit 7\n');
    assert.deepEqual(await scene.init.ended, { code: 7, signal: null });
    const written = closingOf(scene, { ...ALL, code: 'same' }, { code: 7, signal: undefined });
    const left = readFileSync(scene.bench.path('evidence'), 'utf8');
    assert.equal(left, kept ?? closedEvidence(OPEN_EVIDENCE, written), there);
  }
});

eachBuild('F05 init leaves evidence that it cannot write to the supervisor', async (t, build) => {
  const scene = await lay(t, build);
  mkdirSync(scene.bench.path('evidence'));
  await apply(scene, ...telling(scene, true));
  await fallAsleep(scene);
  scene.init.write('exit 7\n');
  const next = await scene.init.supervisor();
  await next.expect('end-written');
  assert.doesNotMatch(scene.init.stderr(), /dead/);
  next.commit('exit', 3);
  assert.deepEqual(await scene.init.ended, { code: 3, signal: null });
});

eachBuild(
  'F06 init signals a sidecar when all of its mains have said that they are gone for good',
  async (t, build) => {
    const scene = await lay(t, build, TELLER);
    const [a, b] = [await speaker(scene, 'a'), await speaker(scene, 'b')];
    const mains = rowOf({}, a, b);
    await apply(scene, ...contacts(mains), ...orders({ ...CALM, mains }));
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
    const mains = rowOf({ signal: SIGTERM }, main);
    await apply(scene, ...contacts(mains), ...orders({ ...CALM, mains }));
    await main.say(word.replace('ID', main.id));
    await apply(scene);
  }
  const gone = await speaker(scene, 'gone');
  const mains = rowOf({ signal: SIGTERM }, gone);
  await apply(scene, ...contacts(mains), ...orders({ ...CALM, mains }));
  await gone.hangUp();
  const nobody = rowOf({ signal: SIGTERM }, { ...gone, path: scene.bench.path('nobody') });
  await apply(scene, ...contacts(nobody), ...orders({ ...CALM, mains: nobody }));
  await hasPassed(scene.bench, scene.supervisor, scene.supervisor.sent);
  scene.init.write('echo lives\n');
  await scene.init.says('lives');
  assert.equal(scene.supervisor.pending, 0);
});

eachBuild('F06 a stop request is for the supervisor if that is awake, whatever a main has said', async (t, build) => {
  const scene = await lay(t, build, TELLER);
  const main = await speaker(scene, 'main');
  const mains = rowOf({ needed: 0, holds: true }, main);
  await apply(scene, ...contacts(mains), ...closing(scene, [HELD], {}, { mains }));
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

/** The end of a command whose stop request was held for its mains. */
const HELD: EndRow = { ...ALL, prelude: 'st', code: 'same', reason: 'stopped', stopReason: 'signal TERM' };

interface Asleep {
  readonly scene: Scene;
  readonly main: Speaker;
  readonly peer: Hearer;
}

/** A sidecar whose supervisor sleeps, with rows for its end after the stop signal that its main causes. */
async function asleep(t: TestContext, build: Build, patienceMs: number, words?: readonly string[]): Promise<Asleep> {
  const scene = await lay(t, build, words);
  const main = await speaker(scene, 'main');
  const peer = await hearer(scene.bench.path('live'));
  const bySignal = { from: 256 + SIGUSR1, to: 256 + SIGUSR1, code: 5, signal: 'SIGUSR1' };
  const ended: EndRow = {
    ...ALL,
    prelude: 't',
    patienceMs,
    to: 0,
    code: 'same',
    reason: 'stopped',
    stopReason: 'mains finished',
  };
  const mains = rowOf({}, main);
  await apply(scene, ...contacts(mains), ...closing(scene, [ended, { ...ended, ...bySignal }], {}, { mains }));
  await apply(scene, 'watch', 1, 0, scene.bench.path('grave'), 'web');
  await fallAsleep(scene);
  return { scene, main, peer };
}

eachBuild('F07 a stop by rows needs no supervisor from the notice of the main to the end', async (t, build) => {
  const { scene, main, peer } = await asleep(t, build, PATIENCE_MS);
  await main.say(`dead ${main.id} 1\n`);
  assert.deepEqual(await scene.init.ended, { code: 5, signal: null }, 'by the signal that it was sent');
  const { StopRequested, Died, Deadline, ...closed } = JSON.parse(readFileSync(scene.path, 'utf8'));
  assert.ok(Date.parse(Died) >= Date.parse(StopRequested) - 1);
  assert.equal(Deadline, undefined, 'a stop by the mains has none');
  assert.deepEqual([closed.StopReason, closed.Reason, closed.Signal], ['mains finished', 'stopped', 'SIGUSR1']);
  await waitFor('its peers hear it', () => /^dead [0-9a-f]{32} 1\n$/.test(peer.heard()));
});

eachBuild(
  'F07 a main that ended before the stop request may come back, also if both come at once',
  async (t, build) => {
    const why = whyNoCgroup('freezer');
    if (why !== undefined) return t.skip(why);
    const scene = await lay(t, build, TELLER);
    const main = await speaker(scene, 'main');
    const mains = rowOf({ needed: 0, holds: true }, main);
    await apply(scene, ...contacts(mains), ...closing(scene, [HELD], {}, { mains }));
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

eachBuild('F07 a stop by rows covers what the command leaves behind', async (t, build) => {
  const words = [
    'sh',
    '-c',
    'trap \'trap "" USR1; sleep 0.3 & exit 0\' USR1; echo up; while :; do sleep 60 & wait $!; done',
  ];
  const { scene, main } = await asleep(t, build, PATIENCE_MS, words);
  await scene.init.says('up');
  scene.bench.noteSupervisors();
  await main.say(`dead ${main.id} 1\n`);
  assert.deepEqual(await scene.init.ended, { code: 0, signal: null });
  assert.ok(!existsSync(scene.bench.path('node-started')), 'no supervisor');
  const { StopRequested, Died } = JSON.parse(readFileSync(scene.path, 'utf8'));
  assert.ok(Date.parse(Died) - Date.parse(StopRequested) >= 300, 'until all of it has ended');
});

eachBuild('F07 a request for the member wakes a supervisor in a stop by rows', async (t, build) => {
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

eachBuild('F07 init wakes a supervisor when a stop by rows takes long or changes', async (t, build) => {
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
    const mains = rowOf({}, main);
    const rows = { stops: [], unheard: [60_000, SIGTERM], grace: 500, mainsGrace: 1_500, mains } as const;
    await apply(scene, ...contacts(mains), ...orders(rows));
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
