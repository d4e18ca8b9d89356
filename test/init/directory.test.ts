/** The directory that init watches: what it reports of it, by which means, and that no signal is lost beside it. */
import assert from 'node:assert/strict';
import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { send } from '../helpers/process.ts';
import { BUILDS, type Build, built } from './builds.ts';
import type { Supervisor } from './connection.ts';
import { begin, eachBuild, type Init, layBench } from './scripted.ts';

interface Stage {
  readonly init: Init;
  readonly supervisor: Supervisor;
  readonly dir: string;
}

/** The tombstones of `web`, which is its own, `main` and `quiet` are there, and `spare` is half written. */
async function watching(t: TestContext, build: Build): Promise<Stage> {
  const bench = await layBench(t, build);
  const { init, supervisor } = await begin(bench);
  const dir = bench.path('shared');
  mkdirSync(dir);
  for (const name of ['web', 'main', 'quiet', 'spare.tmp']) writeFileSync(join(dir, name), 'a tombstone');
  supervisor.commit('ack', 1, 'watch', 1, 1, dir, 'web', 'quiet');
  assert.deepEqual(await supervisor.news(), ['watching', '1', '']);
  return { init, supervisor, dir };
}

const DEAF: Build = {
  name: 'without dnotify',
  path: built('without-dnotify', {
    hangMs: 300_000,
    instead: ['-Dfcntl=deaf_fcntl', join(import.meta.dirname, 'without-dnotify.c')],
  }),
};

function tellsWhatChanges(title: string, instances: number, builds?: readonly Build[]): void {
  eachBuild(
    title,
    async (t, build) => {
      const { init, supervisor, dir } = await watching(t, build);
      const tells = async (what: string, change: () => void, ...names: readonly string[]): Promise<void> => {
        change();
        assert.deepEqual(await supervisor.news(), ['changed', ...names], what);
      };
      assert.equal(inotifyInstancesOf(init.pid), instances);
      await tells('a new file', () => writeFileSync(join(dir, 'other'), ''), 'other');
      await tells('its content', () => appendFileSync(join(dir, 'other'), 'more'), 'other');
      await tells('one put in its place', () => renameSync(join(dir, 'spare.tmp'), join(dir, 'main')), 'main');
      await tells('a quiet one', () => appendFileSync(join(dir, 'quiet'), 'news'), 'quiet');
      await tells('a handle', () => writeFileSync(join(dir, '.new.sock'), ''), '.new.sock');
      await tells('a request', () => writeFileSync(join(dir, '.web.1.stop'), ''), '.web.1.stop');
      for (const file of ['.main.1.stop', 'Not_a_member', 'a.tmp']) writeFileSync(join(dir, file), 'news');
      await tells('that one is gone, by no name', () => rmSync(join(dir, 'other')));
    },
    builds,
  );
}

tellsWhatChanges('P15 init reports changes to a supervisor that runs, and uses no inotify instance', 0);
tellsWhatChanges('P15 init reports changes by inotify where the kernel has no dnotify', 1, [DEAF]);

eachBuild('P15 init reports why it cannot watch a directory', async (t, build) => {
  const { supervisor, dir } = await watching(t, build);
  supervisor.commit('watch', 2, 0, join(dir, 'nowhere'), 'web');
  assert.deepEqual(await supervisor.news(), ['watching', '2', 'ENOENT']);
  supervisor.commit('watch', 3, 0, join(dir, 'main'), 'web');
  assert.deepEqual(await supervisor.news(), ['watching', '3', 'ENOTDIR']);
});

eachBuild('P15 init reports more changes than a frame holds without their names', async (t, build) => {
  const { init, supervisor, dir } = await watching(t, build);
  send(init.pid, 'SIGSTOP');
  for (let at = 0; at < 200; at++) writeFileSync(join(dir, `member-with-a-long-name-${at}`), '');
  send(init.pid, 'SIGCONT');
  assert.deepEqual(await supervisor.news(), ['changed']);
});

for (const [means, readsInALook, builds] of [
  ['dnotify', 1, BUILDS],
  ['inotify', 16, [DEAF]],
] as const)
  eachBuild(
    `P15 a neighbor that writes without a pause wakes init once for each look, by ${means}`,
    async (t, build) => {
      const { init, supervisor, dir } = await watching(t, build);
      // A look at this many files is expensive, so looks are far apart.
      send(init.pid, 'SIGSTOP');
      for (let at = 0; at < 400; at++) writeFileSync(join(dir, `m${at}`), '');
      send(init.pid, 'SIGCONT');
      const before = readsOf(init.pid);
      for (let at = 0; at < 5000; at++) appendFileSync(join(dir, 'main'), 'news');
      writeFileSync(join(dir, 'last'), '');
      let looks = 0;
      for (let names: readonly string[] = []; !names.includes('last'); looks++) names = await supervisor.news();
      const reads = readsOf(init.pid) - before;
      assert.ok(reads <= readsInALook * (looks + 2), `${reads} reads in ${looks} looks`);
    },
    builds,
  );

eachBuild('P02 init reports every signal that comes while the directory changes', async (t, build) => {
  const { init, supervisor, dir } = await watching(t, build);
  // KILL and STOP cannot be had, CHLD is init's own, and CONT, which lets it go on here, takes back 20 to 22.
  const others = [9, 17, 18, 19, 20, 21, 22];
  const numbers = Array.from({ length: 64 }, (_, at) => at + 1).filter((it) => !others.includes(it));
  send(init.pid, 'SIGSTOP');
  for (const number of numbers) {
    writeFileSync(join(dir, `m${number}`), '');
    send(init.pid, number);
    writeFileSync(join(dir, 'main'), `${number}`);
  }
  send(init.pid, 'SIGCONT');
  const told = new Set<number>();
  while (!numbers.every((it) => told.has(it))) {
    const [name, , , first, , passed] = await supervisor.next();
    if (name === 'signal' || name === 'ordered') told.add(Number(name === 'signal' ? first : passed));
  }
  assert.deepEqual((await supervisor.news())[0], 'changed');
});

/** How often it has called read(2), as it does for each of its signals. */
function readsOf(pid: number): number {
  return Number(/^syscr: (\d+)/m.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))?.[1]);
}

function inotifyInstancesOf(pid: number): number {
  const fds = readdirSync(`/proc/${pid}/fd`);
  return fds.filter((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`).includes('inotify')).length;
}
