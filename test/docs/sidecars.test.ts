/**
 * docs/sidecars.md has every sidecar that sexton knows, with the ports and paths that it calls.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { SIDECARS } from '../../src/config/notation/sidecars.ts';
import { ROOT } from '../helpers/paths.ts';

test('the table of sidecars is what is called', () => {
  const page = readFileSync(join(ROOT, 'docs', 'sidecars.md'), 'utf8');
  const rows = [...page.matchAll(/^\| `([a-z-]+)`(?: \(v2\))? \| (.*?) \| (.*?) \|/gm)].map(([, name, quit, ready]) => [
    name,
    quit,
    ready,
  ]);
  const known = Object.entries(SIDECARS).map(([name, { quit, ready }]) => [
    name,
    quit.paths.map((path) => `\`:${quit.port}${path}\``).join(', '),
    `\`:${ready.port}${ready.path}\``,
  ]);
  assert.deepEqual(rows, known);
});
