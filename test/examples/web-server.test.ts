/** examples/web-server does what its README says. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { runExample } from './judged.ts';

const PROGRAMS = ['/usr/sbin/nginx', '/usr/sbin/haproxy'];
const missing = PROGRAMS.find((it) => !existsSync(it));
const skip = missing === undefined ? false : `${missing} is not installed (apt-get install nginx-light haproxy)`;

test('two nginx behind haproxy are restarted under load: no request fails with sexton, some do without', {
  skip,
}, async (t) => {
  const shown = await runExample(t, 'web-server', '1');
  assert.match(shown, /^with sexton +0 of \d+ requests failed$/m);
  assert.match(shown, /^without sexton +[1-9]\d* of \d+ requests failed$/m);
});
