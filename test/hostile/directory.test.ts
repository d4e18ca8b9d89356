/**
 * A main and its sidecar in a directory full of what should not be there, beside the same two in a clean one.
 */
import { describe } from 'node:test';
import { SEED } from '../helpers/rounds.ts';
import { scenario } from '../helpers/scenario.ts';
import { type Littered, playLittered } from './directory.ts';

describe('a graveyard full of what should not be there', () => {
  for (const [who, littered] of [
    ['a main and a sidecar that names it', { isNamed: true, foreign: 4_000, late: 1_200 }],
    ['a main and a sidecar', { isNamed: false, foreign: 50 }],
  ] as const satisfies readonly (readonly [string, Omit<Littered, 'seed'>])[]) {
    scenario(
      `K17 keeps ${who} neither from starting nor from living and ending, and takes little of them`,
      async (stage) => {
        stage.t.diagnostic(await playLittered(stage, { ...littered, seed: SEED }));
      },
    );
  }
});
