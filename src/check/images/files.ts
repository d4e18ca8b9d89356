/**
 * What the files of an image say: which shell /bin/sh is, and which programs of hooks there are.
 */
import { HOOK_PROGRAMS, type Shell } from '../stop/images.ts';
import { type Blobs, ImageError, unpacked } from './blobs.ts';
import { DamagedError } from './bytes.ts';
import { addLayer, type Directory, emptyRoot, type Found, fileAt } from './root.ts';
import { entriesOf, type TarEntry } from './tar.ts';

export interface FileFacts {
  /** undefined: it is another one. */
  readonly shell: Shell | undefined;
  /** Those of `HOOK_PROGRAMS`, sorted. */
  readonly programs: readonly string[];
}

/** What container runtimes set where the image has none. */
const DEFAULT_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** `layers`: the lowest first. `path`: the variable PATH of the image. */
export async function fileFacts(blobs: Blobs, layers: readonly string[], path = DEFAULT_PATH): Promise<FileFacts> {
  const root = emptyRoot();
  for (const [index, layer] of layers.entries()) {
    const entries: TarEntry[] = [];
    for await (const entry of layerEntries(blobs, layer)) entries.push(entry);
    addLayer(root, index, entries);
  }
  const sh = fileAt(root, '/bin/sh') ?? inPath(root, path, 'sh');
  return {
    shell: sh === undefined ? 'none' : (shellByName(sh) ?? (await shellByContent(blobs, layers, sh))),
    programs: HOOK_PROGRAMS.filter((name) => inPath(root, path, name) !== undefined),
  };
}

function inPath(root: Directory, path: string, name: string): Found | undefined {
  for (const directory of path.split(':')) {
    const found = directory.startsWith('/') ? fileAt(root, `${directory}/${name}`) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

const NAMED: readonly Shell[] = ['busybox', 'dash', 'bash'];

/** By the file that the links end at, also by hard ones: in the image busybox they are all one file. */
function shellByName({ path, file }: Found): Shell | undefined {
  const names = [path.slice(path.lastIndexOf('/') + 1), ...file.names];
  return NAMED.find((shell) => names.some((name) => name === shell || name.startsWith(`${shell}.`)));
}

/** What these programs print as their version. A copy has lost its name. */
const MARKS: readonly (readonly [string, Shell])[] = [
  ['BusyBox v', 'busybox'],
  ['GNU bash, version', 'bash'],
];
/** Larger than any shell. */
const MAX_SHELL_BYTES = 32 << 20;

async function shellByContent(blobs: Blobs, layers: readonly string[], { file }: Found): Promise<Shell | undefined> {
  const layer = layers[file.layer] ?? '';
  const isIt = ({ name, kind, size }: Omit<TarEntry, 'content'>): boolean =>
    kind === 'file' && name === file.entry && size <= MAX_SHELL_BYTES;
  for await (const { content } of layerEntries(blobs, layer, isIt))
    if (content !== undefined) return MARKS.find(([mark]) => content.includes(mark))?.[1];
  return undefined;
}

async function* layerEntries(
  blobs: Blobs,
  layer: string,
  wants?: Parameters<typeof entriesOf>[1],
): AsyncGenerator<TarEntry> {
  try {
    yield* entriesOf(unpacked(blobs.open(layer)), wants);
  } catch (error) {
    if (error instanceof DamagedError)
      throw new ImageError(`the layer ${layer}: ${error.message}; save the image again`);
    const { code = '' } = error as NodeJS.ErrnoException;
    if (/^Z_|^ZSTD_|^ERR_ZSTD/.test(code))
      throw new ImageError(`the layer ${layer} cannot be decompressed (${code}); save the image again`);
    throw error;
  }
}
