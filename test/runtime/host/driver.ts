/**
 * The program that runs in place of the supervisor. It opens a host: InitHost under sexton-init, else ExecaHost. It
 * takes orders from the test over a unix socket and answers them, one JSON text a line.
 */
import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import type { Commit, Hello, HostEvent } from '../../../src/runtime/host/host.ts';

export type Order =
  | { readonly type: 'commit'; readonly commit: Commit }
  /** Opens the host again, as far as one process can stand for the next supervisor. */
  | { readonly type: 'reopen' }
  | { readonly type: 'close' }
  /** Dies of an uncaught exception. */
  | { readonly type: 'crash' }
  /** What a careless library does: it sends a signal again to die of it. */
  | { readonly type: 'loadRaiser' }
  /** And worse: it takes away the listener that was there first. */
  | { readonly type: 'dropListener'; readonly signal: NodeJS.Signals };

export type Answer =
  | { readonly type: 'hello'; readonly pid: number; readonly hello: Hello; readonly limits: readonly string[] }
  | { readonly type: 'event'; readonly event: HostEvent }
  /** One turn of the event loop after `hello`: this many events had been heard. */
  | { readonly type: 'heard'; readonly count: number }
  /** The order before it was carried out; `error`: the host threw that. */
  | { readonly type: 'done'; readonly error: string | undefined };

const host = await makeHost();
const wire = connect(process.env.TEST_WIRE ?? '');
// The test is over.
wire.on('close', () => process.kill(process.pid, 'SIGKILL'));
wire.on('error', () => {});
await open();
createInterface({ input: wire }).on('line', (line) => void obey(JSON.parse(line)));

async function makeHost(): Promise<import('../../../src/runtime/host/host.ts').Host> {
  const fd = process.env.SEXTON_INIT_FD;
  if (fd !== undefined) {
    const { InitHost } = await import('../../../src/runtime/host/init.ts');
    return new InitHost(Number(fd));
  }
  const { ExecaHost } = await import('../../../src/runtime/host/execa.ts');
  return new ExecaHost();
}

async function open(): Promise<void> {
  let count = 0;
  const hello = await host.open((event) => {
    count += 1;
    answer({ type: 'event', event });
  });
  answer({ type: 'hello', pid: process.pid, hello, limits: host.limits });
  await new Promise((resolve) => setImmediate(resolve));
  answer({ type: 'heard', count });
}

async function obey(order: Order): Promise<void> {
  if (order.type === 'crash') setImmediate(() => crash());
  else answer({ type: 'done', error: await tryTo(order) });
}

async function tryTo(order: Exclude<Order, { type: 'crash' }>): Promise<string | undefined> {
  try {
    await carryOut(order);
    return undefined;
  } catch (error) {
    return String(error);
  }
}

async function carryOut(order: Exclude<Order, { type: 'crash' }>): Promise<void> {
  switch (order.type) {
    case 'commit':
      return host.commit(order.commit);
    case 'reopen':
      return open();
    case 'close':
      return host.close();
    case 'loadRaiser': {
      const { onExit } = await import('signal-exit');
      onExit(() => {});
      return;
    }
    case 'dropListener': {
      const [first] = process.listeners(order.signal);
      if (first !== undefined) process.off(order.signal, first);
      return;
    }
    default:
      order satisfies never;
  }
}

function crash(): never {
  throw new Error('a crash that the test asked for');
}

function answer(message: Answer): void {
  wire.write(`${JSON.stringify(message)}\n`);
}
