/**
 * Texts that are deployed together: those of one kustomization with its resources, components and patches, of one Helm
 * chart, else of one directory. A repository may hold several variants of one manifest, which never meet.
 */
import { posix } from 'node:path';
import { itemsAt, type Located, textAt } from './located.ts';
import type { Source } from './source.ts';

export interface Root {
  readonly source: Source;
  readonly root: Located;
}

export type IsTogether = (a: Source, b: Source) => boolean;

export function togetherIn(roots: readonly Root[]): IsTogether {
  const kustomizations = new Map<string, Root>();
  const charts = new Set<string>();
  for (const one of roots) {
    const { dir, base } = posix.parse(one.source.path);
    if (/^kustomization\.ya?ml$/.test(base)) kustomizations.set(dir, one);
    if (base === 'Chart.yaml') charts.add(dir);
  }
  /** The directories of the kustomizations that reach a path. */
  const reached = new Map<string, Set<string>>();
  for (const top of kustomizations.keys()) reach(top, top, new Set());
  const groups = new Map<Source, ReadonlySet<string>>();
  return (a, b) => a === b || [...groupsOf(a)].some((group) => groupsOf(b).has(group));

  function reach(path: string, top: string, seen: Set<string>): void {
    if (seen.has(path)) return;
    seen.add(path);
    reached.set(path, (reached.get(path) ?? new Set()).add(top));
    const root = kustomizations.get(path)?.root;
    const named = ['resources', 'bases', 'components', 'patchesStrategicMerge'].flatMap((key) => itemsAt(root, key));
    const patches = itemsAt(root, 'patches').map((patch) => textAt(patch, 'path'));
    for (const text of [...named.map((one) => textAt(one)), ...patches])
      if (text !== undefined) reach(posix.join(path, text).replace(/\/$/, ''), top, seen);
  }

  function groupsOf(source: Source): ReadonlySet<string> {
    const known = groups.get(source) ?? reached.get(posix.normalize(source.path)) ?? new Set([placeOf(source)]);
    groups.set(source, known);
    return known;
  }

  /** The outermost chart around it, else its directory. */
  function placeOf({ path }: Source): string {
    const own = posix.dirname(path);
    let place = own;
    for (let at = own; ; at = posix.dirname(at)) {
      if (charts.has(at === '.' ? '' : at)) place = at;
      if (posix.dirname(at) === at) return `in ${place}`;
    }
  }
}
