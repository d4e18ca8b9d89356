/**
 * `node --random-seed=1 make-cache.ts DIRECTORY`: writes `run.cache` for the `run.cjs` in that directory.
 *
 * The same bundle must give the same bytes on every machine, so nothing is run: what V8 has compiled by the end of a
 * run depends on the run's timing. All functions are compiled instead, which made the cache half as large again and the
 * start no slower. `--no-lazy` is taken back before the cache is made, because V8 refuses one made under other flags;
 * `--random-seed` is the one flag that it lets differ, and the hashes of strings, which it writes into the cache,
 * follow from it.
 */
import { writeFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { compileBundle, readMark } from './launcher/bundle.ts';

const [directory = ''] = process.argv.slice(2);
setFlagsFromString('--no-lazy');
// The name is written into the cache, and replaced by that of the real file when the cache is used.
const script = compileBundle(directory, 'run.cjs');
setFlagsFromString('--lazy');
writeFileSync(`${directory}/run.cache`, Buffer.concat([readMark(directory), script.createCachedData()]));
