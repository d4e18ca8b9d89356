/**
 * The edits of findings, applied to the texts, and as a patch. What no edit touches stays byte for byte.
 */
import { applied } from './edits.ts';
import type { Edit, Finding } from './finding.ts';
import { lineText, positionAt, type Source } from './input/source.ts';

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
    if (!edits.some((edit) => taken.some((other) => touches(edit, other)))) taken.push(...edits);
    bySource.set(first.source, taken);
  }
  return [...bySource].map(([source, edits]) => ({ source, edits, text: applied(source.text, edits) }));
}

function touches(a: Edit, b: Edit): boolean {
  return a.start <= b.end && b.start <= a.end;
}

const CONTEXT = 3;

/** In the unified format, as patch(1) and git apply read it. */
export function diffOf({ source, edits }: Fixed): string {
  const hunks: { first: number; last: number; edits: Edit[] }[] = [];
  for (const edit of edits.toSorted((a, b) => a.start - b.start)) {
    const first = positionAt(source, edit.start).line;
    const last = Math.max(first, positionAt(source, Math.max(edit.start, edit.end - 1)).line);
    const before = hunks.at(-1);
    if (before !== undefined && first - before.last <= 2 * CONTEXT) {
      before.last = Math.max(last, before.last);
      before.edits.push(edit);
    } else hunks.push({ first, last, edits: [edit] });
  }
  const lineCount = source.text.endsWith('\n') ? source.lines.length - 1 : source.lines.length;
  const linesFrom = (one: number, other: number): readonly string[] =>
    Array.from({ length: Math.max(0, other - one + 1) }, (_, index) => ` ${rawLine(source, one + index)}`);
  let shift = 0;
  const parts = hunks.flatMap((hunk) => {
    const from = source.lines[hunk.first - 1] ?? 0;
    const old = source.text.slice(from, source.lines[hunk.last] ?? source.text.length);
    const moved = hunk.edits.map((edit) => ({ ...edit, start: edit.start - from, end: edit.end - from }));
    const start = Math.max(1, hunk.first - CONTEXT);
    const before = linesFrom(start, hunk.first - 1);
    const after = linesFrom(hunk.last + 1, Math.min(lineCount, hunk.last + CONTEXT));
    const removed = linesOf(old).map((line) => `-${line}`);
    const added = linesOf(applied(old, moved)).map((line) => `+${line}`);
    const same = before.length + after.length;
    const head = `@@ -${start},${same + removed.length} +${start + shift},${same + added.length} @@`;
    shift += added.length - removed.length;
    return [head, ...before, ...removed, ...added, ...after];
  });
  return `--- ${nameOf(`a/${source.path}`)}\n+++ ${nameOf(`b/${source.path}`)}\n${parts.join('\n')}\n`;
}

/** In quotes where git and patch(1) need it. */
function nameOf(path: string): string {
  if (!/[\p{Cc}"\\]/u.test(path)) return path;
  const octal = (char: string): string =>
    [...Buffer.from(char)].map((byte) => `\\${byte.toString(8).padStart(3, '0')}`).join('');
  return `"${path.replaceAll(/[\p{Cc}"\\]/gu, octal)}"`;
}

/** With its carriage return, which is a part of the line for patch(1). */
function rawLine(source: Source, line: number): string {
  const hasReturn = source.text[(source.lines[line] ?? 0) - 2] === '\r';
  return `${lineText(source, line)}${hasReturn ? '\r' : ''}`;
}

function linesOf(text: string): readonly string[] {
  return text === '' ? [] : text.replace(/\n$/, '').split('\n');
}
