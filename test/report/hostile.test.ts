/** The short form; the long one is `node test/report/hostile.ts 5000`. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { tryFiles } from './hostile.ts';

const FILES = 400;

it(`${FILES} hostile tombstones, pods and logs become no markup, no escape sequence and no crash`, (t) => {
  const tried = tryFiles(FILES, 1);
  t.diagnostic(JSON.stringify(tried));
  // Else nothing of it would have been drawn.
  assert.ok(tried.told > FILES / 4);
});
