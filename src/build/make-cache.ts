/**
 * Stands in the launcher's place while the build runs the bundle once: enters the bundle without a cache and writes one
 * when the process ends. V8 puts into a cache the functions that it has compiled by then, so what the run went
 * through needs no compiling later. Written now and then too, because init may KILL a supervisor as it leaves.
 */
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { compileBundle, enterBundle, MARK_BYTES } from '../cli/bundle.ts';

const INTERVAL_MS = 50;

const directory = import.meta.dirname;
const mark = readFileSync(`${directory}/run.cjs`).subarray(0, MARK_BYTES);
const script = compileBundle(directory);
process.on('exit', writeCache);
setInterval(writeCache, INTERVAL_MS).unref();
enterBundle(script, directory, require);

function writeCache(): void {
  writeFileSync(`${directory}/run.cache.tmp`, Buffer.concat([mark, script.createCachedData()]));
  renameSync(`${directory}/run.cache.tmp`, `${directory}/run.cache`);
}
