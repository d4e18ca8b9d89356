/** Every Kubernetes manifest of the examples and docs fits the types made from Kubernetes' OpenAPI description. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allManifests, parseManifests } from '../helpers/manifest.ts';
import { problemsOf } from '../helpers/manifest-types.ts';

const POD = (spec: string): string => `apiVersion: v1\nkind: Pod\nmetadata: { name: a }\nspec: ${spec}\n`;
const REFUSED: readonly (readonly [what: string, yaml: string, says: RegExp])[] = [
  [
    'a misspelt field',
    POD('{ terminationGracePeriodSecond: 5, containers: [] }'),
    /'terminationGracePeriodSecond' does not exist .* Did you mean to write 'terminationGracePeriodSeconds'/,
  ],
  [
    'a field far inside',
    POD('{ containers: [{ name: a, lifecycle: { preStop: { exec: { comand: [ls] } } } }] }'),
    /'comand' does not exist/,
  ],
  ['a number for a text', POD('{ containers: [{ name: a, command: [sleep, 5] }] }'), /'number' is not assignable/],
  ['a yes for a text', POD('{ containers: [{ name: a, args: [yes] }] }'), /'boolean' is not assignable/],
  ['a value that is none of those allowed', POD('{ restartPolicy: Sometimes, containers: [] }'), /"Sometimes"/],
  ['a field that is missing', POD('{ containers: [{ image: a }] }'), /'"name"' is missing/],
  ['a kind that does not exist', 'apiVersion: apps/v1\nkind: Job\n', /Cannot find module/],
];

test('all manifests of the examples and the docs fit the types of Kubernetes', async () => {
  const manifests = allManifests();
  assert.ok(manifests.length >= 3, 'the manifests were found');
  assert.deepEqual(await problemsOf(manifests), []);
});

test('the compiler names each field or value that does not fit', async () => {
  const manifests = REFUSED.flatMap(([what, yaml]) => parseManifests(yaml, what));
  const problems = await problemsOf(manifests);
  for (const [what, , says] of REFUSED) {
    const found = problems.filter((it) => it.startsWith(`${what}: `));
    assert.equal(found.length, 1, `${what}: ${problems.join('\n')}`);
    assert.match(found[0] ?? '', says);
  }
});
