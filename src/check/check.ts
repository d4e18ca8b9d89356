/** Reads texts, joins what belongs together, runs the rules, and takes out what is ignored. No files, no network. */
import type { Finding, Severity } from './finding.ts';
import { type Ignored, ignoresOf, withoutIgnored } from './ignores.ts';
import type { Range } from './input/located.ts';
import { budgetsOf, nearest, type Other, objectsOf, type Workload } from './input/objects.ts';
import { type PassedOver, passedOverIn } from './input/passed-over.ts';
import type { Place, Source } from './input/source.ts';
import { type Input, type Inputs, type OnStep, readInputs } from './input/texts.ts';
import type { Cases, Kind, Rule, Scenario } from './rules/rule.ts';
import { RULES } from './rules/table.ts';
import type { Images } from './stop/images.ts';
import { type PodView, podViewOf } from './stop/plan.ts';

export interface Options {
  readonly minor?: number | undefined;
  readonly scenarios?: readonly Scenario[];
  readonly images?: Images;
  /** Rules by their ids or the beginnings of these; undefined: all. */
  readonly only?: readonly string[] | undefined;
  readonly skip?: readonly string[];
  readonly severities?: ReadonlyMap<string, Severity>;
  readonly onStep?: OnStep;
}

export interface CheckedWorkload {
  readonly workload: Workload;
  readonly view: PodView;
}

export interface Result extends Pick<Inputs, 'sources' | 'unreadable' | 'objectless'> {
  readonly findings: readonly Finding[];
  readonly ignored: readonly Ignored[];
  readonly workloads: readonly CheckedWorkload[];
  /** Services of Compose files, and stages of Dockerfiles. */
  readonly others: number;
  /** Objects of kinds that are not checked, by kind. */
  readonly passedOver: ReadonlyMap<string, number>;
  /** Those of them that have pods. */
  readonly unchecked: readonly PassedOver[];
  /** Paths of texts with a workload, a service or a stage. */
  readonly checked: ReadonlySet<string>;
}

export async function check(inputs: readonly Input[], options: Options = {}): Promise<Result> {
  const { onStep } = options;
  const read = readInputs(inputs, onStep);
  const objects = objectsOf(read.roots, read.definitions);
  const { images = new Map(), minor, scenarios = [] } = options;
  const rules = RULES.filter(({ id }) => isWanted(id, options));
  const workloads: CheckedWorkload[] = [];
  const all: Finding[] = [];
  for (const workload of objects.workloads) {
    const { kind, name, object, pod } = workload;
    const view = await podViewOf(workload, objects, images);
    workloads.push({ workload, view });
    onStep?.('workloads checked');
    const about = { workload, pod, view, objects, images, minor, scenarios };
    all.push(...findingsOn('workload', about, `${kind}/${name}`, placeOf(pod.source, object)));
  }
  const guarded = new Map<Other, Workload[]>();
  for (const workload of objects.workloads)
    for (const budget of budgetsOf(workload, objects)) {
      const own = guarded.get(budget);
      if (own === undefined) guarded.set(budget, [workload]);
      else own.push(workload);
    }
  for (const budget of objects.budgets) {
    const { source, object, name } = budget;
    const near = nearest(source, guarded.get(budget) ?? [], ({ pod }) => pod.source);
    const about = { budget, workloads: near, objects };
    all.push(...findingsOn('budget', about, `PodDisruptionBudget/${name}`, placeOf(source, object)));
  }
  for (const service of read.services) {
    const { name, source, node } = service;
    all.push(...findingsOn('compose', { service, images }, `service ${name}`, placeOf(source, node)));
  }
  for (const stage of read.stages) {
    all.push(...findingsOn('dockerfile', { stage, images }, stage.source.path, placeOf(stage.source)));
  }
  const { findings, ignored, unused } = withoutIgnored(all, ignoresOf(read, objects), unasked(options));
  const unusedFindings = unused.flatMap((one) => {
    const { source } = one.ignore.place;
    return findingsOn('ignores', one, source.path, placeOf(source));
  });
  return {
    findings: [...findings, ...unusedFindings].toSorted(byPlace),
    ignored,
    unreadable: read.unreadable,
    objectless: read.objectless,
    workloads,
    others: read.services.length + read.stages.length,
    passedOver: objects.passedOver,
    unchecked: passedOverIn(objects),
    checked: new Set([...objects.workloads.map(({ pod }) => pod), ...read.services, ...read.stages].map(pathOf)),
    sources: read.sources,
  };

  function findingsOn<On extends Kind>(on: On, about: Cases[On], subject: string, subjectAt: Place): Finding[] {
    return rules
      .filter((rule): rule is Rule<On> => rule.on === on)
      .flatMap((rule) =>
        rule.run(about).map((found) => {
          const severity = options.severities?.get(rule.id) ?? found.severity;
          return { ...found, rule: rule.id, severity, subject, subjectAt };
        }),
      );
  }
}

/** Rules that are left out, or find nothing without a flag that is not given. */
function unasked(options: Options): ReadonlySet<string> {
  const { minor, scenarios = [] } = options;
  const isMissing = (flag: string): boolean =>
    flag === '--scenario' ? scenarios.length === 0 : flag === '--kubernetes-version' && minor === undefined;
  const left = RULES.filter(({ id, flags = [] }) => !isWanted(id, options) || flags.some(isMissing));
  return new Set(left.map(({ id }) => id));
}

/** `SX3` names all that begin so. */
function isWanted(id: string, { only, skip = [] }: Options): boolean {
  if (skip.some((part) => id.startsWith(part))) return false;
  return only === undefined || only.some((part) => id.startsWith(part));
}

function placeOf(source: Source, { start, end }: Range = { start: 0, end: 0 }): Place {
  return { source, start, end };
}

function pathOf({ source }: Pick<Place, 'source'>): string {
  return source.path;
}

function byPlace(a: Finding, b: Finding): number {
  const paths = a.place.source.path < b.place.source.path ? -1 : a.place.source.path > b.place.source.path ? 1 : 0;
  return paths || a.place.start - b.place.start || (a.rule < b.rule ? -1 : a.rule > b.rule ? 1 : 0);
}
