/** The inputs of a check: files, directories and standard input. */
import { isUtf8 } from 'node:buffer';
import { readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { whyNoFile } from '../text/errors.ts';
import type { Result } from './check.ts';
import { type Input, isDockerfileName, type Unreadable } from './input/texts.ts';

/** More is no manifest. */
export const MAX_INPUT_BYTES = 64 * 1024 * 1024;
/** Directories that hold no manifests of a project's own. */
const PASSED_OVER: ReadonlySet<string> = new Set(['node_modules', '.git', '.terraform', '.cache']);

/** `named`: each path as it was named, and the paths of all texts under it, readable or not. */
export type Collected = ReturnType<typeof collect>;

/**
 * A named file is read whatever its name. In a directory these are read: YAML, Dockerfiles, Containerfiles, and JSON
 * that states its kind. Links are followed, and each file is read once.
 */
export function collect(paths: readonly string[], readStdin: () => Buffer) {
  const inputs: Input[] = [];
  const unreadable: Unreadable[] = [];
  /** By the path without links: the path by which the file is an input; undefined: it is no input. */
  const taken = new Map<string, string | undefined>();
  const named = paths.map((given) => {
    const path = given === '-' ? given : plain(given);
    const texts = new Set<string>();
    if (given === '-') add(path, path, readStdin, texts);
    else visit(path, texts, undefined);
    return { path, texts };
  });
  return { inputs, unreadable, named };

  /** `visited`: the directories above it, and those that were read before, without links; undefined: the path is named. */
  function visit(path: string, texts: Set<string>, visited: Set<string> | undefined): void {
    const isWanted = visited === undefined || /\.(ya?ml|json)$/.test(path) || isDockerfileName(path);
    try {
      const stat = statSync(path);
      const real = realpathSync(path);
      if (stat.isDirectory()) {
        if (visited?.has(real) === true) return;
        const seen = (visited ?? new Set<string>()).add(real);
        const names = readdirSync(path).filter((name) => !PASSED_OVER.has(name));
        for (const name of names.sort()) visit(join(path, name), texts, seen);
      } else if (isWanted) {
        if (!stat.isFile()) throw new Error('no regular file');
        if (stat.size > MAX_INPUT_BYTES) throw new Error(`larger than ${MAX_INPUT_BYTES} bytes`);
        const needsKind = visited !== undefined && path.endsWith('.json');
        add(path, real, () => readFileSync(path), texts, needsKind);
      }
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (isWanted || (code !== 'ENOENT' && code !== 'ELOOP')) fail(path, error, texts);
    }
  }

  function add(path: string, real: string, read: () => Buffer, texts: Set<string>, needsKind = false): void {
    if (!taken.has(real)) {
      taken.set(real, path);
      try {
        const bytes = read();
        // Written back by --fix it would be another text.
        if (!isUtf8(bytes) || bytes.includes(0)) throw new Error('no text in UTF-8; save it as such');
        const text = bytes.toString('utf8');
        if (needsKind && !/"kind"\s*:/.test(text)) taken.set(real, undefined);
        else inputs.push({ path, text, readBeside: (name) => textOf(join(dirname(path), name)) });
      } catch (error) {
        fail(path, error, texts);
      }
    }
    const known = taken.get(real);
    if (known !== undefined) texts.add(known);
  }

  function fail(path: string, error: unknown, texts: Set<string>): void {
    unreadable.push({ path, line: undefined, why: whyNoFile(error) });
    texts.add(path);
  }
}

/** The named paths that hold nothing to check, and nothing that could not be read. */
export function withNothing(
  { named }: Collected,
  { objectless, unreadable, unchecked, checked }: Result,
): readonly Unreadable[] {
  const broken = new Set(unreadable.map(({ path }) => path));
  return named.flatMap(({ path, texts }) => {
    const all = [...texts];
    if (all.some((one) => checked.has(one) || broken.has(one))) return [];
    const pods = unchecked.filter((one) => texts.has(one.path));
    const whys = [...new Set(pods.map(({ why }) => why))].join('; ');
    if (whys !== '') return [{ path, line: undefined, why: `nothing was checked: ${whys}; ${ALLOW_EMPTY}` }];
    return all.every((one) => objectless.has(one)) ? [{ path, line: undefined, why: NOTHING }] : [];
  });
}

const ALLOW_EMPTY = 'pass it over with --allow-empty';
const NOTHING = `nothing to check in it; name manifests, Compose files or Dockerfiles, or ${ALLOW_EMPTY}`;

function textOf(path: string): string | undefined {
  try {
    return statSync(path).isFile() ? readFileSync(path, 'utf8') : undefined;
  } catch {
    return undefined;
  }
}

/** Without what says nothing: `./a.yaml` is `a.yaml`, as consumers of findings want it, and `dir/` is `dir`. */
function plain(path: string): string {
  const bare = path.replace(/(?<=[^/]|^\/)\/+$/, '').replace(/^(\.\/+)+(?=.)/, '');
  // That is standard input.
  return bare === '-' ? './-' : bare;
}
