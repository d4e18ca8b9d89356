/**
 * What can be wrong in a workflow of GitHub Actions without running it. Returns one sentence for each thing that is.
 *
 * Stricter than GitHub is: actions are pinned by commit, and rights are given per job. A script takes values from its
 * environment only, because an expression inside a script is pasted into it. Expressions may name only what is there.
 */
import { spawnSync } from 'node:child_process';
import { parse } from 'yaml';

type Values = Readonly<Record<string, unknown>>;

interface Step extends Readonly<Partial<Record<'id' | 'uses' | 'run', string>>> {
  readonly env?: Values;
  readonly with?: Values;
}

interface Job extends Readonly<Partial<Record<'permissions' | 'runs-on' | 'timeout-minutes', unknown>>> {
  readonly needs?: string | readonly string[];
  readonly strategy?: { readonly matrix?: Values };
  readonly env?: Values;
  readonly outputs?: Values;
  readonly steps?: readonly Step[];
}

export interface Workflow extends Readonly<Partial<Record<'on' | 'permissions', unknown>>> {
  readonly env?: Values;
  readonly jobs?: Readonly<Record<string, Job>>;
}

interface Context {
  readonly workflow: Workflow;
  readonly job: Job;
  /** The steps whose outputs are there by then. */
  readonly earlier: readonly Step[];
}

const PINNED = /^[\w.-]+\/[\w./-]+@[0-9a-f]{40}$/;
/** What the runner sets, and what every shell has. */
const RUNNERS = /^(GITHUB_[A-Z_]+|RUNNER_[A-Z_]+|CI|HOME|PATH|PWD)$/;

export function workflowProblems(text: string): string[] {
  const workflow = parse(text) as Workflow;
  const jobs = Object.entries(workflow.jobs ?? {});
  return [
    ...(workflow.on ? [] : ['nothing starts it']),
    ...(jobs.length > 0 ? [] : ['it has no jobs']),
    ...topProblems(workflow.permissions),
    ...commentProblems(text),
    ...jobs.flatMap(([name, job]) => jobProblems(workflow, job).map((problem) => `job ${name}: ${problem}`)),
  ];
}

function needsOf(job: Job): readonly string[] {
  return typeof job.needs === 'string' ? [job.needs] : (job.needs ?? []);
}

/** At the top nothing or reading only: what a job may write it says itself. */
function topProblems(permissions: unknown): string[] {
  if (permissions === undefined || typeof permissions !== 'object') return ['permissions are not set at the top'];
  const written = Object.entries(permissions ?? {}).filter(([, right]) => right !== 'read' && right !== 'none');
  return written.map(([scope]) => `${scope} may be written by all jobs; say so in the job that does`);
}

