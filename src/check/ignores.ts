/**
 * What a person has decided to ignore, in the inputs themselves: annotations of a workload or its pod, and comments.
 *
 *     annotations: {check.sexton.dev/ignore: "SX301,SX302", check.sexton.dev/ignore-SX105: "internal only"}
 *     # sexton-ignore SX101: the hook ends early
 *
 * A comment at the end of a line covers that line. A comment on a line of its own covers what begins on the next line:
 * a key with its value, an item, or the document.
 */
import type { Finding, Ignore, Unused } from './finding.ts';
import type { Located, Range } from './input/located.ts';
import { annotationsOf, type Objects } from './input/objects.ts';
import { lineStart, lineText, positionAt, type Source } from './input/source.ts';
import type { Inputs } from './input/texts.ts';
import type { Root } from './input/together.ts';
import { RULE_IDS } from './rules/table.ts';

const COMMENT = /#\s*sexton-ignore\s+(SX\d+(?:\s*,\s*SX\d+)*)\s*(?::\s*(.*))?$/s;
const ANNOTATION = /^check\.sexton\.dev\/ignore(?:-(SX\d+))?$/;

function commentIgnores(source: Source, roots: readonly Root[]): readonly Ignore[] {
  const { text } = source;
  const ignores: Ignore[] = [];
  let begins: ReadonlyMap<number, Range> | undefined;
  for (let found = text.indexOf('sexton-ignore'); found >= 0; found = text.indexOf('sexton-ignore', found + 1)) {
    const { line } = positionAt(source, found);
    const whole = lineText(source, line);
    const match = COMMENT.exec(whole);
    if (match === null) continue;
    const [, ids = '', reason] = match;
    const from = lineStart(source, line);
    const end = from + whole.length;
    const before = whole.slice(0, match.index).trimEnd();
    const isAlone = before === '';
    begins ??= beginningsOf(source, roots);
    ignores.push({
      rules: idsOf(ids),
      reason: reason?.trim() || undefined,
      place: { source, start: from + match.index, end },
      covers: isAlone ? blockBelow(source, line, begins) : { start: from, end },
      isOfObject: false,
      removable: isAlone ? { start: from, end: lineStart(source, line + 1) } : { start: from + before.length, end },
    });
  }
  return ignores;
}

function idsOf(text: string): readonly string[] {
  const ids = text.split(',').map((id) => id.trim());
  return ids.filter((id) => id !== '');
}

/** By line: the largest of the documents, items and keys with their values that begin there. */
function beginningsOf(source: Source, roots: readonly Root[]): ReadonlyMap<number, Range> {
  const begins = new Map<number, Range>();
  const seen = new Set<Located>();
  const visit = (node: Located, start: number, end: number): void => {
    const { line } = positionAt(source, start);
    const before = begins.get(line);
    if (before === undefined || before.end < end) begins.set(line, { start: before?.start ?? start, end });
    if (seen.has(node)) return;
    seen.add(node);
    if (node.kind === 'list') for (const item of node.items) visit(item, item.start, item.end);
    if (node.kind !== 'map') return;
    for (const { key, value } of node.entries.values()) visit(value, key.start, Math.max(key.end, value.end));
  };
  for (const { root } of roots) visit(root, root.start, root.end);
  return begins;
}

function blockBelow(source: Source, line: number, begins: ReadonlyMap<number, Range>): Range {
  for (let next = line + 1; next <= source.lines.length; next += 1) {
    const text = lineText(source, next).trim();
    if (text === '' || text.startsWith('#') || text === '---') continue;
    const start = lineStart(source, next);
    const block = begins.get(next);
    return { start, end: block?.end ?? start + lineText(source, next).length };
  }
  return { start: source.text.length, end: source.text.length };
}

/** An annotation covers the whole of its object: a workload with its pod, a budget, or any other. */
function annotationIgnores(source: Source, object: Located): readonly Ignore[] {
  return annotationsOf(object).flatMap(([name, { key, value }]): Ignore[] => {
    const [isIgnore, id] = ANNOTATION.exec(name) ?? [];
    if (isIgnore === undefined || value.kind !== 'scalar') return [];
    const place = { source, start: key.start, end: value.end };
    const rules = id === undefined ? idsOf(value.text) : [id];
    return [{ rules, reason: id && value.text, place, covers: object, isOfObject: true, removable: undefined }];
  });
}

export interface Ignored {
  readonly finding: Finding;
  readonly reason: string | undefined;
}

export function ignoresOf({ roots, stages }: Inputs, objects: Objects): readonly Ignore[] {
  return [
    ...[...Map.groupBy(roots, ({ source }) => source)].flatMap(([source, own]) => commentIgnores(source, own)),
    ...stages.flatMap(({ source }) => commentIgnores(source, [])),
    ...objects.workloads.flatMap(({ object, pod }) => annotationIgnores(pod.source, object)),
    ...objects.budgets.flatMap(({ object, source }) => annotationIgnores(source, object)),
  ];
}

/** `unasked`: rules that could not run: what they would find is unknown. */
export function withoutIgnored(all: readonly Finding[], ignores: readonly Ignore[], unasked: ReadonlySet<string>) {
  const findings: Finding[] = [];
  const ignored: Ignored[] = [];
  const used = new Map<Ignore, Set<string>>();
  for (const finding of all) {
    const by = ignores.filter((ignore) => covers(ignore, finding));
    for (const ignore of by) used.set(ignore, (used.get(ignore) ?? new Set()).add(finding.rule));
    if (by.length === 0) findings.push(finding);
    else ignored.push({ finding, reason: by.find(({ reason }) => reason !== undefined)?.reason });
  }
  const unused = ignores.flatMap((ignore): readonly Unused[] => {
    const rules = ignore.rules.filter((id) => used.get(ignore)?.has(id) !== true && !unasked.has(id));
    const unknown = rules.filter((id) => !RULE_IDS.includes(id));
    return rules.length === 0 ? [] : [{ ignore, rules, unknown }];
  });
  return { findings, ignored, unused };
}

/** An annotation covers what is found about its object, too, wherever that is written: at a Service, say. */
function covers({ rules, place: { source }, covers: range, isOfObject }: Ignore, finding: Finding): boolean {
  const { rule, place, subjectAt } = finding;
  if (!rules.includes(rule)) return false;
  if (isOfObject && subjectAt.source === source && subjectAt.start === range.start) return true;
  return place.source === source && place.start >= range.start && place.start < Math.max(range.end, range.start + 1);
}
