/**
 * Checks texts: reads them, joins what belongs together, runs the rules, and takes out what is ignored. No files and no
 * network.
 */
import type { Edit, Finding, Severity } from './finding.ts';
import { annotationIgnores, commentIgnores, type Ignore } from './ignores.ts';
import { type ComposeService, isCompose, servicesOfCompose } from './input/compose.ts';
import { withoutDefinitions } from './input/definitions.ts';
import { stageOf } from './input/dockerfile.ts';
import { type Located, parseLocated, type Range } from './input/located.ts';
import { budgetsOf, nearest, type Objects, type Other, objectsOf, type Root, type Workload } from './input/objects.ts';
import { makeSource, type Place, positionAt, type Source } from './input/source.ts';
import type { Found, Rule } from './rules/rule.ts';
import { RULE_IDS, RULES } from './rules/table.ts';
import type { Scenario } from './scenarios.ts';
import type { Images } from './stop/images.ts';
import { type PodView, podViewOf } from './stop/plan.ts';

export interface Input {
  readonly path: string;
  readonly text: string;
  /** Text of a file beside it; undefined: it cannot be read. */
  readonly readBeside?: (path: string) => string | undefined;
}

export interface Options {
  readonly minor?: number | undefined;
  readonly scenarios?: readonly Scenario[];
  readonly images?: Images;
  /** Rules by their ids or the beginnings of these; undefined: all. */
  readonly only?: readonly string[] | undefined;
  readonly skip?: readonly string[];
  readonly severities?: ReadonlyMap<string, Severity>;
}

export interface Unreadable {
  readonly path: string;
  readonly line: number | undefined;
  readonly why: string;
}

export interface CheckedWorkload {
  readonly workload: Workload;
  readonly view: PodView;
}

export interface Result {
  readonly findings: readonly Finding[];
  readonly ignored: readonly { readonly finding: Finding; readonly reason: string | undefined }[];
  readonly unreadable: readonly Unreadable[];
  readonly workloads: readonly CheckedWorkload[];
  /** Services of Compose files, and stages of Dockerfiles. */
  readonly others: number;
  /** Objects of kinds that are not checked, by kind. */
  readonly passedOver: ReadonlyMap<string, number>;
  readonly sources: readonly Source[];
}

export async function check(inputs: readonly Input[], options: Options = {}): Promise<Result> {
  const read = readInputs(inputs);
  const objects = objectsOf(read.roots);
  const images = options.images ?? new Map();
  const rules = RULES.filter(({ id }) => isWanted(id, options));
  const workloads: CheckedWorkload[] = [];
  const all: Finding[] = [];
  for (const workload of objects.workloads) {
    const view = await podViewOf(workload, objects, images);
    workloads.push({ workload, view });
    const { minor, scenarios = [] } = options;
    const about = { workload, view, objects, images, minor, scenarios };
    const subject = `${workload.kind}/${workload.name}`;
    for (const rule of rules)
      if (rule.on === 'workload') add(rule, subject, placeOf(workload.pod.source, workload.object), rule.find(about));
  }
  const guarded = new Map<Other, Workload[]>();
  for (const workload of objects.workloads)
    for (const budget of budgetsOf(workload, objects)) guarded.set(budget, [...(guarded.get(budget) ?? []), workload]);
  for (const budget of objects.budgets) {
    const near = nearest(budget.source, guarded.get(budget) ?? [], ({ pod }) => pod.source);
    const about = { budget, workloads: near, objects };
    for (const rule of rules)
      if (rule.on === 'budget')
        add(rule, `PodDisruptionBudget/${budget.name}`, placeOf(budget.source, budget.object), rule.find(about));
  }
  for (const service of read.services)
    for (const rule of rules)
      if (rule.on === 'compose')
        add(rule, `service ${service.name}`, placeOf(service.source, service.node), rule.find(service, images));
  for (const stage of read.stages)
    for (const rule of rules)
      if (rule.on === 'dockerfile') add(rule, stage.source.path, placeOf(stage.source), rule.find(stage, images));
  const { findings, ignored, unused } = withoutIgnored(all, ignoresOf(read, objects));
  const [unusedRule] = rules.filter(({ on }) => on === 'ignores');
  if (unusedRule !== undefined) for (const ignore of unused) findings.push(unusedFinding(unusedRule, ignore, options));
  return {
    findings: findings.toSorted(byPlace),
    ignored,
    unreadable: read.unreadable,
    workloads,
    others: read.services.length + read.stages.length,
    passedOver: withCount(objects.passedOver, 'CustomResourceDefinition', read.definitions),
    sources: read.sources,
  };

  function add(rule: Rule, subject: string, subjectAt: Place, found: readonly Found[]): void {
    for (const one of found)
      all.push({
        rule: rule.id,
        severity: options.severities?.get(rule.id) ?? one.severity ?? rule.severity,
        message: one.message,
        place: one.place,
        subject,
        subjectAt,
        container: one.container,
        atMs: one.atMs,
        edits: one.edits ?? [],
      });
  }
}

function withCount(counts: ReadonlyMap<string, number>, kind: string, more: number): ReadonlyMap<string, number> {
  return more === 0 ? counts : new Map([...counts, [kind, (counts.get(kind) ?? 0) + more]]);
}

/** `SX3` names all that begin so. */
function isWanted(id: string, { only, skip = [] }: Options): boolean {
  if (skip.some((part) => id.startsWith(part))) return false;
  return only === undefined || only.some((part) => id.startsWith(part));
}

