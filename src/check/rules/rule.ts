/**
 * What a rule is. All rules are rows of tables; the documentation, `--explain` and the tests are made from the same
 * rows.
 */
import type { Edit, Severity } from '../finding.ts';
import type { ComposeService } from '../input/compose.ts';
import type { Stage } from '../input/dockerfile.ts';
import type { Objects, Other, Workload } from '../input/objects.ts';
import type { Place } from '../input/source.ts';
import type { Scenario } from '../scenarios.ts';
import type { Images } from '../stop/images.ts';
import type { PodView } from '../stop/plan.ts';

export interface Found {
  readonly place: Place;
  readonly message: string;
  /** In place of the rule's own. */
  readonly severity?: Severity;
  readonly container?: string;
  readonly atMs?: number;
  readonly edits?: readonly Edit[];
}

/** What is known of a workload. */
export interface WorkloadCase {
  readonly workload: Workload;
  readonly view: PodView;
  readonly objects: Objects;
  readonly images: Images;
  /** `1.36` is 36; undefined: not said. */
  readonly minor: number | undefined;
  readonly scenarios: readonly Scenario[];
}

export interface BudgetCase {
  readonly budget: Other;
  readonly workloads: readonly Workload[];
  readonly objects: Objects;
}

interface About {
  readonly id: string;
  readonly severity: Severity;
  /** A sentence without its full stop. */
  readonly title: string;
  /** The rule of the platform behind it. */
  readonly why: string;
  /** What to do. */
  readonly remedy: string;
  /** An input with the finding, and the same without. */
  readonly bad: string;
  readonly good: string;
  /** What the inputs of the examples are. */
  readonly language: 'yaml' | 'dockerfile';
  /** Flags that the examples need. */
  readonly flags?: readonly string[];
  /** It has edits for `--fix`, at least in some cases. */
  readonly isFixable?: true;
}

export type Rule = About &
  (
    | { readonly on: 'workload'; readonly find: (about: WorkloadCase) => readonly Found[] }
    | { readonly on: 'budget'; readonly find: (about: BudgetCase) => readonly Found[] }
    | { readonly on: 'compose'; readonly find: (about: ComposeService, images: Images) => readonly Found[] }
    | { readonly on: 'dockerfile'; readonly find: (about: Stage, images: Images) => readonly Found[] }
    /** Found by the machinery itself. */
    | { readonly on: 'ignores' }
  );
