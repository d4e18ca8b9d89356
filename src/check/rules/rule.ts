/**
 * What a rule is. Each is a folder: `rule.ts` beside an input that it reports and one that it does not. `find` yields
 * the places, `say` makes the message, and `fix` the edits.
 */
import type { Edit, Found, Severity, Unused } from '../finding.ts';
import type { ComposeService } from '../input/compose.ts';
import type { Stage } from '../input/dockerfile.ts';
import type { Range } from '../input/located.ts';
import type { Objects, Other, Workload } from '../input/objects.ts';
import type { Container, Pod } from '../input/pod.ts';
import { type Source, trimmed } from '../input/source.ts';
import type { Images } from '../stop/images.ts';
import type { ContainerView, PodView } from '../stop/plan.ts';

/** A way in which a pod is stopped that leaves less time than it declares. */
export interface Scenario {
  /** As the user wrote it. */
  readonly name: string;
  /** The most that the platform leaves; undefined: the pod's own grace period. */
  readonly capMs: number | undefined;
}

export interface WorkloadCase {
  readonly workload: Workload;
  readonly pod: Pod;
  readonly view: PodView;
  readonly objects: Objects;
  readonly images: Images;
  /** `1.36` is 36; undefined: not said. */
  readonly minor: number | undefined;
  readonly scenarios: readonly Scenario[];
}

export interface ContainerCase extends WorkloadCase, ContainerView {
  readonly graceMs: number;
}

export interface Cases {
  readonly workload: WorkloadCase;
  readonly budget: { readonly budget: Other; readonly workloads: readonly Workload[]; readonly objects: Objects };
  readonly compose: { readonly service: ComposeService; readonly images: Images };
  readonly dockerfile: { readonly stage: Stage; readonly images: Images };
  readonly ignores: Unused;
}
export type Kind = keyof Cases;

interface About {
  readonly severity: Severity;
  /** A sentence without its full stop. */
  readonly title: string;
  /** The rule of the platform behind it. */
  readonly why: string;
  readonly remedy: string;
  /** Flags that the examples need. */
  readonly flags?: readonly string[];
}

/** A place that a rule has found, with what `say` and `fix` need. */
interface Hit {
  /** Default: all of the subject. */
  readonly at?: Range | undefined;
  /** Default: the text of the subject. */
  readonly source?: Source;
  /** Default: the severity of the rule. */
  readonly severity?: Severity;
  readonly container?: Container;
  /** Milliseconds after the stop request: where it hurts. */
  readonly atMs?: number;
}

interface Parts<Case, H extends Hit> extends About {
  find(about: Case): Iterable<H>;
  say(hit: H, about: Case): string;
  fix?(hit: H, about: Case): readonly Edit[];
}

/** A rule without its id, which is the name of its folder. */
export interface Draft<On extends Kind = Kind> extends About {
  readonly on: On;
  /** It has edits for `--fix`, at least in some cases. */
  readonly isFixable: boolean;
  run(about: Cases[On]): readonly Found[];
}

export interface Rule<On extends Kind = Kind> extends Draft<On> {
  readonly id: string;
}

/** The rule looks at each container by itself; messages begin with the name of the container. */
export function ofContainer<H extends Hit>(parts: Parts<ContainerCase, H>): Draft<'workload'> {
  return draft('workload', parts, (about) => {
    const { pod, view } = about;
    return view.containers.flatMap((one) => {
      const whole = { ...about, ...one, graceMs: view.timeline.graceMs };
      return foundBy(parts, whole, { container: one.container, source: pod.source, at: one.container.node });
    });
  });
}

export const ofWorkload = ruleOn('workload', ({ pod: { source, spec } }) => ({ source, at: spec }));
export const ofBudget = ruleOn('budget', ({ budget: { source, object } }) => ({ source, at: object }));
/** Messages begin with the name of the service, and its first key stands for all of it. */
export const ofService = ruleOn('compose', ({ service: { source, name, node } }) => {
  const [first] = node.entries.values();
  return { source, at: first?.key ?? node, prefix: `${name}: ` };
});
export const ofStage = ruleOn('dockerfile', ({ stage: { source } }) => ({ source, at: { start: 0, end: 0 } }));
export const ofIgnores = ruleOn('ignores', ({ ignore: { place } }) => ({ source: place.source, at: place }));

function ruleOn<On extends Kind>(on: On, subjectOf: (about: Cases[On]) => Subject) {
  return <H extends Hit>(parts: Parts<Cases[On], H>): Draft<On> =>
    draft(on, parts, (about) => foundBy(parts, about, subjectOf(about)));
}

function draft<On extends Kind>(on: On, parts: About & { readonly fix?: unknown }, run: Draft<On>['run']): Draft<On> {
  const { severity, title, why, remedy, flags = [], fix } = parts;
  return { severity, title, why, remedy, flags, on, isFixable: fix !== undefined, run };
}

interface Subject {
  readonly source: Source;
  readonly at: Range;
  readonly container?: Container;
  readonly prefix?: string;
}

function foundBy<Case, H extends Hit>(parts: Parts<Case, H>, about: Case, subject: Subject): readonly Found[] {
  return Array.from(parts.find(about), (hit) => {
    const { source = subject.source, severity = parts.severity, container = subject.container, atMs } = hit;
    const { at = container?.node ?? subject.at } = hit;
    const title = container?.isNative === true ? `native sidecar ${container.name}` : container?.name;
    const prefix = title === undefined ? (subject.prefix ?? '') : `${title}: `;
    return {
      place: { source, ...trimmed(source, at) },
      message: `${prefix}${parts.say(hit, about)}`,
      severity,
      container: container?.name,
      atMs,
      edits: parts.fix?.(hit, about) ?? [],
    };
  });
}
