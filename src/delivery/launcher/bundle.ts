/**
 * The delivered bundle, `run.cjs`, and its V8 code cache, `run.cache`.
 *
 * The cache is only a matter of speed. Without it, or under another Node than the one that made it, V8 compiles the
 * source. V8 recognizes a stale cache by the length of the source alone. So both files begin with a line that names the
 * build. When these lines differ (half of an update), the cache is ignored.
 */
import { readFileSync } from 'node:fs';
import { Script } from 'node:vm';

/** Length of the mark: `//` and 30 hex digits. A multiple of 8, or V8 copies the cache to align it. */
const MARK_BYTES = 32;

type Body = (exports: object, require: NodeJS.Require, module: object, filename: string, directory: string) => void;

/** `filename`: what stack traces call it. */
export function compileBundle(directory: string, filename = `${directory}/run.cjs`): Script {
  // esbuild writes ASCII, which latin1 reads without a pass of decoding.
  const source = readFileSync(`${directory}/run.cjs`, 'latin1');
  const cachedData = readCache(`${directory}/run.cache`, source.slice(0, MARK_BYTES));
  return new Script(`(function(exports,require,module,__filename,__dirname){${source}\n})`, {
    filename,
    ...(cachedData && { cachedData }),
  });
}

export function enterBundle(script: Script, directory: string, requireFrom: NodeJS.Require): void {
  const module = { exports: {} };
  const body = script.runInThisContext() as Body;
  body(module.exports, requireFrom, module, `${directory}/run.cjs`, directory);
}

/** The line by which the bundle and its cache know each other. */
export function readMark(directory: string): Buffer {
  return readFileSync(`${directory}/run.cjs`).subarray(0, MARK_BYTES);
}

function readCache(path: string, mark: string): Buffer | undefined {
  try {
    const file = readFileSync(path);
    return file.toString('latin1', 0, MARK_BYTES) === mark ? file.subarray(MARK_BYTES) : undefined;
  } catch {
    return undefined;
  }
}
