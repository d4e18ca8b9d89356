import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { createServer as createHttp2Server } from 'node:http2';
import { createServer as createTcpServer } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import type { NetworkAction } from '../../../src/runtime/probes/probe.ts';
import { ROOT } from '../../helpers/paths.ts';
import { waitFor } from '../../helpers/wait.ts';
import { closedPort, httpAction, httpServer, listen, rawServer, run } from './servers.ts';

const ROUNDS = 250;

/** The lines of src that asked for one of the two. Node's own sockets ask for stderr as they close. */
const askers: string[] = [];
for (const name of ['stdout', 'stderr'] as const) {
  const get = Object.getOwnPropertyDescriptor(process, name)?.get;
  const note = (): unknown => {
    const asker = new Error().stack?.split('\n')[2] ?? '';
    if (asker.includes(join(ROOT, 'src/'))) askers.push(asker);
    return get?.call(process);
  };
  Object.defineProperty(process, name, { configurable: true, get: note });
}

test('2,000 probes of all kinds and ends leave no descriptor and no timer', async (t) => {
  const http = await httpServer(t, ({ url }, response) => {
    if (url === '/away') response.writeHead(302, { location: '/' });
    response.end('fine');
  });
  const silent = await rawServer(t, '');
  const closed = await closedPort(t);
  const grpc = createHttp2Server((_, response) => response.writeHead(404).end());
  const local = { host: '127.0.0.1' } as const;
  const kinds: [NetworkAction, number | undefined][] = [
    [httpAction(http), undefined],
    [httpAction(http, { path: '/away' }), 40_000],
    [httpAction(silent), 5],
    [httpAction(closed), undefined],
    [{ kind: 'tcp', port: await listen(t, createTcpServer()), ...local }, undefined],
    [{ kind: 'tcp', port: closed, ...local }, undefined],
    [{ kind: 'grpc', service: '', port: await listen(t, grpc), ...local }, undefined],
    [{ kind: 'grpc', service: '', port: silent, ...local }, 5],
  ];
  const round = () => Promise.all(kinds.map(([action, timeoutMs]) => run(action, timeoutMs)));
  // The first round loads the code.
  await round();
  const before = await settled();
  for (let count = 0; count < ROUNDS; count++) await round();
  await waitFor('as many descriptors and timers as before', () => {
    const now = held();
    return now.descriptors <= before.descriptors && now.timers <= before.timers;
  });
});

function held(): { readonly descriptors: number; readonly timers: number } {
  const timers = process.getActiveResourcesInfo().filter((it) => it === 'Timeout').length;
  return { descriptors: readdirSync('/proc/self/fd').length, timers };
}

/** The servers of this process have closed all that they will when two counts in a row are the same. */
async function settled(): Promise<ReturnType<typeof held>> {
  let last = held();
  return waitFor('two equal counts', () => {
    const before = last;
    last = held();
    return isDeepStrictEqual(before, last) ? last : undefined;
  });
}

test('no code of the probes asks for standard output or error', () => {
  assert.deepEqual(askers, []);
});
