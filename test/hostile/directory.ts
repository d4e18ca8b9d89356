/** A pair in a littered graveyard beside the same pair in a clean one: how much more of the machine it may use. */
import assert from 'node:assert/strict';
import { appendFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { formatTombstone } from '../../src/core/format/tombstone.ts';
import { chance } from '../helpers/rounds.ts';
import type { Stage } from '../helpers/scenario.ts';
import { addForeign, addNames, addOddities, addTombstones, addTraps } from './litter.ts';
import { graveyardOf, type Pair, startPair } from './pair.ts';

/** Private memory, against a clean graveyard. */
const MAX_TIMES = 4;
const MAX_MORE_DESCRIPTORS = 8;

export interface Littered {
  readonly isNamed: boolean;
  readonly foreign: number;
  readonly seed: number;
  /** The number of foreign tombstones that come while the pair lives. */
  readonly late?: number;
  /** How long the CPU time of the idle pairs is measured. */
  readonly idleMs?: number;
}

/** Starts both pairs, compares them and ends them. Resolves with the figures. */
export async function playLittered(stage: Stage, options: Littered): Promise<string> {
  const { isNamed, late = 0, idleMs = 0, seed } = options;
  const dir = graveyardOf(stage, 'hostile');
  stage.scratch.describe(() => `seed ${seed}`);
  litter(dir, options);
  const clean = await startPair(stage, 'clean', { isNamed });
  const hostile = await startPair(stage, 'hostile', { isNamed });
  for (let bytes = 0; bytes < 80_000; bytes += 8_000) appendFileSync(join(dir, 'grows'), 'x'.repeat(8_000));
  for (let index = 0; index < late; index++) addLate(dir, `late-${index}`);
  const figures = [await compare(clean, hostile)];
  if (idleMs > 0) figures.push(await idle(clean, hostile, idleMs));
  await Promise.all([clean.end(), hostile.end()]);
  assert.match(hostile.proxy.stderr(), /ignored/);
  assert.doesNotMatch(clean.proxy.stderr(), /ignored/);
  return figures.join('\n');
}

/** Without names a sidecar sees only the first files, and a forged death ends it. It gets few, and none is forged. */
function litter(dir: string, { isNamed, foreign, seed }: Littered): void {
  addOddities(dir);
  addNames(dir);
  if (isNamed) addTombstones(dir, chance(seed), 100);
  addTraps(dir, isNamed ? 200 : 20);
  addForeign(dir, foreign);
}

/** The tombstone of an old sidecar, whole and nearly as large as a file may be. */
function addLate(dir: string, name: string): void {
  const text = formatTombstone({ Version: 1, Name: name, Role: 'sidecar', Phase: 'running', Incarnation: 'x-1' });
  writeFileSync(join(dir, '.late'), text.trimEnd().replace(/\}$/, `,"Padding":"${'x'.repeat(48_000)}"}`));
  renameSync(join(dir, '.late'), join(dir, name));
}

async function compare(clean: Pair, hostile: Pair): Promise<string> {
  await Promise.all([clean.settled(), hostile.settled()]);
  const figures: string[] = [];
  for (const name of ['work', 'proxy'] as const) {
    const [usual, found] = [await clean.footprint(name), await hostile.footprint(name)];
    const what = `${name}: ${JSON.stringify(usual)} against ${JSON.stringify(found)}`;
    assert.ok(found.privateKb <= MAX_TIMES * usual.privateKb, `memory of ${what}`);
    assert.ok(found.descriptors <= usual.descriptors + MAX_MORE_DESCRIPTORS, `descriptors of ${what}`);
    figures.push(what);
  }
  return figures.join('\n');
}

/** A figure for the docs, which no test judges: the CPU time of an idle supervisor. */
async function idle(clean: Pair, hostile: Pair, idleMs: number): Promise<string> {
  const ticks = (): Promise<number[]> => Promise.all([clean.ticks('proxy'), hostile.ticks('proxy')]);
  const before = await ticks();
  await sleep(idleMs);
  const [usual, found] = (await ticks()).map((it, index) => it - (before[index] ?? 0));
  return `idle for ${idleMs} ms: ${usual} ticks of CPU against ${found}`;
}
