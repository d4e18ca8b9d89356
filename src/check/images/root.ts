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

/** A directory of one layer by itself. */
interface Change {
  readonly kind: 'change';
  readonly children: Map<string, Change | File | Link | 'gone'>;
  /** It stands in the layer itself, and not only as a part of other paths. */
  isNamed: boolean;
  /** It hides what layers below have in it. */
  isOpaque: boolean;
}

/** Lays a layer on those before it. What it takes away is of these, wherever in the layer that stands. */
export function addLayer(root: Directory, layer: number, entries: readonly TarEntry[]): void {
  const top = newChange();
  for (const entry of entries) addEntry(root, top, layer, entry);
  merge(root, root, [], top);
}

function newChange(): Change {
  return { kind: 'change', children: new Map(), isNamed: false, isOpaque: false };
}

function addEntry(root: Directory, top: Change, layer: number, entry: TarEntry): void {
  const parts = partsOf(entry.name);
  const name = parts.at(-1) ?? '';
  const parent = changeAt(top, parts.slice(0, -1));
  if (parent === undefined || name === '') return;
  const { children } = parent;
  if (name === OPAQUE) {
    parent.isOpaque = true;
  } else if (name.startsWith(WHITEOUT)) {
    const hidden = name.slice(WHITEOUT.length);
    if (!children.has(hidden)) children.set(hidden, 'gone');
  } else if (entry.kind === 'directory') {
    const change = children.get(name);
    const same = isChange(change) ? change : newChange();
    same.isNamed = true;
    children.set(name, same);
  } else if (entry.kind === 'symlink') {
    children.set(name, { kind: 'link', target: entry.target });
  } else if (entry.kind === 'hardlink') {
    const file = ownFileAt(top, partsOf(entry.target)) ?? fileAt(root, entry.target)?.file;
    file?.names.add(name);
    children.set(name, file ?? 'gone');
  } else if (entry.kind === 'file') {
    children.set(name, { kind: 'file', names: new Set([name]), layer, entry: entry.name });
  } else {
    // A device or a pipe is no program.
    children.set(name, 'gone');
  }
}

function isChange(node: Change | File | Link | 'gone' | undefined): node is Change {
  return typeof node === 'object' && node.kind === 'change';
}

/** Makes those that are not there; undefined: something else is in their place. */
function changeAt(top: Change, parts: readonly string[]): Change | undefined {
  let here = top;
  for (const part of parts) {
    const next = here.children.get(part) ?? newChange();
    if (!isChange(next)) return undefined;
    here.children.set(part, next);
    here = next;
  }
  return here;
}

function ownFileAt(top: Change, parts: readonly string[]): File | undefined {
  const found = changeAt(top, parts.slice(0, -1))?.children.get(parts.at(-1) ?? '');
  return typeof found === 'object' && found.kind === 'file' ? found : undefined;
}

/** `path`: that of the directory `below`. */
function merge(root: Directory, below: Directory, path: readonly string[], change: Change): void {
  for (const [name, node] of change.children) {
    if (node === 'gone') below.children.delete(name);
    else if (isChange(node)) {
      const place = [...path, name];
      const old = below.children.get(name);
      // A layer that does not say otherwise goes through the links below it, as containerd unpacks it.
      const behind = old?.kind === 'link' && !node.isNamed ? follow(root, place)?.node : old;
      const same = behind?.kind === 'directory' && !node.isOpaque ? behind : emptyRoot();
      if (same !== behind) below.children.set(name, same);
      merge(root, same, place, node);
    } else below.children.set(name, node);
  }
}

/** The file that a path leads to; undefined: none. */
export function fileAt(root: Directory, path: string): Found | undefined {
  const found = follow(root, partsOf(path));
  if (found?.node.kind !== 'file') return undefined;
  return { path: `/${found.parts.join('/')}`, file: found.node };
}

/** As many links in one path as the kernel follows: path_resolution(7). */
const MAX_LINKS = 40;

interface Followed {
  readonly node: Directory | File;
  readonly parts: readonly string[];
}

function follow(root: Directory, path: readonly string[]): Followed | undefined {
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
    const node = here.children.get(name);
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
function partsOf(path: string): readonly string[] {
  const parts: string[] = [];
  for (const part of path.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '' && part !== '.') parts.push(part);
  }
  return parts;
}
