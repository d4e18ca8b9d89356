/** Circles of imports. Imports of types count: two files that know each other's types cannot be read apart. */
import { posix } from 'node:path';

export type Sources = ReadonlyMap<string, string>;

/** Each circle once, as the sorted paths of its files. A circle is a largest set of files that all reach each other. */
export function importCircles(sources: Sources): readonly (readonly string[])[] {
  const imported = new Map([...sources].map(([path, text]) => [path, importsOf(path, text, sources)]));
  const reached = new Map([...sources.keys()].map((path) => [path, reachableFrom(path, imported)]));
  const circles = [...sources.keys()].map((path) =>
    [...(reached.get(path) ?? [])].filter((other) => reached.get(other)?.has(path)).sort(),
  );
  return [...new Map(circles.filter(({ length }) => length > 0).map((circle) => [circle.join(), circle])).values()];
}

/** `import .. from './x.ts'`, `export .. from './x.ts'`, `import './x.ts'`, `import('./x.ts')`. */
function importsOf(path: string, text: string, sources: Sources): readonly string[] {
  const specifiers = text.matchAll(
    /^(?:import|export)\s(?:[^'";]*\sfrom\s)?'(\.[^']*)'|\bimport\(\s*'(\.[^']*)'\s*\)/gm,
  );
  const paths = [...specifiers].map(([, plain, dynamic = '']) => posix.join(posix.dirname(path), plain ?? dynamic));
  return paths.filter((it) => sources.has(it));
}

function reachableFrom(path: string, imported: ReadonlyMap<string, readonly string[]>): ReadonlySet<string> {
  const reached = new Set<string>();
  const next = [...(imported.get(path) ?? [])];
  for (let file = next.pop(); file !== undefined; file = next.pop()) {
    if (reached.has(file)) continue;
    reached.add(file);
    next.push(...(imported.get(file) ?? []));
  }
  return reached;
}
