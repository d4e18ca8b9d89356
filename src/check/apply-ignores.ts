/**
 * Takes what is ignored out of the findings, and finds the ignores that ignore nothing.
 */
import type { Finding } from './finding.ts';
import { annotationIgnores, commentIgnores, type Ignore, type Unused } from './ignores.ts';
import type { Located } from './input/located.ts';
import type { Objects } from './input/objects.ts';
import type { Source } from './input/source.ts';
import type { Inputs } from './input/texts.ts';
import { RULE_IDS } from './rules/table.ts';

export interface Ignored {
  readonly finding: Finding;
  readonly reason: string | undefined;
}

export function ignoresOf({ roots, stages }: Inputs, { workloads, budgets }: Objects): readonly Ignore[] {
  const bySource = new Map<Source, Located[]>();
  for (const { source, root } of roots) bySource.set(source, [...(bySource.get(source) ?? []), root]);
  for (const { source } of stages) bySource.set(source, []);
  return [
    ...[...bySource].flatMap(([source, list]) => commentIgnores(source, list)),
    ...workloads.flatMap(({ object, pod }) => annotationIgnores(pod.source, object)),
    ...budgets.flatMap(({ object, source }) => annotationIgnores(source, object)),
  ];
}

/** `unasked`: rules of which it is not known whether they would find something. */
export function withoutIgnored(all: readonly Finding[], ignores: readonly Ignore[], unasked: ReadonlySet<string>) {
  const findings: Finding[] = [];
  const ignored: Ignored[] = [];
  const used = new Map<Ignore, Set<string>>();
  for (const finding of all) {
    const by = ignores.filter((ignore) => covers(ignore, finding));
    for (const ignore of by) used.set(ignore, (used.get(ignore) ?? new Set()).add(finding.rule));
    if (by.length === 0) findings.push(finding);
    else ignored.push({ finding, reason: by.map(({ reason }) => reason).find((reason) => reason !== undefined) });
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
