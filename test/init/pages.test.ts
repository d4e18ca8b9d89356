/** What init gives back to the kernel, on a machine whose pages are larger than a helper's place. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { built } from './builds.ts';
import type { Supervisor } from './connection.ts';
import { hasPassed, onBench, REFUSED } from './scripted.ts';

const HELPERS = 16;
const MEMO = 'memo '.repeat(13_000);

const LARGE = {
  name: '64 KiB pages',
  path: built('large-pages', {
    hangMs: 300_000,
    instead: ['-Dmadvise=large_madvise', '-Dgetauxval=large_getauxval', join(import.meta.dirname, 'large-pages.c')],
  }),
};

onBench(
  'A12 init releases the pages of one helper’s output, and no others',
  async (bench) => {
    const init = bench.start(REFUSED);
    const first = await init.supervisor();
    first.commit('memo', MEMO);
    // One after the other, so that each has the next place.
    for (let id = 1; id <= HELPERS; id += 1) {
      first.commit('exec', id, 4096, 2, 'echo', `output of ${id}`);
      assert.deepEqual(await first.expect('helper-ended'), ended(id));
    }
    // Whichever place begins with a page: all but the last are given back, then that one too.
    await acknowledge(first, HELPERS - 1);
    const second = await init.supervisor();
    assert.ok(second.hello[4] === MEMO, 'the memo is whole');
    assert.deepEqual(await second.expect('helper-ended'), ended(HELPERS));
    await acknowledge(second, HELPERS);
    assert.ok((await init.supervisor()).hello[4] === MEMO, 'the memo is whole');

    async function acknowledge(supervisor: Supervisor, last: number): Promise<void> {
      supervisor.ack(last);
      await hasPassed(bench, supervisor, supervisor.sent);
      await supervisor.kill();
    }
  },
  [LARGE],
);

function ended(id: number): string[] {
  return [String(id), '0', '', '', `output of ${id}\n`];
}
