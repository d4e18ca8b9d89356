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

const QUANTILES = object({ p50: { type: 'number' }, p95: { type: 'number' }, max: { type: 'number' } });

const MEMBER = object({
  name: text,
  'role?': { enum: ['main', 'sidecar'] },
  'stopReason?': text,
  'reason?': text,
  'exitCode?': { type: 'integer' },
  'signal?': text,
  'forcedBy?': text,
  restarts: count,
  'restartedInPlace?': object({ times: count, by: text }),
  'connections?': object({ New: count, Ignored: count, 'LastNewMs?': count, 'Open?': count, Ended: text }),
  'requestedMs?': offset,
  'diedMs?': offset,
  'deadlineMs?': offset,
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
  pod: text,
  workload: text,
  summary: text,
  over: flag,
  began: time,
  'ended?': time,
  stopMs: count,
  'graceMs?': count,
  'deadline?': time,
  forced: list(text),
  late: list(text),
  earlier: { ...list(text), description: 'Members whose own stop, or end, was before that of the pod.' },
  criticalChain: list(text),
  'platform?': { ...text, description: 'Why the platform stopped the pod.' },
  'prediction?': object({ of: text, compared: flag, asPredicted: flag, differences: list(text) }),
  members: { ...list(MEMBER), minItems: 1 },
});

const WORKLOAD = object({
  workload: text,
  pods: { type: 'integer', minimum: 1 },
  forced: count,
  late: count,
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
