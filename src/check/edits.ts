/** Edits of YAML and JSON by ranges: the values and keys that fixes write, in the style of what is around them. */
import { escaped } from '../text/print.ts';
import type { Edit } from './finding.ts';
import type { Entry, Located, LocatedList, LocatedMap, Range } from './input/located.ts';
import { lineStart, lineText, positionAt, type Source, trimmed } from './input/source.ts';

/** A word in the place of a quoted one gets the same quotes. */
export function replaceValue(source: Source, value: Range, text: string): Edit {
  const [quote = ''] = /^["']/.exec(source.text.slice(value.start, value.start + 1)) ?? [];
  const isWord = !/^["'[{]/.test(text) && !/^-?\d+(\.\d+)?$/.test(text);
  return { source, ...trimmed(source, value), text: isWord ? `${quote}${text}${quote}` : text };
}

/** The value of a key where it stands, else the key with its value. */
export function setKey(source: Source, map: LocatedMap, key: string, place: Range | undefined, value: string | number) {
  return place === undefined ? insertKey(source, map, key, value) : [replaceValue(source, place, String(value))];
}

/** A key with a value on one line; none where it has one already, or where nothing shows how to write it. */
export function insertKey(source: Source, map: LocatedMap, key: string, value: Data): readonly Edit[] {
  // What a merge key brings stands somewhere else.
  const own = [...map.entries.values()].filter((entry) => entry.key.start >= map.start && entry.key.end <= map.end);
  const [first] = own;
  const known = map.entries.get(key);
  if (known !== undefined) return own.includes(known) && !map.isFlow ? fillEmpty(source, known, value) : [];
  const name = (isJson: boolean): string => `${isJson ? JSON.stringify(key) : key}: ${written(value, isJson)}`;
  if (first === undefined)
    return isEmptyAt(source, map) ? [insertion(source, map.start + 1, name(isJsonAt(source)))] : [];
  const { start } = first.key;
  if (map.isFlow) return [insertion(source, start, `${name(source.text[start] === '"')}, `)];
  const { line, column } = positionAt(source, start);
  const before = lineText(source, line).slice(0, column - 1);
  // A key behind an anchor or a question mark has no indentation to copy.
  if (!/^[\s-]*$/.test(before)) return [];
  const indent = before.replaceAll('-', ' ');
  // Behind an empty one its own value may be inserted.
  const isWord = first.value.kind === 'scalar' && !isNothing(first.value);
  const isOneLine = isWord && positionAt(source, first.value.end).line === line;
  if (!isOneLine && before.trim() === '')
    return [insertion(source, aboveComments(source, line), `${before}${name(false)}${source.lineEnd}`)];
  if (!isOneLine) return [insertion(source, start, `${name(false)}${source.lineEnd}${indent}`)];
  const end = lineStart(source, line) + lineText(source, line).length;
  return [insertion(source, end, `${source.lineEnd}${indent}${name(false)}`)];
}

/** A value where nothing stands behind the colon, which Kubernetes takes for no key. */
function fillEmpty(source: Source, { key, value }: Entry, data: Data): readonly Edit[] {
  const { line, column } = positionAt(source, key.end);
  const [, colon] = /^([ \t]*:)[ \t]*(#.*)?$/.exec(lineText(source, line).slice(column - 1)) ?? [];
  if (colon === undefined || !isNothing(value)) return [];
  return [insertion(source, key.end + colon.length, ` ${written(data, false)}`)];
}

function isNothing(value: Located): boolean {
  return value.kind === 'scalar' && value.value === null && value.text === '';
}

/** Items in front of one of a list, as its own are written; those in front of the first stand above its comments. */
export function insertItems(source: Source, list: LocatedList, index: number, items: readonly Data[]): readonly Edit[] {
  const item: Located | undefined = list.items[index];
  const isJson = source.text[item?.start ?? 0] === '"' || isJsonAt(source);
  const texts = items.map((one) => written(one, isJson));
  if (item === undefined) return isEmptyAt(source, list) ? [insertion(source, list.start + 1, texts.join(', '))] : [];
  if (item.start < list.start) return [];
  if (list.isFlow) return [insertion(source, item.start, texts.map((text) => `${text}, `).join(''))];
  const { line, column } = positionAt(source, item.start);
  const before = lineText(source, line).slice(0, column - 1);
  if (!/^\s*-\s+$/.test(before)) return [];
  const lines = texts.map((text) => `${before}${text}${source.lineEnd}`);
  const start = index === 0 ? aboveComments(source, line) : lineStart(source, line);
  return [insertion(source, start, lines.join(''))];
}

/** Where the comments of a line begin. Nothing may stand before a byte order mark, which is no blank here. */
function aboveComments(source: Source, line: number): number {
  let above = line;
  while (above > 1 && /^[ \t]*(#.*)?$/.test(lineText(source, above - 1))) above -= 1;
  return lineStart(source, above);
}

function insertion(source: Source, start: number, text: string): Edit {
  return { source, start, end: start, text };
}

/** `[]` or `{}`, and not a list or map that merges something. */
function isEmptyAt(source: Source, { start, end }: Range): boolean {
  return /^(\[\s*\]|\{\s*\})$/.test(source.text.slice(start, end));
}

/** What begins so is JSON, or is written like it. */
function isJsonAt({ text }: Source): boolean {
  return /^\s*[{[]\s*"/.test(text);
}

export type Data = string | number | boolean | readonly Data[] | { readonly [key: string]: Data };

/** On one line: JSON, or the flow style of YAML with quotes only where they are needed. */
export function written(data: Data, isJson: boolean): string {
  if (typeof data === 'string') return isJson ? escaped(JSON.stringify(data)) : isPlain(data) ? data : quoted(data);
  if (typeof data !== 'object') return String(data);
  if (isList(data)) return `[${data.map((one) => written(one, isJson)).join(', ')}]`;
  const pairs = Object.entries(data).map(([key, value]) => `${written(key, isJson)}: ${written(value, isJson)}`);
  return `{${pairs.join(', ')}}`;
}

export function isList(data: Data): data is readonly Data[] {
  return Array.isArray(data);
}

/** Without backslashes where single quotes do. */
function quoted(text: string): string {
  return text.includes('"') && !/['\p{Cc}]/u.test(text) ? `'${text}'` : escaped(JSON.stringify(text));
}

const RESERVED = /^(y|n|yes|no|on|off|true|false|null)$/i;

/** A word that YAML 1.1 reads as a text, wherever it stands. */
function isPlain(text: string): boolean {
  return /^(-{0,2}[A-Za-z_/][-A-Za-z0-9_./=]*|--|\d+(ms|s|m|h))$/.test(text) && !RESERVED.test(text);
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
