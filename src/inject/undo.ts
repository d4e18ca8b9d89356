/**
 * The annotation by which `sexton uninject` restores the bytes. It notes each inserted text by a node in it: how far
 * the text begins before that node, how long it is, and its digest. So edits elsewhere in the file do no harm, and a
 * text that somebody has changed is refused.
 */
import { createHash } from 'node:crypto';
import { type Data, insertKey, written } from '../check/edits.ts';
import type { Edit } from '../check/finding.ts';
import { at, entriesAt, type Located, textAt } from '../check/input/located.ts';
import type { Workload } from '../check/input/objects.ts';
import { trimmed } from '../check/input/source.ts';
import { UNDO } from './annotations.ts';
import { refuse } from './refusal.ts';

/** A text that was inserted; `back`: what of it stands before the node of the path. */
export interface Inserted {
  readonly path: string;
  readonly back: number;
  readonly text: string;
}

type Note = readonly [back: number, length: number, digest: string];

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 8);
}

/** The edit that adds the annotation, in the last place so that it can note all others. */
export function undoNote(
  { template, pod: { source } }: Workload,
  inserted: readonly Inserted[],
  version: string,
  shared: ReadonlySet<Located>,
): readonly Edit[] {
  const metadata = at(template, 'metadata');
  const annotations = at(metadata, 'annotations');
  if (shared.has(annotations ?? metadata ?? template))
    refuse("the pod's metadata is an alias, or what an alias or a merge key means; write it out");
  const edits = Object.fromEntries(
    inserted.map(({ path, back, text }) => [path, [back, text.length, digestOf(text)] satisfies Note]),
  );
  const editsFor = (own: Note): readonly Edit[] => {
    const value: Data = JSON.stringify({ version, own, edits });
    if (annotations?.kind === 'map') return insertKey(source, annotations, UNDO, value);
    if (metadata?.kind === 'map') return insertKey(source, metadata, 'annotations', { [UNDO]: value });
    return insertKey(source, template, 'metadata', { annotations: { [UNDO]: value } });
  };
  // What stands around the value does not depend on it.
  const [draft] = editsFor([0, 0, '']);
  if (draft === undefined)
    return refuse("the pod's metadata cannot be edited as it is written; write it as a plain map");
  const text = JSON.stringify({ version, own: [0, 0, ''], edits });
  const value = [true, false].map((isJson) => written(text, isJson)).find((one) => draft.text.includes(one)) ?? '';
  const back = draft.text.indexOf(value);
  const around = draft.text.slice(0, back) + draft.text.slice(back + value.length);
  return editsFor([back, around.length, digestOf(around)]);
}

/** What takes out all that was injected; throws a Refusal where it was changed since. */
export function undoEdits({ template, pod: { source, spec } }: Workload): readonly Edit[] {
  const note = entriesAt(template, 'metadata', 'annotations').get(UNDO)?.value;
  if (note === undefined) return [];
  const { own, edits } = noteOf(textAt(note) ?? '');
  const removed = Object.entries(edits).map(([path, [back, length, digest]]) => {
    const node = nodeAt(spec, path);
    const start = (node?.start ?? 0) - back;
    const text = source.text.slice(Math.max(0, start), Math.max(0, start + length));
    if (node === undefined || digestOf(text) !== digest) return changed(path);
    return { source, start, end: start + length, text: '' };
  });
  const value = trimmed(source, note);
  const start = value.start - own[0];
  const end = value.end + own[1] - own[0];
  const around = source.text.slice(start, value.start) + source.text.slice(value.end, end);
  if (digestOf(around) !== own[2]) changed(UNDO);
  return [...removed, { source, start, end, text: '' }];
}

function changed(path: string): never {
  return refuse(`${path} was changed since sexton inject wrote it; take sexton out by hand, or restore the file`);
}

function noteOf(text: string): { readonly own: Note; readonly edits: Readonly<Record<string, Note>> } {
  try {
    const { own, edits } = JSON.parse(text);
    if ([own, ...Object.values(edits)].every(isNote)) return { own, edits };
  } catch {
    // The same as one that can be read and says something else.
  }
  return changed(UNDO);
}

function isNote(value: unknown): value is Note {
  const [back, length, digest] = Array.isArray(value) ? value : [];
  return Number.isInteger(back) && Number.isInteger(length) && typeof digest === 'string';
}

/** `containers/web/command/0`: keys, names of items, and numbers of items that have no name. */
function nodeAt(spec: Located, path: string): Located | undefined {
  let node: Located | undefined = spec;
  for (const step of path.split('/'))
    node =
      node?.kind === 'list'
        ? (node.items.find((item) => textAt(item, 'name') === step) ??
          node.items[/^\d+$/.test(step) ? Number(step) : -1])
        : at(node, step);
  return node;
}
