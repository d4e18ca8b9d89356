/**
 * What start-up left behind is given back once: V8 would keep it for as long as nothing happens, which is nearly for ever.
 */

/** When start-up's garbage is worth one full collection: nothing happens any more. */
const REST_AFTER_MS = 1_000;

export function rest(): void {
  setTimeout(() => {
    const { setFlagsFromString } = process.getBuiltinModule('node:v8');
    const { runInNewContext } = process.getBuiltinModule('node:vm');
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as (options: object) => void;
    setFlagsFromString('--no-expose-gc');
    collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
  }, REST_AFTER_MS).unref();
}
