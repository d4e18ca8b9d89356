/** The demo shows what it says, and clears everything away. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ENGINE, titled } from '../helpers/engine.ts';
import { NODE, ROOT } from '../helpers/paths.ts';
import { processesNaming } from '../helpers/process.ts';
import { tempGraveyard } from '../helpers/scratch.ts';

const skip = ENGINE === 'podman' ? 'not in podman: the demo is for machines without an engine' : false;

test(titled('the demo’s main ends, its sidecars follow in reverse order, and all succeed'), { skip }, async (t) => {
  const temporary = (await tempGraveyard(t)).path('tmp');
  mkdirSync(temporary);
  const env = { ...process.env, TMPDIR: temporary };
  const shown = execFileSync(NODE, [join(ROOT, 'examples', 'demo', 'demo.ts')], { env, encoding: 'utf8' });
  // The report lists the chain backwards from the last end.
  assert.match(shown, /ended last +shipper: TERM .*, after proxy had ended/);
  assert.match(shown, /before it +proxy: TERM .*, after job had ended/);
  assert.match(shown, /before it +job: exit 0, ended by itself/);
  assert.match(shown, /The containers exited with 0 \(shipper\), 0 \(proxy\), 0 \(job\)\./);
  assert.match(shown, /The pod succeeded; 8 of 8 log lines were shipped\./);
  assert.deepEqual(readdirSync(temporary), []);
  assert.deepEqual(processesNaming(temporary), []);
});