interface Inputs {
  readonly sources: readonly Source[];
  readonly roots: readonly Root[];
  readonly services: readonly ComposeService[];
  readonly stages: readonly NonNullable<ReturnType<typeof stageOf>>[];
  readonly unreadable: readonly Unreadable[];
  /** CustomResourceDefinitions that were passed over. */
  readonly definitions: number;
}

function readInputs(inputs: readonly Input[]): Inputs {
  const sources: Source[] = [];
  const roots: Root[] = [];
  const services: ComposeService[] = [];
  const stages: Inputs['stages'][number][] = [];
  const unreadable: Unreadable[] = [];
  let definitions = 0;
  for (const { path, text, readBeside } of inputs) {
    const source = makeSource(path, text);
    sources.push(source);
    if (isDockerfileName(path)) {
      const stage = stageOf(source, readBeside ?? (() => undefined));
      if (stage === undefined) unreadable.push({ path, line: undefined, why: 'no FROM in this Dockerfile' });
      else stages.push(stage);
      continue;
    }
    const { text: bare, definitions: passed } = withoutDefinitions(text);
    definitions += passed;
    const parsed = parseLocated(bare);
    // A template is one all over.
    const problems = isTemplate(text) ? parsed.problems.slice(0, 1) : parsed.problems;
    for (const { offset, why } of problems)
      unreadable.push({ path, line: positionAt(source, offset).line, why: explained(text, why) });
    for (const root of parsed.roots) {
      if (isCompose(root)) services.push(...servicesOfCompose(source, root));
      roots.push({ source, root });
    }
  }
  return { sources, roots, services, stages, unreadable, definitions };
}

export function isDockerfileName(path: string): boolean {
  return /(^|\/)(Dockerfile|Containerfile)(\.[^/]*)?$|\.(Dockerfile|Containerfile)$/i.test(path);
}

function explained(text: string, why: string): string {
  if (!isTemplate(text)) return `not YAML: ${why}`;
  return 'a template, not YAML; render it first (helm template) and check the output';
}

/** Of Go, as Helm has it. */
function isTemplate(text: string): boolean {
  return /\{\{-?\s*[.$A-Za-z]/.test(text);
}

function ignoresOf({ roots, stages }: Inputs, { workloads, budgets }: Objects): readonly Ignore[] {
  const bySource = new Map<Source, Located[]>();
  for (const { source, root } of roots) bySource.set(source, [...(bySource.get(source) ?? []), root]);
  for (const { source } of stages) bySource.set(source, []);
  return [
    ...[...bySource].flatMap(([source, list]) => commentIgnores(source, list)),
    ...workloads.flatMap(({ object, pod }) => annotationIgnores(pod.source, object)),
    ...budgets.flatMap(({ object, source }) => annotationIgnores(source, object)),
  ];
}

/** An ignore is unused in each of its rules that ignores nothing. */
function withoutIgnored(all: readonly Finding[], ignores: readonly Ignore[]) {
  const findings: Finding[] = [];
  const ignored: { finding: Finding; reason: string | undefined }[] = [];
  const used = new Map<Ignore, Set<string>>();
  for (const finding of all) {
    const by = ignores.filter((ignore) => covers(ignore, finding));
    for (const ignore of by) used.set(ignore, (used.get(ignore) ?? new Set()).add(finding.rule));
    if (by.length === 0) findings.push(finding);
    else ignored.push({ finding, reason: by.map(({ reason }) => reason).find((reason) => reason !== undefined) });
  }
  const unused = ignores.flatMap((ignore) => {
    const rules = ignore.rules.filter((id) => used.get(ignore)?.has(id) !== true);
    return rules.length === 0 ? [] : [{ ignore, rules }];
  });
  return { findings, ignored, unused };
}

function placeOf(source: Source, { start, end }: Range = { start: 0, end: 0 }): Place {
  return { source, start, end };
}

/** An annotation covers what is found about its object, too, wherever that is written: at a Service, say. */
function covers({ rules, place: { source }, covers: range, isOfObject }: Ignore, finding: Finding): boolean {
  const { rule, place, subjectAt } = finding;
  if (!rules.includes(rule)) return false;
  if (isOfObject && subjectAt.source === source && subjectAt.start === range.start) return true;
  return place.source === source && place.start >= range.start && place.start < Math.max(range.end, range.start + 1);
}

interface Unused {
  readonly ignore: Ignore;
  readonly rules: readonly string[];
}

function unusedFinding(rule: Rule, { ignore, rules }: Unused, options: Options): Finding {
  const { removable, place } = ignore;
  const unknown = rules.filter((id) => !RULE_IDS.includes(id));
  const edits: readonly Edit[] =
    removable !== undefined && rules.length === ignore.rules.length
      ? [{ source: place.source, ...removable, text: '' }]
      : [];
  const what = unknown.length > 0 ? `there is no rule ${unknown.join(', ')}` : `${rules.join(', ')} finds nothing here`;
  return {
    rule: rule.id,
    severity: options.severities?.get(rule.id) ?? rule.severity,
    message: `this ignore ignores nothing: ${what}`,
    place,
    subject: place.source.path,
    subjectAt: placeOf(place.source),
    container: undefined,
    atMs: undefined,
    edits,
  };
}

function byPlace(a: Finding, b: Finding): number {
  const paths = a.place.source.path < b.place.source.path ? -1 : a.place.source.path > b.place.source.path ? 1 : 0;
  return paths || a.place.start - b.place.start || (a.rule < b.rule ? -1 : a.rule > b.rule ? 1 : 0);
}
