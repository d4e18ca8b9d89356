import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  formatDuration,
  LONGEST_MS,
  parseDuration,
  parseGoDuration,
  parseSomeTime,
} from '../../../src/config/notation/duration.ts';
import { comesBack } from './comes-back.ts';

describe('a duration', () => {
  const RIGHT: Readonly<Record<string, number>> = {
    '0': 0,
    '0s': 0,
    '500ms': 500,
    '30s': 30_000,
    '1m30s': 90_000,
    '2h': 7_200_000,
    '1h1m1s1ms': 3_661_001,
    '90s': 90_000,
    '596h': 2_145_600_000,
  };
  for (const [text, ms] of Object.entries(RIGHT)) {
    it(`${text} is ${ms} ms`, () => assert.deepEqual(parseDuration(text), { ok: true, value: ms }));
  }

  const WRONG = '5 -5s 1.5s 5S s 30s1m 5s5s 1e3s +5s 5sec 0x5s 597h ٣s'.split(' ');
  for (const text of ['', ' ', '5 s', ...WRONG]) {
    it(`${JSON.stringify(text)} is no duration, and the reason has a remedy`, () => {
      const parsed = parseDuration(text);
      assert.ok(!parsed.ok);
      assert.match(parsed.why, /; write /);
    });
  }

  it('comes back the same after it was written', () => {
    comesBack(fc.integer({ min: 0, max: LONGEST_MS }), parseDuration, formatDuration);
  });

  it('a duration that a remedy names is valid', () => {
    const slip = fc.stringMatching(/^[0-9]{1,3}(\.[0-9])? ?(s|m|h|ms|S|M|sec|secs|seconds|min|minutes|)$/);
    fc.assert(
      fc.property(slip, (text) => {
        const parsed = parseDuration(text);
        const remedy = parsed.ok ? undefined : /^must be a duration; write (\S+)$/.exec(parsed.why)?.[1];
        if (remedy !== undefined) assert.ok(parseDuration(remedy).ok, `${text}: ${remedy}`);
      }),
    );
  });

  it('a duration that must be longer than 0 cannot be 0', () => {
    assert.equal(parseSomeTime('0ms').ok, false);
    assert.deepEqual(parseSomeTime('1ms'), { ok: true, value: 1 });
  });
});

describe("a duration in Go's notation", () => {
  const RIGHT: Readonly<Record<string, number>> = {
    '0': 0,
    '1.5h': 5_400_000,
    '.5s': 500,
    '1m0.25s': 60_250,
    '100us': 1,
    '5s1m': 65_000,
    '1µs': 1,
    '1.1h': 3_960_000,
  };
  for (const [text, ms] of Object.entries(RIGHT)) {
    it(`${text} is ${ms} ms, parts of one rounded up`, () => {
      assert.deepEqual(parseGoDuration(text), { ok: true, value: ms });
    });
  }

  it('is wherever ours is, and the same', () => {
    comesBack(fc.integer({ min: 0, max: LONGEST_MS }), parseGoDuration, formatDuration);
  });

  for (const text of ['', '5', '-5s', '5x', '1.2.3s', 's', '.s']) {
    it(`${JSON.stringify(text)} is no duration in Go's notation`, () => assert.equal(parseGoDuration(text).ok, false));
  }
});
