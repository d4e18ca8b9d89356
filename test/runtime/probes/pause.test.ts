/** A pause of this process (docker pause, CPU limit) does not pause the server: only its answers by then count. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { type TestContext, test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { NetworkTasks } from '../../../src/runtime/probes/network-tasks.ts';
import { type ActionEnd, startAction } from '../../../src/runtime/probes/probe.ts';
import { within } from '../../helpers/wait.ts';
import type { AnsweringData } from './answering.ts';
import { failed, httpAction, listen, ok, rawServer } from './servers.ts';

const ANSWER = 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n';

/** Nothing of this thread goes on meanwhile. */
function standStill(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

/** `asked`: the request is there, but no answer. `answer` lets it answer while this thread stands still. */
async function answering(t: TestContext) {
  const cells = new Int32Array(new SharedArrayBuffer(8));
  const workerData: AnsweringData = { answer: ANSWER, cells };
  const worker = new Worker(new URL('./answering.ts', import.meta.url), { workerData });
  t.after(() => worker.terminate());
  const [{ port }] = (await once(worker, 'message')) as [AddressInfo];
  const answer = (): void => {
    Atomics.store(cells, 0, 1);
    Atomics.notify(cells, 0);
    assert.notEqual(Atomics.wait(cells, 1, 0, 30_000), 'timed-out', 'the server has not answered');
  };
  return { port, asked: once(worker, 'message'), answer };
}

test('an answer that came while this process stood still counts, though the timer fires first', async (t) => {
  // On a slow machine the time may be over before the request is there. That shows nothing, so a longer one follows.
  for (const timeoutMs of [300, 2_000, 10_000]) {
    const server = await answering(t);
    let isOver = false;
    const ended = new Promise<ActionEnd>((onEnd) => startAction(httpAction(server.port), { timeoutMs, onEnd }));
    void ended.then(() => {
      isOver = true;
    });
    await within('the request', server.asked);
    if (isOver) continue;
    server.answer();
    standStill(timeoutMs + 300);
    return assert.deepEqual(await within('the end', ended), ok('status 200'));
  }
  assert.fail('this machine is too slow');
});

test('a connection that was accepted while this process stood still counts', async (t) => {
  const port = await listen(t, createServer());
  const ended = new Promise<ActionEnd>((onEnd) =>
    startAction({ kind: 'tcp', host: '127.0.0.1', port }, { timeoutMs: 300, onEnd }),
  );
  // The connection is requested in the next tick; the kernel accepts it while this process stands still.
  process.nextTick(standStill, 600);
  assert.deepEqual(await within('the end', ended), ok('connected'));
});

test('a server that does not answer while this process stands still has timed out', async (t) => {
  const port = await rawServer(t, '');
  const ended = new Promise<ActionEnd>((onEnd) => startAction(httpAction(port), { timeoutMs: 300, onEnd }));
  process.nextTick(standStill, 600);
  assert.deepEqual(await within('the end', ended), failed('timed out after 300ms'));
});

test('an ended task takes what has arrived first', async (t) => {
  const server = await answering(t);
  const ended = Promise.withResolvers<ActionEnd>();
  const tasks = new NetworkTasks((id, end) => {
    assert.equal(id, 1);
    ended.resolve(end);
  });
  void tasks.start(1, httpAction(server.port), 40_000);
  await within('the request', server.asked);
  server.answer();
  tasks.end(1);
  assert.deepEqual(await within('the end', ended.promise), ok('status 200'));
});

test('a task that is ended without an answer, or before it has begun, has timed out', async (t) => {
  const port = await rawServer(t, '');
  const ends: [number, string][] = [];
  const both = Promise.withResolvers<void>();
  const tasks = new NetworkTasks((id, end) => {
    assert.equal(end.ok, false);
    ends.push([id, end.detail]);
    if (ends.length === 2) both.resolve();
  });
  await tasks.start(1, httpAction(port), 30_000);
  void tasks.start(2, httpAction(port), 30_000);
  tasks.end(1);
  tasks.end(2);
  // Never at once: the caller is in the middle of an event.
  assert.deepEqual(ends, []);
  await within('both ends', both.promise);
  assert.deepEqual(ends.toSorted(), [
    [1, 'timed out after 30s'],
    [2, 'timed out after 30s'],
  ]);
});
