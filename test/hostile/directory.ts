/**
 * A pair in a littered graveyard beside the same pair in a clean one: what it may take more of the machine.
 */
import assert from 'node:assert/strict';
import { appendFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { formatTombstone } from '../../src/core/format/tombstone.ts';
import { chance } from '../helpers/rounds.ts';
import type { Stage } from '../helpers/scenario.ts';
import type { Footprint } from './footprint.ts';
import { addForeign, addNames, addOddities, addTombstones, addTraps } from './litter.ts';
import { graveyardOf, type Pair, startPair } from './pair.ts';

/** Private memory, against a clean graveyard. */
const MAX_TIMES = 4;
const MAX_MORE_DESCRIPTORS = 8;

export interface Littered {
  readonly isNamed: boolean;
  readonly foreign: number;
  readonly seed: number;
  /** Tombstones of others that come while the pair lives. */
  readonly late?: number;
  /** How long the idle pairs are watched for their use of the CPU. */
  readonly idleMs?: number;
}

/** Starts both, judges them, ends them. What it resolves with are the figures. */
export async function playLittered(stage: Stage, options: Littered): Promise<string> {
  const { isNamed, late = 0, idleMs = 0, seed } = options;
  const dir = graveyardOf(stage, 'hostile');
  stage.scratch.describe(() => `seed ${seed}`);
  litter(dir, options);
  const clean = await startPair(stage, 'clean', { isNamed });
  const hostile = await startPair(stage, 'hostile', { isNamed });
  for (let bytes = 0; bytes < 80_000; bytes += 8_000) appendFileSync(join(dir, 'grows'), 'x'.repeat(8_000));
  for (let index = 0; index < late; index++) addLate(dir, `late-${index}`);
  const figures = [await judge(clean, hostile)];
  if (idleMs > 0) figures.push(await idle(clean, hostile, idleMs));
  await Promise.all([clean.end(), hostile.end()]);
  assert.match(hostile.proxy.stderr(), /ignored/);
  assert.doesNotMatch(clean.proxy.stderr(), /ignored/);
  return figures.join('\n');
}

/**
 * Without names a death that is forged ends a sidecar, and it sees the first members and files only: there it is for
 * all to be few.
 */
function litter(dir: string, { isNamed, foreign, seed }: Littered): void {
  addOddities(dir);
  addNames(dir);
  if (isNamed) addTombstones(dir, chance(seed), 100);
  addTraps(dir, isNamed ? 200 : 20);
  addForeign(dir, foreign);
}

/** Whole, of a sidecar that has been there all along, and as large as may be. */
function addLate(dir: string, name: string): void {
  const text = formatTombstone({ Version: 1, Name: name, Role: 'sidecar', Phase: 'running', Incarnation: 'x-1' });
  writeFileSync(join(dir, '.late'), text.trimEnd().replace(/\}$/, `,"Padding":"${'x'.repeat(48_000)}"}`));
  renameSync(join(dir, '.late'), join(dir, name));
}

async function judge(clean: Pair, hostile: Pair): Promise<string> {
  await Promise.all([clean.settled(), hostile.settled()]);
  const said: string[] = [];
  for (const name of ['work', 'proxy'] as const) {
    const [usual, found] = [await clean.footprint(name), await hostile.footprint(name)];
    said.push(`${name}: ${JSON.stringify(usual)} against ${JSON.stringify(found)}`);
    assertWithin(usual, found, said.at(-1) ?? '');
  }
  return said.join('\n');
}

function assertWithin(usual: Footprint, found: Footprint, what: string): void {
  assert.ok(found.privateKb <= MAX_TIMES * usual.privateKb, `memory of ${what}`);
  assert.ok(found.descriptors <= usual.descriptors + MAX_MORE_DESCRIPTORS, `descriptors of ${what}`);
}

/** A figure for the docs, which no test is about: how much of one CPU a supervisor takes while nothing happens. */
async function idle(clean: Pair, hostile: Pair, idleMs: number): Promise<string> {
  const ticks = async (): Promise<number[]> =>
    Promise.all([clean, hostile].map(async (pair) => (await pair.footprint('proxy')).ticks));
  const before = await ticks();
  await sleep(idleMs);
  const [usual, found] = (await ticks()).map((it, index) => it - (before[index] ?? 0));
  return `idle for ${idleMs} ms: ${usual} ticks of CPU against ${found}`;
}
