/**
 * The demo shows what it says, and clears everything away.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ENGINE, titled } from '../helpers/engine.ts';
import { NODE, ROOT } from '../helpers/paths.ts';
import { processesNaming } from '../helpers/process.ts';
import { tempGraveyard } from '../helpers/scratch.ts';

const skip = ENGINE === 'podman' ? 'the demo is for machines without an engine' : false;

test(titled('the demo’s main ends, its sidecars follow in reverse order, and all succeed'), { skip }, async (t) => {
  const scratch = await tempGraveyard(t);
  const temporary = scratch.path('tmp');
  mkdirSync(temporary);
  const env = { ...process.env, TMPDIR: temporary };
  const shown = execFileSync(NODE, [join(ROOT, 'examples', 'demo', 'demo.ts')], { env, encoding: 'utf8' });
  const exits = shown.split('\n').map((line) => line.indexOf('exited 0'));
  // The columns stand in the order of start, so the ends go from right to left.
  const columns = exits.filter((column) => column >= 0);
  assert.equal(new Set(columns).size, 3, shown);
  assert.deepEqual(
    columns,
    columns.toSorted((a, b) => b - a),
    shown,
  );
  assert.match(shown, /The pod succeeded; 8 of 8 log lines were shipped\./);
  assert.deepEqual(readdirSync(temporary), []);
  assert.deepEqual(processesNaming(temporary), []);
});
