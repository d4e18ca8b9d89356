/**
 * The JSON Schema (draft 2020-12) of what `sexton report -o json` prints.
 */
import { REPORT_VERSION } from './plain.ts';

const text = { type: 'string' };
const flag = { type: 'boolean' };
const count = { type: 'integer', minimum: 0 };
const offset = { type: 'integer', description: 'Milliseconds since the stop of the pod began; negative: before.' };
const time = { type: 'string', format: 'date-time' };

/** A field whose name ends in `?` may be absent. */
function object(fields: Readonly<Record<string, object>>): object {
  const properties = Object.fromEntries(Object.entries(fields).map(([name, type]) => [name.replace('?', ''), type]));
  const required = Object.keys(fields).filter((name) => !name.endsWith('?'));
  return { type: 'object', properties, required, additionalProperties: false };
}

function list(items: object): object {
  return { type: 'array', items };
}

/** Fields of one type. */
function all(type: object, names: string): Readonly<Record<string, object>> {
  return Object.fromEntries(names.split(' ').map((name) => [name, type]));
}

const QUANTILES = object(all({ type: 'number' }, 'p50 p95 max'));

const MEMBER = object({
  ...all(text, 'name stopReason? reason? signal? forcedBy?'),
  'role?': { enum: ['main', 'sidecar'] },
  'exitCode?': { type: 'integer' },
  restarts: count,
  'restartedInPlace?': object({ times: count, by: text }),
  'connections?': object({ ...all(count, 'New Ignored LastNewMs? Open?'), Ended: text }),
  ...all(offset, 'requestedMs? diedMs? deadlineMs?'),
  'predicted?': object({
    endMs: object({ min: offset, max: offset }),
    kill: { enum: ['never', 'maybe', 'always'] },
    asPredicted: flag,
  }),
  'source?': { const: 'kubelet', description: 'The kubelet alone tells of it, in whole seconds.' },
  'absences?': list(object({ fromMs: offset, untilMs: offset, how: text })),
  'hurried?': object({ atMs: offset, signal: text }),
  spans: list(object({ phase: text, fromMs: offset, untilMs: offset })),
  marks: list(object({ atMs: offset, text })),
});

const POD = object({
  ...all(text, 'pod workload summary'),
  over: flag,
  ...all(time, 'began ended? deadline?'),
  ...all(count, 'stopMs graceMs?'),
  ...all(list(text), 'forced late criticalChain'),
  earlier: { ...list(text), description: 'Members whose own stop, or end, was before that of the pod.' },
  'platform?': { ...text, description: 'Why the platform stopped the pod.' },
  'prediction?': object({ of: text, ...all(flag, 'compared asPredicted'), differences: list(text) }),
  members: { ...list(MEMBER), minItems: 1 },
});

const WORKLOAD = object({
  workload: text,
  pods: { type: 'integer', minimum: 1 },
  ...all(count, 'forced late'),
  stop: QUANTILES,
  activities: { type: 'object', additionalProperties: QUANTILES },
  'leastLeftMs?': { type: 'number' },
});

export function reportSchema(): object {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: `urn:sexton:report:${REPORT_VERSION}`,
    title: 'How pods stopped',
    ...object({ version: { const: REPORT_VERSION }, pods: list(POD), workloads: list(WORKLOAD) }),
  };
}
