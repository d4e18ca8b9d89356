import type { Range } from './located.ts';

export interface Source {
  readonly path: string;
  readonly text: string;
  readonly lines: readonly number[];
  readonly lineEnd: '\n' | '\r\n';
}

export interface Place extends Range {
  readonly source: Source;
}

export interface Position {
  /** From 1. */
  readonly line: number;
  /** From 1, in UTF-16 code units, as editors and SARIF count. */
  readonly column: number;
}

export function makeSource(path: string, text: string): Source {
  const lines = [0];
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines.push(at + 1);
  return { path, text, lines, lineEnd: text.includes('\r\n') ? '\r\n' : '\n' };
}

export function positionAt({ lines }: Source, offset: number): Position {
  let low = 0;
  let high = lines.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((lines[middle] ?? 0) <= offset) low = middle;
    else high = middle - 1;
  }
  return { line: low + 1, column: offset - (lines[low] ?? 0) + 1 };
}

/** Without its end. */
export function lineText(source: Source, line: number): string {
  return source.text.slice(lineStart(source, line), lineStart(source, line + 1)).replace(/\r?\n$/, '');
}

/** Behind the last line: the end of the text. */
export function lineStart({ text, lines }: Source, line: number): number {
  return lines[line - 1] ?? text.length;
}

/** The end of what is written there, without the blanks and line ends that a YAML node takes along. */
export function trimmed(source: Source, { start, end }: Range): Range {
  let last = Math.max(start, end);
  while (last > start && /\s/.test(source.text[last - 1] ?? '')) last -= 1;
  return { start, end: last };
}
