import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { check } from '../../src/check/check.ts';
import { positionAt } from '../../src/check/input/source.ts';
import { examples } from './rules.ts';

const BAD = examples('SX101').bad;
const DEFINITION = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: webs.example.com}
spec:
  description: |
    A deployment:
    ---
    kind: Deployment
`;

describe('CustomResourceDefinitions', () => {
  for (const [where, text, line] of [
    ['first', `${DEFINITION}---\n${BAD}`, 9],
    ['last', `${BAD}---\n${DEFINITION}`, 0],
    ['without a line end', `${BAD}---\n${DEFINITION.trimEnd()}`, 0],
    ['with CRLF, behind a comment', `# all\n---\n${DEFINITION}---\n${BAD}`.replaceAll('\n', '\r\n'), 11],
    ['two of them', `${DEFINITION}--- # next\n${DEFINITION}---\n${BAD}`, 18],
  ] as const)
    it(`CustomResourceDefinitions are counted and not read: ${where}`, async () => {
      const { findings, passedOver, unreadable } = await check([{ path: 'a.yaml', text }]);
      assert.deepEqual(unreadable, []);
      assert.equal(passedOver.get('CustomResourceDefinition'), where === 'two of them' ? 2 : 1);
      const [found] = findings;
      assert.deepEqual([found?.rule, findings.length], ['SX101', 1]);
      assert.ok(found !== undefined && found.place.source.text === text);
      assert.equal(positionAt(found.place.source, found.place.start).line, 14 + line);
    });

  it('CustomResourceDefinitions are not read even where they are no YAML', async () => {
    const { unreadable } = await check([{ path: 'a.yaml', text: `${DEFINITION}a: [1\n---\nb: [1\n` }]);
    assert.deepEqual(
      unreadable.map(({ line }) => line),
      [12],
    );
  });

  it('an object that only looks like a CustomResourceDefinition is read', async () => {
    const map = `apiVersion: v1\nkind: ConfigMap\ndata:\n  a: |\n    kind: CustomResourceDefinition\n`;
    const two = `apiVersion: v1\nkind: CustomResourceDefinition\nkind: ConfigMap\n`;
    const { passedOver } = await check([{ path: 'a.yaml', text: `${map}---\n${two}---\n${BAD}` }]);
    assert.deepEqual([...passedOver], []);
  });
});
