/** A thread that serves on while the main thread stands still: answers once the gate is open, and says when it has. */
import { createServer } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';

export interface AnsweringData {
  readonly answer: string;
  /** Two cells: the gate, and whether it was answered. */
  readonly cells: Int32Array;
}

const { answer, cells } = workerData as AnsweringData;

createServer((socket) => {
  socket.on('error', () => {});
  socket.once('data', () => {
    parentPort?.postMessage('asked');
    Atomics.wait(cells, 0, 0);
    socket.write(answer, () => {
      Atomics.store(cells, 1, 1);
      Atomics.notify(cells, 1);
    });
  });
}).listen(0, '127.0.0.1', function (this: ReturnType<typeof createServer>) {
  parentPort?.postMessage(this.address());
});
