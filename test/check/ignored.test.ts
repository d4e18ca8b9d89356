/** Ignores that ignore nothing. The check can know that only of a rule that it has run. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { check, type Options } from '../../src/check/check.ts';

const TEXT = `apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  os: {name: linux}
  terminationGracePeriodSeconds: 1 # sexton-ignore SX109: it keeps no state
  # sexton-ignore SX106, SX999: nothing is lost
  containers:
    # sexton-ignore SX204: the gate is on
    - {name: web, image: "nginx:1.29", lifecycle: {stopSignal: SIGQUIT}} # sexton-ignore SX201: it is no shell
`;

async function unused(options: Options): Promise<readonly string[]> {
  const { findings } = await check([{ path: 'a.yaml', text: TEXT }], options);
  return findings
    .filter(({ rule }) => rule === 'SX901')
    .map(({ message, edits }) => `${message.replace('this ignore ignores nothing: ', '')} ${edits.length}`);
}

describe('an ignore that ignores nothing', () => {
  it('an unused ignore is reported where its rule ran and found nothing', async () => {
    const all = { minor: 36, scenarios: [{ name: 'spot=25', capMs: 25_000 }] };
    assert.deepEqual(await unused(all), ['there is no rule SX999 1', 'SX201 finds nothing here 1']);
    assert.deepEqual(await unused({ ...all, minor: 37 }), [
      'there is no rule SX999 1',
      'SX204 finds nothing here 1',
      'SX201 finds nothing here 1',
    ]);
  });

  it('an ignore is left alone where its rule was skipped', async () => {
    assert.deepEqual(await unused({ only: ['SX9'] }), ['there is no rule SX999 0']);
    assert.deepEqual(await unused({ skip: ['SX1', 'SX20'] }), ['there is no rule SX999 0']);
  });

  it('an ignore is left alone where its rule lacks a flag that it needs', async () => {
    assert.deepEqual(await unused({}), ['there is no rule SX999 0', 'SX201 finds nothing here 1']);
  });
});
