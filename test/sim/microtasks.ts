/**
 * Promises in virtual time: what the runtime awaits is settled by entries of the agenda, and what follows from it runs
 * before the next entry. Node settles promises only between its own macrotasks, and so asks for this each time.
 */
import { setFlagsFromString } from 'node:v8';

setFlagsFromString('--allow-natives-syntax');

/** Runs what is due of all promises. It does so only in a macrotask, neither in a promise nor while a module loads. */
export const settlePromises = new Function('%PerformMicrotaskCheckpoint()') as () => void;

/** Runs this in a macrotask. What a promise rejects with and nobody takes goes to `onRejected` before this resolves. */
export function inMacrotask(does: () => void, onRejected: (reason: unknown) => void): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(() => {
      process.on('unhandledRejection', onRejected);
      does();
      // Node reports rejections at the end of this turn.
      setImmediate(() => {
        process.off('unhandledRejection', onRejected);
        resolve();
      });
    });
  });
}
