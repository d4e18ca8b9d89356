/**
 * A process in a network namespace that obeys orders, one JSON text a line, and answers `{"answer":..}` when it is
 * done. The watch reports by `{"seen":..}` or `{"unseen":..}`. `node agent.ts [PORT..]` serves HTTP on those ports at
 * once, on all addresses, and says `ready`.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createConnection, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import type { AdaptiveDrain } from '../../../src/core/config.ts';
import { startAction } from '../../../src/runtime/probes/probe.ts';
import { TrafficWatch } from '../../../src/runtime/traffic/watch.ts';

export type Order =
  | { readonly do: 'serve'; readonly port: number; readonly host: string; readonly backlog?: number }
  /** `abreast`: this many at the same time. */
  | ({ readonly do: 'connect'; readonly times: number; readonly abreast?: number; readonly how: How } & Target)
  /** A request over each that is held. */
  | { readonly do: 'use' }
  /** Closes all that are held. */
  | { readonly do: 'let go' }
  | { readonly do: 'watch'; readonly drain: AdaptiveDrain; readonly init?: string | undefined }
  | { readonly do: 'probe'; readonly kind: 'http' | 'tcp'; readonly port: number }
  | { readonly do: 'tell time' }
  /** One connection after the other, so far apart, until `cease`, which answers with `Ceased`. */
  | ({ readonly do: 'keep on'; readonly everyMs: number; readonly how: How } & Target)
  | { readonly do: 'cease' };

export interface Ceased {
  readonly longestPauseMs: number;
  /** When the last connection that was not refused began. */
  readonly lastMs: number;
  /** How many connections were refused or broken off. */
  readonly refused: number;
}

export interface Target {
  readonly host: string;
  readonly port: number;
  readonly from?: string;
}

/** `request`: the server closes first. `request and leave`: the client. `touch`: sends nothing. `break off`: RST. */
export type How = 'request' | 'request and leave' | 'touch' | 'break off' | 'hold';

const held: Socket[] = [];

async function obey(order: Order): Promise<unknown> {
  switch (order.do) {
    case 'serve':
      return serve(order.port, order.host, order.backlog);
    case 'connect':
      await Promise.all(Array.from({ length: order.abreast ?? 1 }, () => connectTimes(order, order.how, order.times)));
      return order.times * (order.abreast ?? 1);
    case 'use':
      for (const socket of held) {
        socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
        await once(socket, 'data');
      }
      return true;
    case 'let go':
      for (const socket of held.splice(0)) {
        socket.destroy();
        await once(socket, 'close');
      }
      return true;
    case 'watch':
      return watch(order.drain, order.init);
    case 'probe':
      return probe(order.kind, order.port);
    case 'keep on':
      steady.push({ isOver: false, triedMs: now(), longestPauseMs: 0, lastMs: 0, refused: 0 });
      void keepOn(order, steady.at(-1));
      return true;
    case 'cease':
      return cease(steady.splice(0));
    case 'tell time':
      return now();
    default:
      return order satisfies never;
  }
}

async function serve(port: number, host: string, backlog = 1_024): Promise<void> {
  const server = createServer({ keepAlive: true }, (request, response) => {
    // Connections are the client's to end, but for a request that says so.
    if (request.url === '/never') return;
    response.end('ok');
  });
  server.keepAliveTimeout = 0;
  server.headersTimeout = 0;
  server.requestTimeout = 0;
  server.listen({ port, host, backlog });
  await once(server, 'listening');
}

interface Steady {
  isOver: boolean;
  triedMs: number;
  longestPauseMs: number;
  lastMs: number;
  refused: number;
}

const steady: Steady[] = [];

async function keepOn(order: Order & { do: 'keep on' }, state: Steady | undefined): Promise<void> {
  while (state?.isOver === false) {
    const beganMs = now();
    await connect(order, order.how).then(
      () => (state.lastMs = beganMs),
      () => (state.refused += 1),
    );
    state.longestPauseMs = Math.max(state.longestPauseMs, now() - state.triedMs);
    state.triedMs = now();
    await new Promise((resolve) => setTimeout(resolve, order.everyMs));
  }
}

function cease(all: readonly Steady[]): Ceased {
  for (const state of all) state.isOver = true;
  return {
    longestPauseMs: Math.max(0, ...all.map((it) => Math.max(it.longestPauseMs, now() - it.triedMs))),
    lastMs: Math.max(0, ...all.map((it) => it.lastMs)),
    refused: all.reduce((sum, it) => sum + it.refused, 0),
  };
}

async function connectTimes(target: Target, how: How, times: number): Promise<void> {
  for (let time = 0; time < times; time += 1) await connect(target, how);
}

async function connect({ host, port, from }: Target, how: How): Promise<void> {
  const socket = createConnection({ host, port, ...(from !== undefined && { localAddress: from }) });
  await once(socket, 'connect');
  socket.on('error', () => {});
  if (how === 'hold') {
    held.push(socket);
    return;
  }
  if (how === 'break off') {
    socket.resetAndDestroy();
    return;
  }
  if (how !== 'touch') {
    socket.write(`GET / HTTP/1.1\r\nHost: x\r\nConnection: ${how === 'request' ? 'close' : 'keep-alive'}\r\n\r\n`);
    await Promise.race([once(socket, 'data'), once(socket, 'close')]);
  }
  if (how === 'request') socket.resume();
  else socket.destroy();
  if (!socket.closed) await once(socket, 'close');
}

async function watch(drain: AdaptiveDrain, init: string | undefined): Promise<void> {
  const traffic = new TrafficWatch({
    drain,
    connections: 0,
    ignored: 0,
    init,
    now,
    onSeen: (seen) => tell({ seen: { ...seen, atMs: now() } }),
    onUnseen: (unseen) => tell({ unseen }),
  });
  await traffic.start();
}

function probe(kind: 'http' | 'tcp', port: number): Promise<string> {
  const common = { host: '127.0.0.1', port } as const;
  return new Promise((resolve) => {
    startAction(
      kind === 'tcp' ? { kind, ...common } : { kind, ...common, method: 'GET', scheme: 'http', path: '/', headers: [] },
      { timeoutMs: undefined, onEnd: ({ detail }) => resolve(detail) },
    );
  });
}

function now(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

function tell(line: object): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

for (const port of process.argv.slice(2)) await serve(Number(port), '::');
tell({ ready: process.pid });
for await (const line of createInterface(process.stdin))
  tell({ answer: (await obey(JSON.parse(line) as Order)) ?? true });
process.exit(0);
