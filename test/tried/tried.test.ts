/**
 * Every row of "What was tried" (docs/servers.md) under sexton without a flag: what became of its work, and its exit code.
 * `node test/tried/run.ts` compares with no init, tini and dumb-init.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { rankOf, whatLacks } from './row.ts';
import { RELOAD_ROWS, ROWS } from './rows/index.ts';
import { tryReload, tryStop } from './trial.ts';

const needsRoot = process.getuid?.() === 0 ? false : 'needs root';

describe('a stop under sexton', { concurrency: 5 }, () => {
  for (const row of ROWS) {
    test(row.title, { skip: needsRoot || whatLacks(row) }, async () => {
      const { ranks = ['clean'], codes } = row.sexton;
      const { result, output } = await tryStop(row, 'sexton');
      const found = rankOf(row, result);
      // A machine may stand still for seconds, so an end that only came late is none that a test can hold.
      const rank = found === 'late' ? 'clean' : found;
      assert.ok(ranks.includes(rank), `${rank}: ${JSON.stringify(result)}\n${output}`);
      assert.ok(codes.includes(result.code), `${result.code} is not in ${codes}\n${output}`);
    });
  }
});

describe('a signal that is no stop under sexton', { concurrency: 5 }, () => {
  for (const row of RELOAD_ROWS) {
    test(row.title, { skip: needsRoot || whatLacks(row) }, async () => {
      const { result, output } = await tryReload(row, 'sexton');
      assert.equal(result, row.sexton, output);
    });
  }
});
