/**
 * A main and its sidecar in a directory full of what should not be there, beside the same two in a clean one.
 */
import assert from 'node:assert/strict';
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe } from 'node:test';
import { chance, SEED } from '../helpers/rounds.ts';
import { type Stage, scenario } from '../helpers/scenario.ts';
import type { Footprint } from './footprint.ts';
import { addForeign, addNames, addOddities, addTombstones, addTraps } from './litter.ts';
import { graveyardOf, type Pair, startPair } from './pair.ts';

/** Private memory and descriptors, against a clean graveyard. */
const MOST_TIMES = 4;
const MOST_MORE_DESCRIPTORS = 4;

/** Without names, a death that is forged ends a sidecar, and of members it sees 1024: there it is for both to be few. */
function litter(stage: Stage, isNamed: boolean): string {
  const dir = graveyardOf(stage, 'hostile');
  stage.scratch.describe(() => `seed ${SEED}`);
  addOddities(dir);
  addNames(dir);
  if (isNamed) addTombstones(dir, chance(SEED), 100);
  addTraps(dir, 200);
  addForeign(dir, isNamed ? 4_000 : 1_000);
  return dir;
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
  assert.ok(found.privateKb <= MOST_TIMES * usual.privateKb, `memory of ${what}`);
  assert.ok(found.descriptors <= usual.descriptors + MOST_MORE_DESCRIPTORS, `descriptors of ${what}`);
}

describe('a graveyard full of what should not be there', () => {
  for (const isNamed of [true, false]) {
    scenario(
      `K17 neither keeps ${isNamed ? 'a main and a sidecar that names it' : 'a main and a sidecar'} from starting, living and ending`,
      async (stage) => {
        const dir = litter(stage, isNamed);
        const clean = await startPair(stage, 'clean', { isNamed });
        const hostile = await startPair(stage, 'hostile', { isNamed });
        for (let bytes = 0; bytes < 80_000; bytes += 8_000) appendFileSync(join(dir, 'grows'), 'x'.repeat(8_000));
        stage.t.diagnostic(await judge(clean, hostile));
        await Promise.all([clean.end(), hostile.end()]);
        assert.match(hostile.proxy.stderr(), /ignored/);
        assert.doesNotMatch(clean.proxy.stderr(), /ignored/);
      },
    );
  }
});
