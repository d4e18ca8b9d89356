/**
 * One of several controllers: the one that holds the lease works. The others wait for the lease to
 * become free. The controller ignores TERM. `POST /abdicate` on PORT, which many have for their operators, makes it put
 * its work down, release the lease and not ask for it again; the answer comes when that is done.
 *
 * LEASE: the directory of the lease; LEASE_MS: how long it is good for; LOG: where it tells what it does.
 */
import { appendFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { readLease, replaceLease } from './lease.mjs';

const { NAME, LEASE, LOG } = process.env;
const LEASE_MS = Number(process.env.LEASE_MS);
const EVERY_MS = 50;

let held; // The lease while we have it.
let hasAbdicated = false;

setInterval(() => {
  if (hasAbdicated) return;
  if (held === undefined) take();
  else if (held.expires - Date.now() < LEASE_MS * 0.8) renew();
  if (held !== undefined) tell('works');
}, EVERY_MS);

createServer((request, response) => {
  if (request.method === 'POST' && request.url === '/abdicate') abdicate();
  else response.statusCode = 404;
  response.end();
}).listen(Number(process.env.PORT), '127.0.0.1', () => tell('is there'));

function take() {
  const { version, holder, expires } = readLease(LEASE);
  if (holder !== '' && Date.now() < expires) return;
  if (hold(version)) tell('leads', holder === '' ? 'release' : 'expiry');
}

/** Who cannot renew is no leader any more: another one may be at work already. */
function renew() {
  if (hold(held.version)) return;
  tell('lost the lease');
  process.exit(1);
}

function hold(version) {
  const expires = Date.now() + LEASE_MS;
  const isOurs = replaceLease(LEASE, version, { holder: NAME, expires });
  if (isOurs) held = { version: version + 1, expires };
  return isOurs;
}

function abdicate() {
  hasAbdicated = true;
  if (held !== undefined) replaceLease(LEASE, held.version, { holder: '', expires: 0 });
  held = undefined;
}

function tell(event, after) {
  appendFileSync(LOG, `${JSON.stringify({ at: Date.now(), who: NAME, event, after })}\n`);
}
