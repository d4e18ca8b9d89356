import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { check } from '../../src/check/check.ts';
import { DELIVERIES } from '../../src/inject/delivery.ts';
import { inject, uninject } from '../../src/inject/inject.ts';
import '../helpers/seeded.ts';
import { OPTIONS } from './inject.ts';
import { manifests } from './pods.ts';

const cases = fc.tuple(manifests, fc.constantFrom(...DELIVERIES));

/** What is refused stays as it is, so the laws hold for every text. */
async function texts(text: string, deliver: (typeof DELIVERIES)[number]) {
  const options = { ...OPTIONS, deliver };
  const first = await inject([{ path: 'x.yaml', text }], options);
  const after = first.changes[0]?.text ?? text;
  return { first, after, options };
}

describe('sexton inject', () => {
  it('uninject restores every byte, and a second inject changes none', async () => {
    let count = 0;
    await fc.assert(
      fc.asyncProperty(cases, async ([text, deliver]) => {
        const { first, after, options } = await texts(text, deliver);
        const members = first.outcomes.reduce((sum, one) => sum + one.members.length, 0);
        count += members;
        assert.equal(after !== text, members > 0);
        const back = await uninject([{ path: 'x.yaml', text: after }]);
        assert.equal(back.changes[0]?.text ?? after, text);
        assert.deepEqual((await inject([{ path: 'x.yaml', text: after }], options)).changes, []);
      }),
      { numRuns: 150 },
    );
    assert.ok(count > 100, `only ${count} containers were wrapped`);
  });

  it('sexton check finds nothing in an injected pod that it did not find before', async () => {
    await fc.assert(
      fc.asyncProperty(cases, async ([text, deliver]) => {
        const { after, options } = await texts(text, deliver);
        const [before, now] = await Promise.all(
          [text, after].map((one) => check([{ path: 'x.yaml', text: one }], { images: options.images })),
        );
        const known = new Set(before?.findings.map(({ rule, container }) => `${rule} ${container}`));
        const fresh = now?.findings.filter(({ rule, container }) => !known.has(`${rule} ${container}`));
        assert.deepEqual(fresh, []);
      }),
      { numRuns: 50 },
    );
  });
});
