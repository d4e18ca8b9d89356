import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { FLAGS, KEYS } from '../../../src/config/flags.ts';
import { LONGEST_MS } from '../../../src/config/notation/duration.ts';
import { formatGates, parseGates } from '../../../src/config/notation/gates.ts';
import {
  formatExitCode,
  formatRestartRules,
  parseExitCode,
  parseRestartRules,
} from '../../../src/config/notation/stop/exit-codes.ts';
import { formatLadder, parseLadder } from '../../../src/config/notation/stop/ladder.ts';
import {
  formatSignalMap,
  formatSignals,
  parseSignal,
  parseSignalMap,
  parseSignals,
} from '../../../src/config/notation/stop/signals.ts';
import { nameFromCommand, parseName } from '../../../src/config/notation/values.ts';
import { comesBack } from './comes-back.ts';

const [HUP, KILL, TERM, CHLD, CONT, STOP] = [1, 9, 15, 17, 18, 19];
const signal = fc.integer({ min: 1, max: 64 });
const receivable = signal.filter((number) => ![KILL, STOP, CHLD].includes(number));
const name = fc.stringMatching(/^[a-z0-9]([-a-z0-9]{0,20}[a-z0-9])?$/);

describe('signals', () => {
  it('in a list come back the same, in their order', () => {
    comesBack(fc.uniqueArray(receivable), parseSignals, formatSignals);
  });

  it('signals in a translation come back the same', () => {
    const target = fc.oneof(signal, fc.constant('drop' as const));
    const map = fc.dictionary(receivable.map(String), target, { minKeys: 1, noNullPrototype: true });
    comesBack(map, parseSignalMap, formatSignalMap);
  });

  it('signals are read with and without SIG, in any case, as numbers and as real-time signals', () => {
    for (const text of ['TERM', 'SIGTERM', 'term', 'Sigterm', '15']) {
      assert.deepEqual(parseSignal(text), { ok: true, value: TERM });
    }
    assert.deepEqual(parseSignal('RTMIN+3'), { ok: true, value: 37 });
    assert.deepEqual(parseSignal('SIGRTMAX-1'), { ok: true, value: 63 });
  });

  it('signals that are translated to 0 are dropped, as dumb-init writes it', () => {
    assert.deepEqual(parseSignalMap('HUP:0'), { ok: true, value: { [HUP ?? 0]: 'drop' } });
  });

  it('the signals `none` are the empty list', () => {
    assert.deepEqual(parseSignals('none'), { ok: true, value: [] });
  });
});

describe('a ladder', () => {
  const time = fc.integer({ min: 1, max: LONGEST_MS });
  const climbable = signal.filter((number) => ![KILL, STOP, CHLD, CONT].includes(number));
  const steps = fc.array(fc.record({ signal: climbable, forMs: time }, { noNullPrototype: true }), { maxLength: 5 });
  const last = fc.oneof(
    fc.record({ signal: climbable, forMs: fc.option(time, { nil: undefined }) }, { noNullPrototype: true }),
    fc.constant({ signal: KILL ?? 9, forMs: undefined }),
  );

  it('comes back the same', () => {
    const ladder = fc.tuple(steps, last).map(([before, end]) => [...before, end]);
    comesBack(ladder, parseLadder, formatLadder);
  });

  it('a ladder has no rung that is never reached', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('TERM', 'INT:5s', 'KILL', 'QUIT:1m', 'HUP'), { minLength: 1, maxLength: 5 }),
        (rungs) => {
          const isReachable = rungs.slice(0, -1).every((rung) => rung.includes(':'));
          assert.equal(parseLadder(rungs.join(',')).ok, isReachable);
        },
      ),
    );
  });
});

