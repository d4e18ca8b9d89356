/** Sockets of peers that send nonsense or nothing, and floods of connections to our own. */
import { renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { formatTombstone } from '../../src/core/format/tombstone.ts';

const NONSENSE = Buffer.alloc(65_536, '\x1b]0;nonsense\x07\0');

export interface Rogue {
  readonly name: string;
  connections(): number;
  /** Bytes that it could send. */
  sent(): number;
}

const MANNERS: Readonly<Record<string, (socket: Socket, sent: (bytes: number) => void) => void>> = {
  mute: () => {},
  // It sends as much as the member reads, without end.
  talker: (socket, sent) => {
    const talk = (): void => {
      while (!socket.destroyed && socket.write(NONSENSE, () => sent(NONSENSE.length)));
      socket.once('drain', talk);
    };
    talk();
  },
  closer: (socket) => socket.destroy(),
  'half-closer': (socket) => socket.end('bye'),
  'late-talker': (socket, sent) => {
    const timer = setInterval(() => socket.write('x', () => sent(1)), 20);
    socket.once('close', () => clearInterval(timer));
  },
};

/** Adds one peer of each kind until the end of the test. All wait for `work`, so that they matter to it. */
export async function addRogues(t: TestContext, dir: string): Promise<readonly Rogue[]> {
  const rogues = await Promise.all(Object.keys(MANNERS).map((name) => addRogue(t, dir, name)));
  const gone = createServer();
  await listening(gone, join(dir, '.going.sock'));
  // Node removes the socket file that it made; under another name the file stays, without a process.
  renameSync(join(dir, '.going.sock'), join(dir, '.gone.sock'));
  await new Promise((resolve) => gone.close(resolve));
  symlinkSync('.mute.sock', join(dir, '.linked.sock'));
  writeFileSync(join(dir, '.plain.sock'), 'not a socket');
  for (const name of ['gone', 'linked', 'plain', 'without']) alive(dir, name);
  return rogues;
}

export function alive(dir: string, name: string): void {
  const who = { Version: 1, Name: name, Role: 'sidecar', StartAfter: ['work'] } as const;
  writeFileSync(join(dir, name), formatTombstone({ ...who, Phase: 'running', Incarnation: `${name}-1` }));
}

async function addRogue(t: TestContext, dir: string, name: string): Promise<Rogue> {
  let [connections, bytes] = [0, 0];
  const server = createServer((socket) => {
    connections++;
    t.after(() => socket.destroy());
    socket.on('error', () => {});
    socket.resume();
    MANNERS[name]?.(socket, (more) => {
      bytes += more;
    });
  });
  t.after(() => server.close());
  await listening(server, join(dir, `.${name}.sock`));
  alive(dir, name);
  return { name, connections: () => connections, sent: () => bytes };
}

/** Opens this many connections to a socket, each of which sends nonsense and stays. Resolves with the successes. */
export async function pester(t: TestContext, path: string, count: number): Promise<number> {
  let open = 0;
  const tried = Array.from({ length: count }, () => {
    const socket = connect({ path });
    t.after(() => socket.destroy());
    return new Promise<void>((resolve) => {
      socket.once('error', () => resolve());
      socket.once('connect', () => {
        open++;
        socket.write(NONSENSE.subarray(0, 4096));
        resolve();
      });
    });
  });
  await Promise.all(tried);
  return open;
}

function listening(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ path, writableAll: true }, resolve);
  });
}
