/**
 * `sexton check -` as a KRM function, by the specification: github.com/kubernetes-sigs/kustomize,
 * cmd/config/docs/api-conventions/functions-spec.md.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { describe, it } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { parse } from 'yaml';
import { SEXTON } from '../helpers/paths.ts';
import { examples } from './rules.ts';

const TEXT = { type: 'string' } as const;
const REFERENCE = {
  type: 'object',
  required: ['apiVersion', 'kind', 'name'],
  properties: { apiVersion: TEXT, kind: TEXT, name: TEXT, namespace: TEXT },
  additionalProperties: false,
} as const;
/** A ResourceList as the specification describes it; it allows no other keys. */
const LIST = {
  type: 'object',
  required: ['apiVersion', 'kind', 'items'],
  properties: {
    apiVersion: { enum: ['config.kubernetes.io/v1', 'config.kubernetes.io/v1beta1', 'config.kubernetes.io/v1alpha1'] },
    kind: { const: 'ResourceList' },
    items: { type: 'array', items: { type: 'object', required: ['apiVersion', 'kind', 'metadata'] } },
    functionConfig: { type: 'object' },
    results: {
      type: 'array',
      items: {
        type: 'object',
        required: ['message'],
        properties: {
          message: { type: 'string', minLength: 1 },
          severity: { enum: ['error', 'warning', 'info'] },
          resourceRef: REFERENCE,
          field: { type: 'object', required: ['path'], properties: { path: TEXT }, additionalProperties: false },
          file: {
            type: 'object',
            required: ['path'],
            properties: { path: TEXT, index: { type: 'integer', minimum: 0 } },
            additionalProperties: false,
          },
          tags: { type: 'object', additionalProperties: TEXT },
        },
        additionalProperties: false,
      },
    },
  },
  additionalProperties: false,
} as const;
const isList = new Ajv2020().compile(LIST);

interface KrmResult {
  readonly message: string;
  readonly severity: string;
  readonly field?: { readonly path: string };
  readonly file?: unknown;
  readonly resourceRef?: unknown;
  readonly tags?: unknown;
}

/** As an orchestrator runs it: the list on stdin, what comes of it on stdout. */
function runFunction(input: string) {
  const { status, stdout, stderr } = spawnSync(SEXTON, ['check', '-'], { input, encoding: 'utf8' });
  const output: { readonly results: readonly KrmResult[]; readonly items: unknown } = parse(stdout);
  assert.ok(isList(output), `${JSON.stringify(isList.errors)}\n${stdout}`);
  return { code: status, out: stdout, err: stderr, results: output.results, items: output.items };
}

const ANNOTATED =
  "annotations: {internal.config.kubernetes.io/path: 'web/all.yaml', internal.config.kubernetes.io/index: '1'}";

function item(text: string): string {
  const lines = text.replace('metadata: {name: web}', `metadata: {name: web, namespace: shop, ${ANNOTATED}}`).trimEnd();
  return `- ${lines.replaceAll('\n', '\n  ')}\n`;
}

const BAD = item(examples('SX101').bad);
const GOOD = item(examples('SX101').good);
const WARNS = item(examples('SX109').bad);
const HEAD = 'apiVersion: config.kubernetes.io/v1\nkind: ResourceList\n';

describe('sexton check as a KRM function', () => {
  it('the KRM list comes back with results that name object, field and file', () => {
    const { code, err, results } = runFunction(`${HEAD}items:\n${GOOD}${BAD}`);
    const [first, ...more] = results;
    assert.deepEqual([code, err, more], [1, '', []]);
    assert.match(first?.message ?? '', /^SX101: web: a preStop of 35 s/);
    assert.deepEqual(first, {
      message: first?.message,
      severity: 'error',
      tags: { rule: 'SX101' },
      resourceRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', namespace: 'shop' },
      field: { path: 'spec.template.spec.containers[0].lifecycle.preStop' },
      file: { path: 'web/all.yaml', index: 1 },
    });
  });

  it('the KRM function succeeds with warnings among its results', () => {
    assert.deepEqual(runFunction(`${HEAD}items:\n${GOOD}`).results, []);
    const { code, results } = runFunction(`${HEAD}items:\n${WARNS}`);
    assert.deepEqual([code, ...results.map(({ severity }) => severity)], [0, 'warning']);
    assert.deepEqual(runFunction(`${HEAD}items: []\n`), {
      code: 0,
      out: `${HEAD.replace('kind', 'results: []\nkind')}items: []\n`,
      err: '',
      results: [],
      items: [],
    });
  });

  it('the KRM function keeps items, comments and functionConfig byte for byte', () => {
    const config =
      'functionConfig: # how it is called\n  apiVersion: v1\n  kind: ConfigMap\n  metadata: {name: check}\n';
    const items = `items: # all of them\n# the first\n${GOOD}# the second\n${BAD}`;
    const { out } = runFunction(HEAD + config + items);
    assert.ok(out.includes(config), out);
    assert.ok(out.includes(items), out);
    assert.equal(out.replace(/^results: .*\n/m, ''), HEAD + config + items);
  });

  for (const [style, old] of Object.entries({
    block: 'results:\n- message: old\n  severity: info\n',
    indented: 'results:\n  - message: old\n',
    flow: 'results: [{message: old}]\n',
    empty: 'results: []\n',
    nothing: 'results:\n',
  }))
    it(`the KRM function replaces earlier results, ${style}`, () => {
      const before = runFunction(`${HEAD}${old}items:\n${BAD}`);
      const behind = runFunction(`${HEAD}items:\n${BAD}${old}`);
      for (const { results, out } of [before, behind]) {
        assert.equal(results.length, 1);
        assert.match(results[0]?.message ?? '', /^SX101/);
        assert.ok(out.includes(BAD.trimEnd()));
        assert.equal(runFunction(out).out, out);
      }
    });

  it('the KRM function accepts JSON and earlier versions of the list', () => {
    const list = { apiVersion: 'config.kubernetes.io/v1beta1', kind: 'ResourceList', items: parse(BAD) };
    for (const indent of [undefined, 2]) {
      const { out, results, items } = runFunction(JSON.stringify(list, null, indent));
      assert.equal(results.length, 1);
      assert.deepEqual(items, list.items);
      assert.doesNotThrow(() => JSON.parse(out));
    }
  });

  it('the KRM function joins the items of the list', () => {
    const { results } = runFunction(`${HEAD}items:\n${examples('SX301').bad.split('---\n').map(item).join('')}`);
    const tags = results.map((one) => one.tags);
    assert.deepEqual(tags, [{ rule: 'SX301' }]);
  });
});
