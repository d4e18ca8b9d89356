/**
 * Values of a YAML or JSON text that know where they stand: what findings point at and fixes replace. Aliases are
 * followed and merge keys are merged, so a rule sees what Kubernetes sees, at the place where it was written.
 */
import { Composer, type Document, isAlias, isMap, isScalar, isSeq, type Node, Parser, type YAMLError } from 'yaml';

export interface Range {
  readonly start: number;
  readonly end: number;
}

export interface LocatedMap extends Range {
  readonly kind: 'map';
  readonly isFlow: boolean;
  readonly entries: ReadonlyMap<string, Entry>;
}

export interface Entry {
  readonly key: Range;
  readonly value: Located;
}

export interface LocatedList extends Range {
  readonly kind: 'list';
  readonly isFlow: boolean;
  readonly items: readonly Located[];
}

export interface LocatedScalar extends Range {
  readonly kind: 'scalar';
  readonly value: string | number | boolean | null;
  /** Its text, also of what is no string. */
  readonly text: string;
}

export type Located = LocatedMap | LocatedList | LocatedScalar;

export interface Parsed {
  readonly roots: readonly Located[];
  readonly problems: readonly { readonly offset: number; readonly why: string }[];
}

/** JSON is read as the YAML that it is. A document with a mistake is a problem; the others are read all the same. */
export function parseLocated(text: string, onDocument?: () => void): Parsed {
  // kubectl reads YAML 1.1.
  const options = { version: '1.1', merge: true, logLevel: 'silent', uniqueKeys: false, prettyErrors: false } as const;
  const documents: Document.Parsed[] = [];
  for (const document of new Composer(options).compose(new Parser().parse(text))) {
    documents.push(document);
    onDocument?.();
  }
  const problems = documents.flatMap(({ errors: [error] }) =>
    error === undefined ? [] : [{ offset: error.pos[0], why: whyNot(error) }],
  );
  const sound = documents.filter(({ errors }) => errors.length === 0);
  return { roots: sound.flatMap((document) => locate(document) ?? []), problems };
}

function whyNot({ code, message }: YAMLError): string {
  return code === 'RESOURCE_EXHAUSTION' ? 'it is nested too deeply' : `not YAML: ${message.split('\n')[0]}`;
}

/** Deeper than any manifest; what is below is left out. */
const MAX_DEPTH = 100;

function locate(document: Document): Located | undefined {
  const anchors = new Map<string, Node>();
  const known = new Map<Node, Located>();
  return of(document.contents as Node | null, 0);

  function of(node: Node | null | undefined, depth: number): Located | undefined {
    if (node === null || node === undefined || depth > MAX_DEPTH) return undefined;
    if (isAlias(node)) {
      const target = anchors.get(node.source);
      // An anchor is known once it is read, so one that holds itself is not.
      return target === undefined ? undefined : known.get(target);
    }
    const located = fresh(node, depth);
    if (located === undefined) return undefined;
    known.set(node, located);
    const { anchor } = node as { anchor?: string };
    if (anchor !== undefined) anchors.set(anchor, node);
    return located;
  }

  function fresh(node: Node, depth: number): Located | undefined {
    const [start = 0, end = 0] = node.range ?? [];
    if (isScalar(node)) {
      const value = scalarOf(node.value);
      const text = typeof value === 'string' ? value : (node.source ?? String(value));
      return { kind: 'scalar', start, end, value, text };
    }
    if (isSeq(node)) {
      const items = node.items.flatMap((item) => of(item as Node, depth + 1) ?? []);
      return { kind: 'list', start, end, items, isFlow: node.flow === true };
    }
    if (!isMap(node)) return undefined;
    const own = new Map<string, Entry>();
    const merged = new Map<string, Entry>();
    for (const pair of node.items) {
      const key = pair.key as Node | null;
      if (!isScalar(key)) continue;
      const [from = 0, to = end] = key.range ?? [];
      const nothing = { kind: 'scalar', start: to, end: to, value: null, text: '' } as const;
      const value = of(pair.value as Node, depth + 1) ?? nothing;
      if (key.source === '<<' || key.value === '<<') {
        for (const part of value.kind === 'list' ? value.items : [value])
          if (part.kind === 'map')
            for (const [name, entry] of part.entries) if (!merged.has(name)) merged.set(name, entry);
        continue;
      }
      own.set(key.source ?? String(key.value), { key: { start: from, end: to }, value });
    }
    return { kind: 'map', start, end, entries: new Map([...merged, ...own]), isFlow: node.flow === true };
  }
}

function scalarOf(value: unknown): LocatedScalar['value'] {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' || value === null)
    return value;
  return typeof value === 'bigint' ? Number(value) : String(value);
}

type Path = readonly (string | number)[];

export function at(from: Located | undefined, ...path: Path): Located | undefined {
  let found = from;
  for (const step of path) {
    if (found?.kind === 'map' && typeof step === 'string') found = found.entries.get(step)?.value;
    else if (found?.kind === 'list' && typeof step === 'number') found = found.items[step];
    else return undefined;
  }
  return found;
}

/** A number that is written as a text is a text too. */
export function textAt(from: Located | undefined, ...path: Path): string | undefined {
  const found = at(from, ...path);
  return found?.kind === 'scalar' && found.value !== null ? found.text : undefined;
}

export function wholeAt(from: Located | undefined, ...path: Path): number | undefined {
  const found = at(from, ...path);
  return found?.kind === 'scalar' && typeof found.value === 'number' && Number.isInteger(found.value)
    ? found.value
    : undefined;
}

export function isTrueAt(from: Located | undefined, ...path: Path): boolean {
  const found = at(from, ...path);
  return found?.kind === 'scalar' && found.value === true;
}

export function itemsAt(from: Located | undefined, ...path: Path): readonly Located[] {
  const found = at(from, ...path);
  return found?.kind === 'list' ? found.items : [];
}

export function entriesAt(from: Located | undefined, ...path: Path): ReadonlyMap<string, Entry> {
  const found = at(from, ...path);
  return found?.kind === 'map' ? found.entries : new Map();
}

export function textsAt(from: Located | undefined, ...path: Path): ReadonlyMap<string, string> {
  return textsOf([...entriesAt(from, ...path)]);
}

export function textsOf(entries: readonly (readonly [name: string, entry: Entry])[]): ReadonlyMap<string, string> {
  return new Map(entries.flatMap(([key, { value }]) => (value.kind === 'scalar' ? [[key, value.text] as const] : [])));
}

/** All its items, if they are scalars; undefined: it is not there. */
export function wordsAt(from: Located | undefined, ...path: Path): readonly string[] | undefined {
  const found = at(from, ...path);
  if (found?.kind !== 'list') return undefined;
  return found.items.map((item) => (item.kind === 'scalar' ? item.text : ''));
}
