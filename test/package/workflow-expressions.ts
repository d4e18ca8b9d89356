/** The expressions of a workflow, `${{ .. }}`: whether what they name is there. */
import { type Job, needsOf, type Step, type Workflow } from './workflow-lint.ts';

export interface Context {
  readonly workflow: Workflow;
  readonly job: Job;
  /** The steps whose outputs are there by then. */
  readonly earlier: readonly Step[];
}

/** What the actions that we use give. */
const OUTPUTS: Readonly<Record<string, readonly string[]>> = {
  'docker/build-push-action': ['imageid', 'digest', 'metadata'],
  'actions/upload-artifact': ['artifact-id', 'artifact-url', 'artifact-digest'],
};
const GITHUB = 'actor event_name ref ref_name repository run_id server_url sha token workflow'.split(' ');

/** `parts`: whatever can hold expressions, of any shape. */
export function expressionProblems(context: Context, parts: readonly unknown[]): string[] {
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
