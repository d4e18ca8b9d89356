/** Circles of imports. Imports of types count: two files that know each other's types cannot be read apart. */
import { posix } from 'node:path';

export type Sources = ReadonlyMap<string, string>;

type Arrows = ReadonlyMap<string, ReadonlySet<string>>;

/** Each circle once, as the sorted paths of its files. A circle is a largest set of files that all reach each other. */
export function importCircles(sources: Sources): readonly (readonly string[])[] {
  return circlesOf(new Map([...sources].map(([path, text]) => [path, importsOf(path, text, sources)])));
}

/** The same for what stands side by side in one folder: its files, and each folder in it as a whole. */
export function roomCircles(sources: Sources): readonly (readonly string[])[] {
  const imports = [...sources].flatMap(([path, text]) => [...importsOf(path, text, sources)].map((to) => [path, to]));
  const rooms = new Map<string, Set<string>>();
  for (const [from = '', to = ''] of imports) {
    const [one, other] = [from.split('/'), to.split('/')];
    const depth = one.findIndex((part, at) => part !== other[at]);
    const room = one.slice(0, depth + 1).join('/');
    rooms.set(room, (rooms.get(room) ?? new Set()).add(other.slice(0, depth + 1).join('/')));
  }
  return circlesOf(rooms);
}

function circlesOf(arrows: Arrows): readonly (readonly string[])[] {
  const reached = new Map([...arrows.keys()].map((path) => [path, reachableFrom(path, arrows)]));
  const circles = [...arrows.keys()].map((path) =>
    [...(reached.get(path) ?? [])].filter((other) => reached.get(other)?.has(path)).sort(),
  );
  return [...new Map(circles.filter(({ length }) => length > 0).map((circle) => [circle.join(), circle])).values()];
}

/** `import .. from './x.ts'`, `export .. from './x.ts'`, `import './x.ts'`, `import('./x.ts')`. */
function importsOf(path: string, text: string, sources: Sources): ReadonlySet<string> {
  const specifiers = text.matchAll(
    /^(?:import|export)\s(?:[^'";]*\sfrom\s)?'(\.[^']*)'|\bimport\(\s*'(\.[^']*)'\s*\)/gm,
  );
  const paths = [...specifiers].map(([, plain, dynamic = '']) => posix.join(posix.dirname(path), plain ?? dynamic));
  return new Set(paths.filter((it) => sources.has(it)));
}

function reachableFrom(path: string, imported: Arrows): ReadonlySet<string> {
  const reached = new Set<string>();
  const next = [...(imported.get(path) ?? [])];
  for (let file = next.pop(); file !== undefined; file = next.pop()) {
    if (reached.has(file)) continue;
    reached.add(file);
    next.push(...(imported.get(file) ?? []));
  }
  return reached;
}
