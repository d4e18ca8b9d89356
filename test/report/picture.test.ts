/**
 * README's picture is what `sexton report` draws of the demo today: from the tombstones that a run of the demo has
 * left.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ROOT, SEXTON } from '../helpers/paths.ts';

test('docs/stop.svg is drawn from the demo as sexton draws today', () => {
  const drawn = execFileSync(SEXTON, ['report', '-o', 'svg', join(ROOT, 'test', 'report', 'demo')], {
    encoding: 'utf8',
  });
  const committed = readFileSync(join(ROOT, 'docs', 'stop.svg'), 'utf8');
  assert.equal(committed, drawn, 'to draw it anew: npm run build && node examples/demo/demo.ts --picture');
});
