/**
 * The inputs of a check: files, directories and standard input.
 */
import { isUtf8 } from 'node:buffer';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Input, isDockerfileName, type Unreadable } from './input/texts.ts';

/** More is no manifest. */
export const MAX_INPUT_BYTES = 64 * 1024 * 1024;
/** Directories in which nobody keeps manifests of their own. */
const PASSED_OVER: ReadonlySet<string> = new Set(['node_modules', '.git', '.terraform', '.cache']);

export interface Collected {
  readonly inputs: readonly Input[];
  readonly unreadable: readonly Unreadable[];
}

/**
 * A file that is named is read whatever its name; of a directory YAML, Dockerfiles, Containerfiles, and JSON that says of
 * which kind it is.
 */
export function collect(paths: readonly string[], readStdin: () => Buffer): Collected {
  const inputs: Input[] = [];
  const unreadable: Unreadable[] = [];
  for (const path of paths) {
    if (path === '-') add('-', readStdin);
    else visit(plain(path), true);
  }
  return { inputs, unreadable };

  function visit(path: string, isNamed: boolean): void {
    let isDirectory: boolean;
    try {
      const stat = statSync(path);
      isDirectory = stat.isDirectory();
      if (!isDirectory && !stat.isFile()) throw new Error('no regular file');
      if (stat.size > MAX_INPUT_BYTES) throw new Error(`larger than ${MAX_INPUT_BYTES} bytes`);
    } catch (error) {
      unreadable.push({ path, line: undefined, why: whyNot(error) });
      return;
    }
    if (!isDirectory) {
      const isWanted = (text: string): boolean => isNamed || !path.endsWith('.json') || /"kind"\s*:/.test(text);
      if (isNamed || isManifestName(path)) add(path, () => readFileSync(path), isWanted);
      return;
    }
    for (const entry of readdirSync(path, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1)))
      if (!PASSED_OVER.has(entry.name) && (entry.isDirectory() || entry.isFile())) visit(join(path, entry.name), false);
  }

  function add(path: string, read: () => Buffer, isWanted: (text: string) => boolean = () => true): void {
    try {
      const bytes = read();
      // Written back by --fix it would be another text.
      if (!isUtf8(bytes) || bytes.includes(0)) throw new Error('no text in UTF-8; save it as such');
      const text = bytes.toString('utf8');
      if (!isWanted(text)) return;
      const readBeside = (name: string): string | undefined => {
        const beside = join(dirname(path), name);
        return statSync(beside, { throwIfNoEntry: false })?.isFile() === true
          ? readFileSync(beside, 'utf8')
          : undefined;
      };
      inputs.push({ path, text, readBeside });
    } catch (error) {
      unreadable.push({ path, line: undefined, why: whyNot(error) });
    }
  }
}

/** Without what says nothing: `./a.yaml` is `a.yaml`, as consumers of findings want it, and `dir/` is `dir`. */
function plain(path: string): string {
  const bare = path.replace(/(.)\/+$/, '$1').replace(/^(\.\/+)+(?=.)/, '');
  // That is standard input.
  return bare === '-' ? './-' : bare;
}

function isManifestName(path: string): boolean {
  return /\.(ya?ml|json)$/.test(path) || isDockerfileName(path);
}

function whyNot(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT') return 'no such file or directory';
  return code === 'EACCES' ? 'permission denied' : message;
}
