/**
 * `node --random-seed=1 make-cache.ts DIRECTORY`: writes `run.cache` for the `run.cjs` in that directory.
 *
 * The same bundle must give the same bytes on every machine. What V8 has compiled by the end of a run depends on the
 * run's timing, so nothing is run. All functions are compiled instead: the cache is half as large again, and the start
 * no slower. `--no-lazy` is taken back before the cache is written, because V8 refuses a cache that belongs to other
 * flags. Only `--random-seed` may differ. It determines the hashes of strings in the cache, so it is fixed.
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
