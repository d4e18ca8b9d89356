/** A main and its sidecar in a graveyard, each a container of its own under a user that may not read everything. */
import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { AWAKE, type Container, startContainer } from '../helpers/container.ts';
import { member } from '../helpers/member.ts';
import type { Stage } from '../helpers/scenario.ts';
import type { Scratch } from '../helpers/scratch.ts';
import { readTimeline, waitForEvent } from '../helpers/timeline.ts';
import { readTombstone, waitForRunning } from '../helpers/tombstone.ts';
import { FAR_MS } from '../helpers/wait.ts';
import { type Footprint, footprintOf, ticksOf } from '../scale/footprint.ts';

export const USER = 12_345;

export interface PairOptions {
  /** Without it the sidecar serves every main that it sees. */
  readonly isNamed: boolean;
  readonly session?: string;
}

export interface Pair {
  readonly graveyard: string;
  readonly work: Container;
  readonly proxy: Container;
  /** Resolves when its supervisors have nothing to do. */
  settled(): Promise<void>;
  footprint(name: 'work' | 'proxy'): Promise<Footprint>;
  ticks(name: 'work' | 'proxy'): Promise<number>;
  /** Starts another sidecar that names the main; resolves when it runs. */
  join(name: string): Promise<Container>;
  /** Has the main end by itself, and checks how the pair ends. */
  end(): Promise<void>;
}

/** The log of the pair stands beside its graveyard. */
export async function startPair(stage: Stage, name: string, options: PairOptions): Promise<Pair> {
  const graveyard = graveyardOf(stage, name);
  const log = `${graveyard}.log`;
  const gate = `${graveyard}.gate`;
  writeFileSync(log, '');
  chmodSync(log, 0o666);
  const common = ['--graveyard', graveyard, '--restart-policy', 'Never', '--log-format', 'json'];
  const scratch: Scratch = { ...stage.scratch, graveyard, log };
  const start = (it: string, flags: readonly string[], run: object): Container =>
    startContainer(scratch, {
      name: it,
      user: USER,
      // The supervisor is measured, so it must not sleep.
      flags: [...AWAKE, '--name', it, ...common, ...flags],
      command: member({ ...stage, scratch }, it, { ...run }),
    });
  const session = options.session === undefined ? [] : ['--session', options.session];
  const work = start('work', session, { after: gate, run: 1 });
  const roster = options.isNamed ? ['--mains', 'work'] : [];
  const proxy = start('proxy', ['--role', 'sidecar', ...roster, ...session], {});
  await waitForRunning(graveyard, ['work', 'proxy']);
  for (const it of ['work', 'proxy']) await waitForEvent(log, it, 'Started');
  const containers = { work, proxy };
  return {
    graveyard,
    ...containers,
    settled: async () => {
      for (const it of [work, proxy]) await settled(await it.supervisor());
    },
    join: async (it) => {
      const late = start(it, ['--role', 'sidecar', '--mains', 'work', ...session], {});
      await waitForRunning(graveyard, [it]);
      return late;
    },
    footprint: async (it) => footprintOf(await containers[it].supervisor()),
    ticks: async (it) => ticksOf(await containers[it].supervisor()),
    end: async () => {
      writeFileSync(gate, '');
      for (const it of [work, proxy]) assert.equal((await it.exit()).status, 0);
      const timeline = readTimeline(log);
      timeline.exitsBeforeSignalTo('work', 'proxy');
      assert.deepEqual([timeline.signals('work'), timeline.signals('proxy')], [[], [15]]);
      const [first, second] = [readTombstone(graveyard, 'work'), readTombstone(graveyard, 'proxy')];
      assert.deepEqual([first?.Reason, first?.ExitCode, second?.Reason], ['completed', 0, 'stopped']);
      for (const it of [work, proxy]) checkLog(it);
    },
  };
}

/** Creates the graveyard at once, so that a test can litter it before the members start. */
export function graveyardOf({ scratch }: Pick<Stage, 'scratch'>, name: string): string {
  const dir = join(scratch.dir, name);
  mkdirSync(dir, { recursive: true });
  chmodSync(dir, 0o777);
  return dir;
}

/** Checks that each line is JSON of the member itself, that few are warnings, and that none acts on a terminal. */
export function checkLog(container: Container): void {
  const lines = Buffer.from(container.stderr(), 'latin1').toString().split('\n').slice(0, -1);
  const levels = lines.map((line) => {
    assert.doesNotMatch(line, /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u, 'a line that acts on a terminal');
    const { level, message } = JSON.parse(line) as { level: string; message: string };
    assert.notEqual(message, 'forged');
    return level;
  });
  const warnings = levels.filter((level) => level !== 'info').length;
  // 32 about ignored files and one that says so, 8 about stop requests, one of each other kind.
  assert.ok(warnings <= 44, `${warnings} warnings`);
}

/** Resolves when the process has not used the CPU for a while. Rescans come every 5 s, so there is time in between. */
async function settled(pid: number): Promise<void> {
  const until = performance.now() + FAR_MS;
  for (let quiet = 0, before = -1; quiet < 5; ) {
    await sleep(150);
    const now = ticksOf(pid);
    quiet = now - before <= 1 ? quiet + 1 : 0;
    before = now;
    if (performance.now() > until) throw new Error(`process ${pid} is busy for ${FAR_MS} ms`);
  }
}
