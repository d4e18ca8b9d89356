/** Edits of YAML and JSON by ranges: the values and keys that fixes write, in the style of what is around them. */
import type { Edit } from './finding.ts';
import type { Located, LocatedList, LocatedMap, Range } from './input/located.ts';
import { lineText, positionAt, type Source, trimmed } from './input/source.ts';

/** A word in the place of a quoted one gets the same quotes. */
export function replaceValue(source: Source, value: Range, text: string): Edit {
  const [quote = ''] = /^["']/.exec(source.text.slice(value.start, value.start + 1)) ?? [];
  const isWord = !/^["'[{]/.test(text) && !isNumber(text);
  return { source, ...trimmed(source, value), text: isWord ? `${quote}${text}${quote}` : text };
}

/** A new key with a value of one line; none where the key is there already, with a value that cannot be read. */
export function insertKey(source: Source, map: LocatedMap, key: string, value: string): readonly Edit[] {
  // What a merge key brings stands somewhere else.
  const first = [...map.entries.values()].find((entry) => entry.key.start >= map.start && entry.key.end <= map.end);
  if (first === undefined || map.entries.has(key)) return [];
  const { start } = first.key;
  if (map.isFlow) {
    const text = source.text[start] === '"' ? `"${key}": ${jsonOf(value)}, ` : `${key}: ${value}, `;
    return [{ source, start, end: start, text }];
  }
  const { line, column } = positionAt(source, start);
  const before = lineText(source, line).slice(0, column - 1);
  // A key behind an anchor or a question mark has no indentation to copy.
  if (!/^[\s-]*$/.test(before)) return [];
  const indent = before.replaceAll('-', ' ');
  const isOneLine = first.value.kind === 'scalar' && positionAt(source, first.value.end).line === line;
  if (!isOneLine) return [{ source, start, end: start, text: `${key}: ${value}${lineEnd(source)}${indent}` }];
  const end = (source.lines[line - 1] ?? 0) + lineText(source, line).length;
  return [{ source, start: end, end, text: `${lineEnd(source)}${indent}${key}: ${value}` }];
}

/** Values of fixes are plain words, numbers and flow collections of them. */
function jsonOf(value: string): string {
  return value.replaceAll(/[^\s,:{}[\]]+/g, (word) => (isNumber(word) ? word : JSON.stringify(word)));
}

function isNumber(text: string): boolean {
  return /^-?\d+(\.\d+)?$/.test(text);
}

/** A word in front of one of a list, as `item`s are written there. */
export function insertItem(source: Source, list: LocatedList, index: number, word: string): readonly Edit[] {
  const item: Located | undefined = list.items[index];
  if (item === undefined || item.start < list.start) return [];
  const isJson = source.text[item.start] === '"';
  const text = isJson || !/^[-A-Za-z0-9_./=+]+$/.test(word) ? JSON.stringify(word) : word;
  if (list.isFlow) return [{ source, start: item.start, end: item.start, text: `${text}, ` }];
  const { line, column } = positionAt(source, item.start);
  const before = lineText(source, line).slice(0, column - 1);
  if (!/^\s*-\s+$/.test(before)) return [];
  return [{ source, start: item.start, end: item.start, text: `${text}${lineEnd(source)}${before}` }];
}

function lineEnd({ text }: Source): string {
  return text.includes('\r\n') ? '\r\n' : '\n';
}

export function applied(text: string, edits: readonly Edit[]): string {
  let result = '';
  let from = 0;
  for (const { start, end, text: inserted } of inOrder(edits)) {
    result += text.slice(from, start) + inserted;
    from = end;
  }
  return result + text.slice(from);
}

/** In the order of their places. Where edits overlap, the first one counts and the others wait for the next pass. */
export function inOrder(edits: readonly Edit[]): readonly Edit[] {
  const kept: Edit[] = [];
  for (const edit of edits.toSorted((a, b) => a.start - b.start || a.end - b.end)) {
    const last = kept.at(-1);
    if (last === undefined || (edit.start >= last.end && edit.start > last.start)) kept.push(edit);
  }
  return kept;
}
