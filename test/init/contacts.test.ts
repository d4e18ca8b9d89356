/** Connections that init holds for its supervisor. */
import assert from 'node:assert/strict';
import { symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import type { TestContext } from 'node:test';
import { waitFor } from '../helpers/wait.ts';
import { attend, onBench } from './scripted.ts';

onBench('init reports a connection, and its end', async (bench, t) => {
  const { supervisor } = await attend(bench);
  const [a, b] = [bench.path('a'), bench.path('b')];
  const [sockets] = [await serve(t, a), await serve(t, b)];
  supervisor.commit('connections', 2, a, b);
  assert.deepEqual(await supervisor.news(), ['contact', a, '']);
  assert.deepEqual(await supervisor.news(), ['contact', b, '']);
  await waitFor('it is there', () => sockets.length === 1);
  sockets[0]?.write('the first bytes, of which init reads some');
  sockets[0]?.write('what a peer says after, which is not read');
  sockets[0]?.destroy();
  assert.deepEqual(await supervisor.news(), ['contact', a, 'EPIPE']);
});

onBench('init reports why it cannot connect, and follows no link', async (bench, t) => {
  const { supervisor } = await attend(bench);
  await serve(t, bench.path('peer'));
  writeFileSync(bench.path('file'), '');
  symlinkSync('peer', bench.path('link'));
  const paths = ['absent', 'file', 'link'].map(bench.path);
  supervisor.commit('connections', paths.length, ...paths);
  for (const path of paths) assert.deepEqual(await supervisor.news(), ['contact', path, 'ENOENT']);
});

onBench('a list replaces the one before, and leaves the connections that both have', async (bench, t) => {
  const { supervisor } = await attend(bench);
  const [a, b, c] = [bench.path('a'), bench.path('b'), bench.path('c')];
  const [kept, dropped] = [await serve(t, a), await serve(t, b)];
  await serve(t, c);
  supervisor.commit('connections', 2, a, b);
  await supervisor.news();
  await supervisor.news();
  await waitFor('both are there', () => kept.length === 1 && dropped.length === 1);
  supervisor.commit('connections', 2, c, a);
  assert.deepEqual(await supervisor.news(), ['contact', c, '']);
  await waitFor('one is closed', () => dropped[0]?.closed === true);
  supervisor.commit('connections', 3, a, b, c);
  assert.deepEqual(await supervisor.news(), ['contact', b, '']);
  assert.deepEqual([kept.length, kept[0]?.closed, dropped.length], [1, false, 2]);
});

onBench('a connection that is over comes back when a list without it and one with it have come', async (bench, t) => {
  const { supervisor } = await attend(bench);
  const path = bench.path('peer');
  const sockets = await serve(t, path);
  supervisor.commit('connections', 1, path);
  assert.deepEqual(await supervisor.news(), ['contact', path, '']);
  await waitFor('it is there', () => sockets.length === 1);
  sockets[0]?.destroy();
  assert.deepEqual(await supervisor.news(), ['contact', path, 'EPIPE']);
  supervisor.commit('connections', 1, path);
  supervisor.commit('connections', 2, path, bench.path('absent'));
  assert.deepEqual(await supervisor.news(), ['contact', bench.path('absent'), 'ENOENT']);
  supervisor.commit('connections', 0, 'connections', 1, path);
  assert.deepEqual(await supervisor.news(), ['contact', path, '']);
});

onBench('the next supervisor finds the connections of one that was killed', async (bench, t) => {
  const { init, supervisor } = await attend(bench);
  const [a, b, gone] = [bench.path('a'), bench.path('b'), bench.path('gone')];
  const [first, second, third] = [await serve(t, a), await serve(t, b), await serve(t, gone)];
  supervisor.commit('connections', 3, a, b, gone);
  await waitFor('all are there', () => [first, second, third].every(({ length }) => length === 1));
  await supervisor.kill();
  third[0]?.destroy();
  const next = await init.supervisor();
  // Its list grows.
  next.commit('connections', 1, b);
  assert.deepEqual(await next.news(), ['contact', b, '']);
  next.commit('connections', 3, a, b, gone);
  assert.deepEqual(await next.news(), ['contact', a, '']);
  assert.deepEqual(await next.news(), ['contact', gone, '']);
  await waitFor('it is there again', () => third.length === 2);
  assert.deepEqual([first.length, second.length], [1, 1]);
});

onBench('a place is free again after 256 connections have ended or failed', async (bench, t) => {
  const { init, supervisor } = await attend(bench);
  await serve(t, bench.path('peer'));
  const paths = Array.from({ length: 256 }, (_, n) => bench.path(`absent${n}`));
  const last = bench.path('peer');
  supervisor.commit('connections', 256, ...paths, 'connections', 256, last, ...paths.slice(1));
  for (let news = await supervisor.news(); news[1] !== last; ) news = await supervisor.news();
  await supervisor.kill();
  const next = await init.supervisor();
  next.commit('connections', 256, ...paths.slice(1), last);
  for (let news = await next.news(); news[1] !== last; ) news = await next.news();
});

async function serve(t: TestContext, path: string): Promise<readonly Socket[]> {
  const sockets: Socket[] = [];
  const server = createServer((socket) => sockets.push(socket.on('error', () => {}).resume()));
  await new Promise<void>((resolve) => server.listen(path, resolve));
  t.after(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return sockets;
}
