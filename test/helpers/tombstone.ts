/** Reads tombstones as plain JSON, since the product's parser accepts more than other readers do. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Tombstone } from '../../src/core/format/tombstone.ts';
import { waitFor } from './wait.ts';

/** `undefined` while there is none. A file that is no JSON is an error: a tombstone appears whole or not at all. */
export function readTombstone(graveyard: string, name: string): Tombstone | undefined {
  let text: string;
  try {
    text = readFileSync(join(graveyard, name), 'utf8');
  } catch {
    return undefined;
  }
  try {
    return JSON.parse(text) as Tombstone;
  } catch (cause) {
    throw new Error(`the tombstone of ${name} is no JSON: ${JSON.stringify(text.slice(0, 200))}`, { cause });
  }
}

export function waitForTombstone(
  graveyard: string,
  name: string,
  what: string,
  holds: (tombstone: Tombstone) => boolean,
): Promise<Tombstone> {
  return waitFor(`the tombstone of ${name}: ${what}`, () => {
    const found = readTombstone(graveyard, name);
    return found !== undefined && holds(found) ? found : undefined;
  });
}

/** From then on the others can know that it has ended. */
export function waitForDeath(graveyard: string, name: string): Promise<Tombstone> {
  return waitForTombstone(graveyard, name, 'is dead', (it) => it.Died !== undefined);
}

/** Their children run and their tombstones say so: from then on the others can know. */
export async function waitForRunning(graveyard: string, names: readonly string[]): Promise<void> {
  for (const name of names) await waitForTombstone(graveyard, name, 'runs', (it) => it.Phase === 'running');
}

/**
 * Asserts that a start gate on `started` held: `next` was born after `first` had started. It reads the tombstones,
 * because a command's own first lines may come too late on a busy machine. Each writer's wall clock is right to 2 ms.
 */
export function assertStartedBefore(graveyard: string, first: string, next: string): void {
  const started = Date.parse(readTombstone(graveyard, first)?.Started ?? '');
  const born = Date.parse(readTombstone(graveyard, next)?.Born ?? '');
  assert.ok(born >= started - 3, `${next} was born ${started - born} ms before ${first} had started`);
}
