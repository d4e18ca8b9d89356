/**
 * The JSON Schema (draft 2020-12) of what `sexton report -o json` prints.
 */
import { REPORT_VERSION } from './plain.ts';

const text = { type: 'string' };
const count = { type: 'integer', minimum: 0 };
const offset = { type: 'integer', description: 'Milliseconds since the stop of the pod began; negative: before.' };
const time = { type: 'string', format: 'date-time' };

function object(properties: Readonly<Record<string, object>>, optional: readonly string[] = []): object {
  const required = Object.keys(properties).filter((key) => !optional.includes(key));
  return { type: 'object', properties, required, additionalProperties: false };
}

function list(items: object): object {
  return { type: 'array', items };
}

const QUANTILES = object({ p50: { type: 'number' }, p95: { type: 'number' }, max: { type: 'number' } });
const CONNECTIONS = object({ New: count, Ignored: count, LastNewMs: count, Open: count, Ended: text }, [
  'LastNewMs',
  'Open',
]);
const MEMBER_OPTIONAL = [
  'role',
  'stopReason',
  'reason',
  'exitCode',
  'signal',
  'forcedBy',
  'restartedInPlace',
  'connections',
  'requestedMs',
  'diedMs',
  'deadlineMs',
  'predicted',
  'source',
  'absences',
  'hurried',
] as const;

export function reportSchema(): object {
  const member = object(
    {
      name: text,
      role: { enum: ['main', 'sidecar'] },
      stopReason: text,
      reason: text,
      exitCode: { type: 'integer' },
      signal: text,
      forcedBy: text,
      restarts: count,
      restartedInPlace: object({ times: count, by: text }),
      connections: CONNECTIONS,
      requestedMs: offset,
      diedMs: offset,
      deadlineMs: offset,
      predicted: object({
        endMs: object({ min: offset, max: offset }),
        kill: { enum: ['never', 'maybe', 'always'] },
        asPredicted: { type: 'boolean' },
      }),
      source: { const: 'kubelet', description: 'The kubelet alone tells of it, in whole seconds.' },
      absences: list(object({ fromMs: offset, untilMs: offset, how: text })),
      hurried: object({ atMs: offset, signal: text }),
      spans: list(object({ phase: text, fromMs: offset, untilMs: offset })),
      marks: list(object({ atMs: offset, text })),
    },
    MEMBER_OPTIONAL,
  );
  const pod = object(
    {
      pod: text,
      workload: text,
      summary: text,
      over: { type: 'boolean' },
      began: time,
      ended: time,
      stopMs: count,
      graceMs: count,
      deadline: time,
      forced: list(text),
      late: list(text),
      earlier: { ...list(text), description: 'Members whose own stop, or end, was before that of the pod.' },
      criticalChain: list(text),
      platform: { ...text, description: 'Why the platform stopped the pod.' },
      prediction: object({
        of: text,
        compared: { type: 'boolean' },
        asPredicted: { type: 'boolean' },
        differences: list(text),
      }),
      members: { ...list(member), minItems: 1 },
    },
    ['ended', 'graceMs', 'deadline', 'platform', 'prediction'],
  );
  const workload = object(
    {
      workload: text,
      pods: { type: 'integer', minimum: 1 },
      forced: count,
      late: count,
      stop: QUANTILES,
      activities: { type: 'object', additionalProperties: QUANTILES },
      leastLeftMs: { type: 'number' },
    },
    ['leastLeftMs'],
  );
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: `urn:sexton:report:${REPORT_VERSION}`,
    title: 'How pods stopped',
    ...object({ version: { const: REPORT_VERSION }, pods: list(pod), workloads: list(workload) }),
  };
}