describe('start gates', () => {
  it('start gates come back the same', () => {
    const condition = fc.constantFrom('started' as const, 'healthy' as const, 'completed' as const);
    const gate = fc.record({ name, condition, optional: fc.boolean() }, { noNullPrototype: true });
    // In any order: the same is there.
    const ready = fc.constantFrom('istio', 'envoy?', 'linkerd:4192', 'http://127.0.0.1:80/a=b?', 'https://[::1]:8443/');
    const members = fc.uniqueArray(gate, { selector: (one) => one.name });
    const others = fc.uniqueArray(ready, { selector: (one) => one.replace(/\?$/, '') });
    fc.assert(
      fc.property(members, others, (gates, words) => {
        const texts = words.map((word) => (word.endsWith('?') ? `${word.slice(0, -1)}=ready?` : `${word}=ready`));
        const parsed = parseGates([...texts, formatGates({ members: gates, ready: [] })].filter(Boolean).join(','));
        if (texts.length + gates.length === 0) return assert.equal(parsed.ok, false);
        // A member may have a sidecar's name.
        if (!parsed.ok) return assert.match(parsed.why, /named twice/);
        assert.deepEqual(parsed.value.members, gates);
        assert.equal(parsed.value.ready.length, words.length);
        assert.deepEqual(parseGates(formatGates(parsed.value)), parsed);
      }),
    );
  });
});

describe('an exit code policy', () => {
  it('an exit code policy comes back the same', () => {
    const code = fc.integer({ min: 0, max: 255 });
    const map = fc
      .dictionary(code.map(String), code, { minKeys: 1, noNullPrototype: true })
      .map((codes) => ({ kind: 'map' as const, codes }));
    const policy = fc.oneof(map, fc.constantFrom({ kind: 'keep' as const }, { kind: 'zero-when-stopped' as const }));
    comesBack(policy, parseExitCode, formatExitCode);
  });
});

describe('a name', () => {
  it('a name can be made of any command', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (command) => assert.ok(parseName(nameFromCommand(command)).ok)),
    );
  });

  it('a name is the basename in lowercase, with dashes for what a name cannot have', () => {
    assert.equal(nameFromCommand('/usr/local/bin/Web_Server.sh'), 'web-server-sh');
    assert.equal(nameFromCommand('python3.11'), 'python3-11');
    assert.equal(nameFromCommand('./_x_'), 'x');
    assert.equal(nameFromCommand(`/${'a'.repeat(62)}-b`), 'a'.repeat(62));
    assert.equal(nameFromCommand('/bin/'), 'main');
  });

  it('K17 a name is never a path, a list or empty', () => {
    const parts = ['../x', 'a/b', '.', '..', '', 'A', 'ä', '-a', 'a-', 'a'.repeat(64)];
    for (const text of ['x, main', ' a', 'a ', 'a\n', ...parts]) {
      assert.equal(parseName(text).ok, false, JSON.stringify(text));
    }
  });
});

describe('every flag', () => {
  for (const key of KEYS) {
    it(`${key} answers any text with a value or with a reason of one line`, () => {
      const { parse, takes } = FLAGS[key];
      const known =
        'TERM : = , - 5 s none a ? / exec: http: tcp: //:80 period validate \' " \\\\ KILL started __proto__';
      const tokens = fc.constantFrom('\n', ...known.split(' '));
      const text = fc.oneof(
        fc.string({ unit: 'binary' }),
        fc.array(tokens, { maxLength: 8 }).map((parts) => parts.join('')),
      );
      fc.assert(
        fc.property(text, (one) => {
          const parsed = parse(one);
          if (!parsed.ok) assert.match(parsed.why, /^.{3,400}$/, takes);
        }),
      );
    });
  }
});

describe('restart rules', () => {
  it('restart rules come back the same', () => {
    const codes = fc.uniqueArray(fc.integer({ min: 0, max: 255 }), { minLength: 1, maxLength: 5 });
    const action = fc.constantFrom('restart' as const, 'restart-all' as const);
    const rule = (except: fc.Arbitrary<boolean>) => fc.record({ action, codes, except }, { noNullPrototype: true });
    comesBack(fc.tuple(rule(fc.boolean()), rule(fc.constant(true))), parseRestartRules, formatRestartRules);
  });
});
