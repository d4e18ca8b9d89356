/**
 * The JSON Schema (draft 2020-12) of `-o json`: `sexton check --schema`.
 */
import { SEVERITIES } from '../finding.ts';
import { RULE_IDS } from '../rules/table.ts';
import { CHECK_VERSION } from './machine.ts';

const OPTIONAL: readonly string[] = ['container', 'atMs', 'reason', 'line'];
const text = { type: 'string' } as const;
const count = { type: 'integer', minimum: 1 } as const;
const ms = { type: 'number', minimum: 0 } as const;
const bounds = record({ min: ms, max: { anyOf: [ms, { type: 'null' }], description: 'null: nothing bounds it' } });
const finding = {
  rule: { enum: RULE_IDS },
  severity: { enum: SEVERITIES },
  message: text,
  path: text,
  line: count,
  column: { ...count, description: 'in UTF-16 code units' },
  subject: text,
  container: text,
  atMs: { ...ms, description: 'since the stop request: where it hurts' },
  fixable: { type: 'boolean' },
} as const;

export const CHECK_SCHEMA = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  title: 'What sexton check has found',
  ...record({
    version: { const: CHECK_VERSION },
    findings: listOf(record({ ...finding, fingerprint: { type: 'string', pattern: '^[0-9a-f]{32}$' } })),
    ignored: listOf(record({ ...finding, reason: text })),
    unreadable: listOf(record({ path: text, line: count, why: text })),
    workloads: listOf(
      record({
        kind: text,
        name: text,
        path: text,
        gracePeriodMs: ms,
        endMs: bounds,
        containers: listOf(
          record({
            name: text,
            native: { type: 'boolean' },
            termMs: bounds,
            toldMs: { ...bounds, description: 'when its own program gets a stop signal' },
            endMs: bounds,
            killMs: { ...bounds, description: 'when the kubelet kills it if it has not ended' },
            killed: { enum: ['never', 'maybe', 'always'] },
          }),
        ),
      }),
    ),
  }),
} as const;

function record(properties: Readonly<Record<string, unknown>>) {
  const required = Object.keys(properties).filter((key) => !OPTIONAL.includes(key));
  return { type: 'object', properties, required, additionalProperties: false } as const;
}

function listOf(items: unknown) {
  return { type: 'array', items } as const;
}
