/** The edits of findings, applied to the texts, and as a patch. What no edit touches stays byte for byte. */
import type { Result } from './check.ts';
import { applied, inOrder } from './edits.ts';
import type { Edit, Finding } from './finding.ts';
import { lineStart, positionAt, type Source } from './input/source.ts';
import type { Input } from './input/texts.ts';

export interface Fixed {
  readonly source: Source;
  readonly text: string;
  readonly edits: readonly Edit[];
}

/** The texts that change. If the edits of two findings touch, the second finding waits for the next pass. */
export function fixed(findings: readonly Finding[]): readonly Fixed[] {
  const bySource = new Map<Source, Edit[]>();
  for (const { edits } of findings) {
    const [first] = edits;
    if (first === undefined) continue;
    const taken = bySource.get(first.source) ?? [];
    const touches = ({ start, end }: Edit) => taken.some((other) => start <= other.end && other.start <= end);
    if (!edits.some(touches)) taken.push(...edits);
    bySource.set(first.source, taken);
  }
  return [...bySource].map(([source, edits]) => ({ source, edits, text: applied(source.text, edits) }));
}

const CONTEXT = 3;

/** In the unified format, as patch(1) and git apply read it. */
export function diffOf({ source, edits, text }: Fixed): string {
  const hunks: Piece[][] = [];
  for (const piece of piecesOf(source, edits)) {
    const before = hunks.at(-1)?.at(-1);
    if (before !== undefined && piece.first - before.next <= 2 * CONTEXT) hunks.at(-1)?.push(piece);
    else hunks.push([piece]);
  }
  const old = linesOf(source.text);
  const linesFrom = (first: number, next: number) => old.slice(first - 1, next - 1).map((line) => ` ${line}`);
  const ending = (lines: readonly string[], next: number, whole: string): readonly string[] =>
    next <= old.length || lines.length === 0 || whole.endsWith('\n')
      ? lines
      : [...lines.slice(0, -1), `${lines.at(-1) ?? ''}${NO_NEWLINE}`];
  let shift = 0;
  const parts = hunks.flatMap((pieces) => {
    const start = Math.max(1, (pieces[0]?.first ?? 1) - CONTEXT);
    let at = start;
    const body: string[] = [];
    for (const { first, next, removed, added } of pieces) {
      const minus = removed.map((line) => `-${line}`);
      const plus = added.map((line) => `+${line}`);
      body.push(...linesFrom(at, first), ...ending(minus, next, source.text), ...ending(plus, next, text));
      at = next;
    }
    const end = Math.min(old.length + 1, at + CONTEXT);
    if (end > at) body.push(...ending(linesFrom(at, end), end, source.text));
    const [minus = 0, plus = 0] = ['-', '+'].map((sign) => body.filter((line) => line.startsWith(sign)).length);
    const same = body.length - minus - plus;
    const head = `@@ -${start},${same + minus} +${start + shift},${same + plus} @@`;
    shift += plus - minus;
    return [head, ...body];
  });
  const path = source.path.replace(/^\/+/, '');
  return `--- ${nameOf(`a/${path}`)}\n+++ ${nameOf(`b/${path}`)}\n${parts.join('\n')}\n`;
}

/** As patch(1) and git apply want it behind the last line. */
const NO_NEWLINE = '\n\\ No newline at end of file';

/** Lines that are replaced: from `first` up to `next`, without this one. */
interface Piece {
  readonly first: number;
  readonly next: number;
  readonly removed: readonly string[];
  readonly added: readonly string[];
}

