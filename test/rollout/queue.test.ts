/** The rolled queue worker in short. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { ROOT } from '../helpers/paths.ts';
import { tempGraveyard } from '../helpers/scratch.ts';
import { CELERY_IDLE, HERE, rollWorkers, whatQueueLacks } from './queue.ts';

const skip = whatQueueLacks();
const PLAN = { graceMs: 60_000, jobs: Array.from({ length: 24 }, () => 1), rolls: 2 };

describe('a worker of Celery that is rolled while it works', { concurrency: 2 }, () => {
  test('it loses and doubles no job with --idle-when', {
    skip,
  }, async (t) => {
    const { longestMs, ...outcome } = await rollWorkers(await tempGraveyard(t), 'idle', {
      ...PLAN,
      flags: CELERY_IDLE,
    });
    assert.deepEqual(outcome, { lost: 0, doubled: 0, drained: 2 });
  });

  test('it loses jobs when its whole group gets TERM (the control)', { skip }, async (t) => {
    const { lost } = await rollWorkers(await tempGraveyard(t), 'group', {
      ...PLAN,
      flags: () => ['--grace-period', '1h', '--signal-to', 'group'],
    });
    assert.ok(lost > 0);
  });

  test('it loses and doubles no job when it gets TERM before its children', { skip }, async (t) => {
    const { lost, doubled } = await rollWorkers(await tempGraveyard(t), 'tree', {
      ...PLAN,
      flags: () => ['--grace-period', '1h'],
    });
    assert.deepEqual({ lost, doubled }, { lost: 0, doubled: 0 });
  });
});

test('the page of the drain shows the check of a worker that is tested', () => {
  const page = readFileSync(join(ROOT, 'docs', 'drain.md'), 'utf8');
  assert.ok(page.includes(readFileSync(join(HERE, 'idle.py'), 'utf8')));
});
