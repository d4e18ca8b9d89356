/** Connections that init holds for its supervisor. */
import assert from 'node:assert/strict';
import { symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import type { TestContext } from 'node:test';
import { waitFor } from '../helpers/wait.ts';
import { attend, type Bench, onBench } from './scripted.ts';

onBench('init reports a connection, and its end', async (bench, t) => {
  const { supervisor } = await attend(bench);
  const sockets = await serve(t, bench, 'peer');
  supervisor.commit('connect', 1, bench.path('peer'), 'connect', 2, bench.path('peer'));
  assert.deepEqual(await supervisor.news(), ['contact', '1', '']);
  assert.deepEqual(await supervisor.news(), ['contact', '2', '']);
  await waitFor('both are there', () => sockets.length === 2);
  sockets[0]?.write('what a peer says, which is not read');
  sockets[0]?.destroy();
  assert.deepEqual(await supervisor.news(), ['contact', '1', 'EPIPE']);
});

onBench('init reports why it cannot connect, and follows no link', async (bench, t) => {
  const { supervisor } = await attend(bench);
  await serve(t, bench, 'peer');
  writeFileSync(bench.path('file'), '');
  symlinkSync('peer', bench.path('link'));
  for (const [index, name] of ['absent', 'file', 'link'].entries())
    supervisor.commit('connect', index + 1, bench.path(name));
  assert.deepEqual(await supervisor.news(), ['contact', '1', 'ENOENT']);
  assert.deepEqual(await supervisor.news(), ['contact', '2', 'ENOENT']);
  assert.deepEqual(await supervisor.news(), ['contact', '3', 'ENOENT']);
});

onBench('init closes a connection when that is ordered, and all with their supervisor', async (bench, t) => {
  const { supervisor } = await attend(bench);
  const sockets = await serve(t, bench, 'peer');
  supervisor.commit('connect', 1, bench.path('peer'), 'connect', 2, bench.path('peer'));
  await waitFor('both are there', () => sockets.length === 2);
  supervisor.commit('hang-up', 1, 'hang-up', 7);
  await waitFor('one is closed', () => sockets.filter(({ closed }) => closed).length === 1);
  await supervisor.kill();
  await waitFor('both are closed', () => sockets.every(({ closed }) => closed));
});

onBench('a place is free again after 256 connections have ended or failed', async (bench, t) => {
  const { supervisor } = await attend(bench);
  await serve(t, bench, 'peer');
  for (let number = 1; number <= 600; number++) {
    supervisor.commit('connect', number, bench.path(number % 2 === 0 ? 'absent' : 'peer'), 'hang-up', number);
  }
  supervisor.commit('connect', 601, bench.path('peer'));
  for (let news = await supervisor.news(); news[1] !== '601'; ) news = await supervisor.news();
});

async function serve(t: TestContext, bench: Bench, name: string): Promise<readonly Socket[]> {
  const sockets: Socket[] = [];
  const server = createServer((socket) => sockets.push(socket.on('error', () => {}).resume()));
  await new Promise<void>((resolve) => server.listen(bench.path(name), resolve));
  t.after(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return sockets;
}