/** Without the lines at both ends that stay as they are. */
function piecesOf(source: Source, edits: readonly Edit[]): readonly Piece[] {
  const groups: { first: number; last: number; edits: Edit[] }[] = [];
  for (const edit of edits.toSorted((a, b) => a.start - b.start)) {
    const first = positionAt(source, edit.start).line;
    const last = Math.max(first, positionAt(source, Math.max(edit.start, edit.end - 1)).line);
    const before = groups.at(-1);
    if (before !== undefined && first <= before.last) {
      before.last = Math.max(last, before.last);
      before.edits.push(edit);
    } else groups.push({ first, last, edits: [edit] });
  }
  return groups.map((group) => {
    const from = lineStart(source, group.first);
    const old = source.text.slice(from, lineStart(source, group.last + 1));
    const moved = group.edits.map((edit) => ({ ...edit, start: edit.start - from, end: edit.end - from }));
    const removed = linesOf(old);
    const added = linesOf(applied(old, moved));
    const most = Math.min(removed.length, added.length);
    let head = 0;
    while (head < most && removed[head] === added[head]) head += 1;
    let tail = 0;
    while (tail < most - head && removed.at(-1 - tail) === added.at(-1 - tail)) tail += 1;
    const first = group.first + head;
    const next = first + removed.length - tail - head;
    return {
      first,
      next,
      removed: removed.slice(head, removed.length - tail),
      added: added.slice(head, added.length - tail),
    };
  });
}

/** In quotes where git and patch(1) need it. */
function nameOf(path: string): string {
  if (!/[\p{Cc}"\\]/u.test(path)) return path;
  const octal = (char: string): string =>
    [...Buffer.from(char)].map((byte) => `\\${byte.toString(8).padStart(3, '0')}`).join('');
  return `"${path.replaceAll(/[\p{Cc}"\\]/gu, octal)}"`;
}

/** With their carriage returns, which are a part of the lines for patch(1). */
function linesOf(text: string): readonly string[] {
  return text === '' ? [] : text.replace(/\n$/, '').split('\n');
}

/** Many more than fixes that need each other. */
const MOST_PASSES = 10;

/**
 * Repairs until nothing is left to repair. A fix may have to wait for another one that touches it, and may need another
 * one: a longer hook a longer grace period. `first` is what the check of the inputs has found, `checkAgain` the same
 * check; `isWanted`: what is repaired of it. Returns for each text that changes all edits as if they were made at once,
 * and the result of the repaired texts.
 */
export async function repaired(
  inputs: readonly Input[],
  first: Result,
  checkAgain: (inputs: readonly Input[]) => Promise<Result>,
  isWanted: (finding: Finding) => boolean = () => true,
) {
  const drafts = new Map<number, Draft>();
  let result = first;
  for (let pass = 0; pass < MOST_PASSES; pass += 1) {
    const changes = fixed(result.findings.filter(isWanted));
    if (changes.length === 0) break;
    for (const { source, edits } of changes) {
      const index = result.sources.indexOf(source);
      drafts.set(index, edited(drafts.get(index) ?? draftOf(source.text), edits));
    }
    result = await checkAgain(inputs.map((input, at) => ({ ...input, text: drafts.get(at)?.text ?? input.text })));
  }
  const changes = first.sources.flatMap((source, index): Fixed[] => {
    const draft = drafts.get(index);
    return draft === undefined ? [] : [fixedBy(source, draft)];
  });
  return { changes, result };
}

/** The text after passes, each of which edits what the one before it has left, and all as if they were one. */
export function inPasses(source: Source, passes: readonly (readonly Edit[])[]): Fixed {
  return fixedBy(source, passes.reduce(edited, draftOf(source.text)));
}

interface Draft {
  readonly text: string;
  /** Where each of its characters stood before all edits; -1: nowhere. */
  readonly origins: readonly number[];
}

function draftOf(text: string): Draft {
  return { text, origins: Array.from({ length: text.length }, (_, index) => index) };
}

function edited({ text, origins }: Draft, edits: readonly Edit[]): Draft {
  const parts: (readonly number[])[] = [];
  let from = 0;
  for (const { start, end, text: inserted } of inOrder(edits)) {
    parts.push(origins.slice(from, start), new Array<number>(inserted.length).fill(-1));
    from = end;
  }
  return { text: applied(text, edits), origins: [...parts, origins.slice(from)].flat() };
}

/** Edits are where the order of origins has a gap, and where there is something new. */
function fixedBy(source: Source, { text, origins }: Draft): Fixed {
  const edits: Edit[] = [];
  let before = 0;
  for (let at = 0; at <= text.length; ) {
    let next = at;
    while (next < text.length && origins[next] === -1) next += 1;
    const end = origins[next] ?? source.text.length;
    if (next > at || end > before) edits.push({ source, start: before, end, text: text.slice(at, next) });
    before = end + 1;
    at = next + 1;
  }
  return { source, text, edits };
}
