/**
 * Collects garbage while the supervisor has little to do: once the garbage of start-up, and later that of probes. V8
 * collects when it needs room, and for so small a heap it would rather take more memory from the container.
 */
/** By then the supervisor has started. */
const FIRST_AFTER_MS = 1_000;
const CHECK_EVERY_MS = 10_000;
/** A full collection takes some milliseconds. */
const WORTH_BYTES = 4 * 1024 * 1024;

export function collectGarbageWhenIdle(): void {
  const { getHeapStatistics } = process.getBuiltinModule('node:v8');
  const used = (): number => getHeapStatistics().used_heap_size;
  setTimeout(() => {
    const collect = collector();
    collect();
    let least = used();
    setInterval(() => {
      if (used() - least < WORTH_BYTES) return;
      collect();
      least = used();
    }, CHECK_EVERY_MS).unref();
  }, FIRST_AFTER_MS).unref();
}

function collector(): () => void {
  const { setFlagsFromString } = process.getBuiltinModule('node:v8');
  const { runInNewContext } = process.getBuiltinModule('node:vm');
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as (options: object) => void;
  setFlagsFromString('--no-expose-gc');
  return () => collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
}
