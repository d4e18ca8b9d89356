/** Makes a quit call to a server that stays, with no descriptor left to look whether it has gone (`ulimit -n`). */
import { subscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { openSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { httpAction, run } from './servers.ts';

let isAsked = false;
const server = createServer((_request, response) => {
  isAsked = true;
  response.end();
});
// This channel reports each connection before its descriptor is made.
subscribe('net.client.socket', () => {
  try {
    while (isAsked) openSync('/dev/null', 'r');
  } catch {
    // None is left.
  }
});
server.listen(0, '127.0.0.1');
await once(server, 'listening');
const { port } = server.address() as AddressInfo;
const call = httpAction(port, { method: 'POST', path: '/quit' });
const { ok, detail } = await run({ kind: 'quit', name: 'x', calls: [call], hint: undefined }, 3_000);
process.stdout.write(`${ok} ${detail}`);
process.exit(0);
