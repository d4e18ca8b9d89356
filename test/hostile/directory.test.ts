/** A main and its sidecar in a directory full of foreign files, beside the same two in a clean one. */
import { describe } from 'node:test';
import { SEED } from '../helpers/rounds.ts';
import { scenario } from '../helpers/scenario.ts';
import { playLittered } from './directory.ts';

describe('a graveyard full of foreign files', () => {
  scenario('K17 costs a main and a sidecar that names it little, and neither its start nor its stop', async (stage) => {
    stage.t.diagnostic(await playLittered(stage, { isNamed: true, foreign: 4_000, late: 1_200, seed: SEED }));
  });

  scenario('K17 costs a main and a sidecar without names little, and neither its start nor its stop', async (stage) => {
    stage.t.diagnostic(await playLittered(stage, { isNamed: false, foreign: 50, seed: SEED }));
  });
});
