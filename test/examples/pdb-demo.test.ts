/** The numbers in the example's manifests fit each other. sexton cannot see those of the pod. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { ROOT, SEXTON } from '../helpers/paths.ts';

interface Deployment {
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly replicas: number;
    readonly selector: { readonly matchLabels: object };
    readonly template: {
      readonly metadata: { readonly labels: object };
      readonly spec: {
        readonly terminationGracePeriodSeconds: number;
        readonly containers: readonly { readonly command: readonly string[] }[];
      };
    };
  };
}

interface Budget {
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly maxUnavailable: number;
    readonly selector: { readonly matchLabels: object };
    readonly unhealthyPodEvictionPolicy: string;
  };
}

const SPARE_MS = 5_000;
const HERE = join(ROOT, 'examples', 'pdb-demo');
const { spec } = manifest<Deployment>('deployment.yaml');
const budgets: readonly Budget[] = ['pdb.yaml', 'pdb-if-healthy-budget.yaml'].map((name) => manifest<Budget>(name));

test('sexton gets the grace period of the pod, and drain and rungs leave some of it', () => {
  const [container] = spec.template.spec.containers;
  const [program, ...args] = container?.command ?? [];
  assert.equal(program, '/sexton/sexton');
  const graceMs = spec.template.spec.terminationGracePeriodSeconds * 1_000;
  const { status, stdout, stderr } = spawnSync(SEXTON, ['explain', '-o', 'json', ...args], {
    env: {},
    encoding: 'utf8',
  });
  assert.equal(status, 0, stderr);
  const { member, warnings } = JSON.parse(stdout);
  assert.deepEqual(warnings, []);
  assert.equal(member.gracePeriodMs, graceMs);
  assert.ok(member.drain.ms > 0);
  const rungsMs = member.ladder.reduce((sum: number, { forMs = 0 }) => sum + forMs, 0);
  assert.ok(member.drain.ms + rungsMs + SPARE_MS <= graceMs, `${member.drain.ms} + ${rungsMs} of ${graceMs}`);
});

test('both budgets are about the pods of the Deployment, and leave some of them', () => {
  for (const { metadata, spec: budget } of budgets) {
    assert.deepEqual(budget.selector.matchLabels, spec.template.metadata.labels);
    assert.deepEqual(budget.selector.matchLabels, spec.selector.matchLabels);
    assert.ok(budget.maxUnavailable >= 1 && budget.maxUnavailable < spec.replicas);
    // Both have one name, so one replaces the other. Two budgets for one pod forbid every eviction.
    assert.equal(metadata.name, budgets[0]?.metadata.name);
  }
  const policies = budgets.map((budget) => budget.spec.unhealthyPodEvictionPolicy);
  assert.deepEqual(policies, ['AlwaysAllow', 'IfHealthyBudget']);
});

function manifest<T>(name: string): T {
  return parse(readFileSync(join(HERE, name), 'utf8'));
}
