/**
 * The files of an image, as its layers make them one on the other: names and links, no contents. Paths are followed as a container would
 * follow them.
 *
 * Layers: github.com/opencontainers/image-spec, layer.md.
 */
import type { TarEntry } from './tar.ts';

export interface Directory {
  readonly kind: 'directory';
  readonly children: Map<string, Node>;
}

export interface File {
  readonly kind: 'file';
  /** All that hard links have given it. */
  readonly names: Set<string>;
  /** The layer that has its content, and its name there. */
  readonly layer: number;
  readonly entry: string;
}

interface Link {
  readonly kind: 'link';
  readonly target: string;
}

type Node = Directory | File | Link;

export interface Found {
  /** Without links. */
  readonly path: string;
  readonly file: File;
}

export function emptyRoot(): Directory {
  return { kind: 'directory', children: new Map() };
}

const WHITEOUT = '.wh.';
const OPAQUE = '.wh..wh..opq';

/** What a layer takes away is of the layers below, wherever in the layer that stands. */
export function addLayer(root: Directory, layer: number, entries: readonly TarEntry[]): void {
  for (const entry of entries) {
    const { parent, name } = placeOf(entry.name);
    if (!name.startsWith(WHITEOUT)) continue;
    const directory = directoryAt(root, parent, false);
    if (name === OPAQUE) directory?.children.clear();
    else directory?.children.delete(name.slice(WHITEOUT.length));
  }
  for (const entry of entries) addEntry(root, layer, entry);
}

function addEntry(root: Directory, layer: number, entry: TarEntry): void {
  const { parent, name } = placeOf(entry.name);
  if (name === '' || name.startsWith(WHITEOUT)) return;
  const children = directoryAt(root, parent, true)?.children;
  if (children === undefined) return;
  switch (entry.kind) {
    case 'directory':
      if (children.get(name)?.kind !== 'directory') children.set(name, emptyRoot());
      return;
    case 'symlink':
      return void children.set(name, { kind: 'link', target: entry.target });
    case 'hardlink': {
      const other = placeOf(entry.target);
      const node = directoryAt(root, other.parent, false)?.children.get(other.name);
      if (node?.kind === 'file') node.names.add(name);
      if (node !== undefined) children.set(name, node);
      return;
    }
    case 'file':
      return void children.set(name, { kind: 'file', names: new Set([name]), layer, entry: entry.name });
    default:
      // A device or a pipe is no program.
      return void children.delete(name);
  }
}

/** The file that a path leads to; undefined: none. */
export function fileAt(root: Directory, path: string): Found | undefined {
  const found = follow(root, partsOf(path));
  if (found?.node.kind !== 'file') return undefined;
  return { path: `/${found.parts.join('/')}`, file: found.node };
}

function directoryAt(root: Directory, parts: readonly string[], isMade: boolean): Directory | undefined {
  const found = follow(root, parts, isMade);
  return found?.node.kind === 'directory' ? found.node : undefined;
}

/** As many links in one path as the kernel follows: path_resolution(7). */
const MAX_LINKS = 40;

interface Followed {
  readonly node: Directory | File;
  readonly parts: readonly string[];
}

function follow(root: Directory, path: readonly string[], isMade = false): Followed | undefined {
  let left = [...path];
  let stack: readonly { readonly name: string; readonly node: Directory }[] = [];
  let links = 0;
  for (;;) {
    const here = stack.at(-1)?.node ?? root;
    const [name, ...rest] = left;
    if (name === undefined) return { node: here, parts: stack.map((one) => one.name) };
    left = rest;
    if (name === '.' || name === '') continue;
    if (name === '..') {
      stack = stack.slice(0, -1);
      continue;
    }
    let node = here.children.get(name);
    if (node === undefined && isMade) {
      node = emptyRoot();
      here.children.set(name, node);
    }
    if (node?.kind === 'link') {
      links += 1;
      if (links > MAX_LINKS) return undefined;
      if (node.target.startsWith('/')) stack = [];
      left = [...node.target.split('/'), ...left];
    } else if (node?.kind === 'directory') stack = [...stack, { name, node }];
    else if (node?.kind === 'file' && left.length === 0)
      return { node, parts: [...stack.map((one) => one.name), name] };
    else return undefined;
  }
}

/** A name does not lead out of the image. */
function placeOf(name: string): { readonly parent: readonly string[]; readonly name: string } {
  const parts = partsOf(name);
  return { parent: parts.slice(0, -1), name: parts.at(-1) ?? '' };
}

function partsOf(path: string): readonly string[] {
  const parts: string[] = [];
  for (const part of path.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '' && part !== '.') parts.push(part);
  }
  return parts;
}