/** A commit alone does not tell a reader what it is. */
function commentProblems(text: string): string[] {
  const lines = text.split('\n').filter((line) => /^\s*(- )?uses:/.test(line));
  return lines.filter((line) => !/ # v\d+\.\d+\.\d+$/.test(line)).map((line) => `no version behind ${line.trim()}`);
}

function jobProblems(workflow: Workflow, job: Job): string[] {
  const names = Object.keys(workflow.jobs ?? {});
  const steps = job.steps ?? [];
  const ids = steps.flatMap(({ id }) => id ?? []);
  return [
    ...(job['runs-on'] ? [] : ['it has no runs-on']),
    ...(job['timeout-minutes'] ? [] : ['it has no timeout-minutes']),
    ...(job.permissions || Object.keys(workflow.permissions ?? {}).length > 0 ? [] : ['it has no permissions']),
    ...(steps.length > 0 ? [] : ['it has no steps']),
    ...needsOf(job).flatMap((need) => (names.includes(need) ? [] : [`it needs ${need}, which is not there`])),
    ...(reaches(workflow, job, job, new Set()) ? ['it needs itself'] : []),
    ...ids.filter((id, index) => ids.indexOf(id) !== index).map((id) => `two steps have the id ${id}`),
    ...expressionProblems({ workflow, job, earlier: steps }, [job.outputs, job.env]),
    ...expressionProblems({ workflow, job, earlier: [] }, [job['runs-on'], job.strategy]),
    ...steps.flatMap((step, index) =>
      stepProblems({ workflow, job, earlier: steps.slice(0, index), step }).map((it) => `step ${index + 1}: ${it}`),
    ),
  ];
}

function reaches(workflow: Workflow, from: Job, target: Job, seen: Set<Job>): boolean {
  return needsOf(from).some((need) => {
    const next = workflow.jobs?.[need];
    if (next === undefined || seen.has(next)) return false;
    seen.add(next);
    return next === target || reaches(workflow, next, target, seen);
  });
}

function stepProblems(context: Context & { readonly step: Step }): string[] {
  const { step } = context;
  if ((step.run === undefined) === (step.uses === undefined)) return ['it has not exactly one of run and uses'];
  return [
    ...expressionProblems(context, [step]),
    ...(step.run === undefined ? [] : scriptProblems(step.run, variablesFor(context))),
    ...(step.uses === undefined || PINNED.test(step.uses) ? [] : [`${step.uses} is not pinned by its commit`]),
    ...(step.uses?.startsWith('actions/checkout@') && step.with?.['persist-credentials'] !== false
      ? ['checkout leaves its token in the work tree']
      : []),
  ];
}

function variablesFor({ workflow, job, step }: Context & { readonly step: Step }): ReadonlySet<string> {
  return new Set([workflow.env, job.env, step.env].flatMap((env) => Object.keys(env ?? {})));
}

function scriptProblems(script: string, known: ReadonlySet<string>): string[] {
  const { status, stderr } = spawnSync('bash', ['-n'], { input: script, encoding: 'utf8' });
  const used = [...script.matchAll(/\$\{?([A-Z][A-Z0-9_]*)/g)].map(([, name = '']) => name);
  const unknown = used.filter((name) => !known.has(name) && !RUNNERS.test(name));
  return [
    ...(status === 0 ? [] : [`its script is no bash: ${stderr.trim()}`]),
    ...(script.includes('${{') ? ['an expression stands in its script; pass it in env'] : []),
    ...unknown.map((name) => `its script uses ${name}, which is not set`),
  ];
}

/** What the actions that we use give. */
const OUTPUTS: Readonly<Record<string, readonly string[]>> = {
  'docker/build-push-action': ['imageid', 'digest', 'metadata'],
  'actions/upload-artifact': ['artifact-id', 'artifact-url', 'artifact-digest'],
};
const GITHUB = 'actor event_name ref ref_name repository run_id server_url sha token workflow'.split(' ');

/** `parts`: whatever can hold expressions, of any shape. */
function expressionProblems(context: Context, parts: readonly unknown[]): string[] {
  const text = JSON.stringify(parts);
  const expressions = [...text.matchAll(/\$\{\{(.*?)\}\}/g)].map(([, inside = '']) => inside.trim());
  const unclosed = text.split('${{').length - 1 - expressions.length;
  return [
    ...(unclosed > 0 ? ['an expression is not closed'] : []),
    ...expressions.flatMap((expression) => {
      // The workflows use only names of the language; anything else has to be taught first.
      if (!/^[a-z]+(\.[\w-]+)+$/.test(expression)) return [`$\{{ ${expression} }} is not a plain name`];
      const why = whyNot(context, expression.split('.'));
      return why === undefined ? [] : [`$\{{ ${expression} }}: ${why}`];
    }),
  ];
}

function whyNot({ workflow, job, earlier }: Context, name: readonly string[]): string | undefined {
  const [root, first = '', kind, output = ''] = name;
  switch (root) {
    case 'steps': {
      const step = earlier.find(({ id }) => id === first);
      if (step === undefined) return `no earlier step has the id ${first}`;
      return kind === 'outputs' && gives(step, output) ? undefined : `that step gives no ${output}`;
    }
    case 'needs': {
      if (!needsOf(job).includes(first)) return `the job does not need ${first}`;
      const there = kind === 'outputs' && workflow.jobs?.[first]?.outputs?.[output] !== undefined;
      return there ? undefined : `that job gives no ${output}`;
    }
    case 'matrix':
      return job.strategy?.matrix?.[first] === undefined ? 'that is not in the matrix' : undefined;
    case 'env':
      return (workflow.env?.[first] ?? job.env?.[first]) ? undefined : 'that is not in env';
    case 'github':
      return GITHUB.includes(first) ? undefined : 'there is no such value';
    case 'secrets':
      return first === 'GITHUB_TOKEN' ? undefined : 'no secret but GITHUB_TOKEN is needed';
    case 'vars':
      return /^[A-Z][A-Z_]*$/.test(first) ? undefined : 'that is no name of a variable';
    default:
      return 'there is no such context';
  }
}

/** A script gives what it writes as `NAME=` or `NAME<<` for GITHUB_OUTPUT. */
function gives({ uses, run }: Step, output: string): boolean {
  if (uses !== undefined) return OUTPUTS[uses.replace(/@.*/, '')]?.includes(output) ?? false;
  return run?.includes('GITHUB_OUTPUT') === true && new RegExp(`\\b${output}(=|<<)`).test(run);
}
