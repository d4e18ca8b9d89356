/**
 * Makes a quit call of a server that stays, with no descriptor left to look whether it has gone; prints how it ended.
 * Few descriptors: `ulimit -n`.
 */
import { subscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { openSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startAction } from '../../../src/runtime/probes/probe.ts';

let isAsked = false;
const server = createServer((_request, response) => {
  isAsked = true;
  response.end();
});
// Told of each connection before its descriptor is made.
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
startAction(
  {
    kind: 'quit',
    name: 'x',
    calls: [{ kind: 'http', method: 'POST', scheme: 'http', host: '127.0.0.1', port, path: '/quit', headers: [] }],
    hint: undefined,
  },
  {
    timeoutMs: 3_000,
    onEnd: ({ ok, detail }) => {
      process.stdout.write(`${ok} ${detail}`);
      process.exit(0);
    },
  },
);
