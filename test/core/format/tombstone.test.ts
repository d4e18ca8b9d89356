import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { parse as parseYaml } from 'yaml';
import type { HistoryEntry, Tombstone } from '../../../src/core/format/tombstone.ts';
import {
  cleanText,
  formatTombstone,
  isMemberName,
  MAX_HISTORY,
  MAX_TEXT,
  RESERVE_BYTES,
  trimHistory,
} from '../../../src/core/format/tombstone.ts';
import { parseTombstone } from '../../../src/core/format/tombstone-parse.ts';
import '../../helpers/seeded.ts';

const TIME = '2026-01-02T03:04:05.678901234Z';

const time = fc
  .date({ min: new Date('1990-01-01'), max: new Date('2100-01-01'), noInvalidDate: true })
  .map((date) => date.toISOString().replace('Z', '123456Z'));
const text = fc.string({ unit: 'binary', maxLength: 60 }).map((raw) => cleanText(raw));
const milliseconds = fc.double({ min: 0, max: 1e12, noNaN: true }).map((value) => (value === 0 ? 0 : value));
const name = fc.stringMatching(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/);
const entry: fc.Arbitrary<HistoryEntry> = fc
  .record({
    At: time,
    Event: text,
    details: fc.dictionary(fc.stringMatching(/^[A-Z][a-z]{0,9}$/), text, { maxKeys: 3 }),
  })
  .map(({ At, Event, details }) => ({ ...details, At, Event }));
const tombstone: fc.Arbitrary<Tombstone> = fc.record(
  {
    Version: fc.constant(1),
    Name: name,
    Role: fc.constantFrom('main' as const, 'sidecar' as const),
    Session: text,
    Generation: fc.uuid(),
    Boot: fc.uuid(),
    Incarnation: fc.uuid().map((id) => `${id}-2`),
    Phase: fc.constantFrom('waiting' as const, 'running' as const, 'dead' as const),
    RestartPolicy: fc.constantFrom('Never' as const, 'OnFailure' as const, 'Always' as const),
    RestartsIfKilled: fc.boolean(),
    RestartsAll: fc.boolean(),
    Mains: fc.array(name, { maxLength: 5 }),
    StartAfter: fc.array(name, { maxLength: 5 }),
    Restarts: fc.nat(),
    RestartsPassed: fc.array(milliseconds, { maxLength: 8 }),
    Born: time,
    Started: time,
    Healthy: time,
    StopRequested: time,
    StopReason: text,
    Deadline: milliseconds,
    Died: time,
    DiedMonotonic: milliseconds,
    ExitCode: fc.integer({ min: 0, max: 255 }),
    Signal: fc.constantFrom('SIGTERM', 'SIGRTMIN+3'),
    Reason: fc.constantFrom('completed' as const, 'lost' as const),
    Final: fc.boolean(),
    History: fc.array(entry, { maxLength: 6 }),
  },
  { requiredKeys: ['Version', 'Name'] },
);

function entries(count: number): HistoryEntry[] {
  return Array.from({ length: count }, (_, index) => ({ At: TIME, Event: `event ${index}` }));
}

function parsed(memberName: string, content: string): Tombstone {
  const result = parseTombstone(memberName, content);
  assert.ok(result.ok, result.ok ? '' : result.why);
  return result.tombstone;
}

function refused(memberName: string, content: string): string {
  const result = parseTombstone(memberName, content);
  assert.ok(!result.ok, `must not be understood: ${content.slice(0, 200)}`);
  return result.why;
}

describe('formatTombstone', () => {
  it('a tombstone fills exactly the reserve and parses back to the same', () => {
    fc.assert(
      fc.property(tombstone, (original) => {
        const written = formatTombstone(original);
        assert.equal(Buffer.byteLength(written), RESERVE_BYTES);
        assert.ok(written.endsWith('\n'));
        const { History = [], ...rest } = parsed(original.Name, written);
        const { History: originalHistory = [], ...originalRest } = original;
        assert.deepEqual(rest, originalRest);
        assert.deepEqual(History, trimHistory(originalHistory, History.length));
      }),
    );
  });

  it('a tombstone is YAML with the same content, with any text in it', () => {
    fc.assert(
      fc.property(tombstone, fc.string({ unit: 'binary' }), (original, reason) => {
        const written = formatTombstone({ ...original, StopReason: reason });
        for (const version of ['1.1', '1.2'] as const) {
          assert.deepEqual(parseYaml(written, { version }), JSON.parse(written));
        }
      }),
      { numRuns: 30 },
    );
  });

  it('a tombstone with everything at its largest loses nothing but history', () => {
    const long = '"\\\u{1f600}\ud800\u0000'.repeat(2000);
    const texts = Object.entries(FULL).map(([key, value]) => [key, typeof value === 'string' ? long : value]);
    const written = formatTombstone({
      ...(Object.fromEntries(texts) as unknown as Tombstone),
      Name: 'a'.repeat(63),
      Phase: 'stopping',
      Mains: Array.from({ length: 16 }, () => 'm'.repeat(63)),
      StartAfter: Array.from({ length: 500 }, () => 'b'.repeat(63)),
      Restarts: Number.MAX_SAFE_INTEGER,
      Deadline: Number.MIN_VALUE,
      DiedMonotonic: Number.MIN_VALUE,
      History: Array.from({ length: 500 }, (_, index) => ({ At: long, Event: long, [`k${index}`]: long })),
    });
    assert.equal(Buffer.byteLength(written), RESERVE_BYTES);
    const kept = Object.keys(JSON.parse(written)).filter((key) => key !== 'History');
    assert.equal(kept.length, Object.keys(FULL).length - 1);
  });

  it('a history that is too large loses its oldest middle entries', () => {
    const long = entries(64).map((it) => ({ ...it, Detail: 'd'.repeat(200) }));
    const { History = [] } = parsed('a', formatTombstone({ Version: 1, Name: 'a', History: long }));
    assert.ok(History.length > 16 && History.length < 64, `${History.length} entries`);
    assert.deepEqual(History.slice(0, 8), long.slice(0, 8));
    assert.deepEqual(History.slice(8), long.slice(64 - (History.length - 8)));
  });

  it('a tombstone leaves out numbers that JSON cannot carry', () => {
    const written = formatTombstone({ Version: 1, Name: 'a', Deadline: Number.POSITIVE_INFINITY });
    assert.deepEqual(parsed('a', written), { Version: 1, Name: 'a' });
  });

  it('a tombstone has no control character or bidirectional mark', () => {
    const written = formatTombstone({ Version: 1, Name: 'a', StopReason: 'x\u001b[2J\u202e\n\u009by' });
    assert.equal(parsed('a', written).StopReason, 'x?[2J???y');
  });
});

describe('trimHistory', () => {
  it('trimHistory keeps all entries up to the maximum', () => {
    assert.deepEqual(trimHistory(entries(MAX_HISTORY)), entries(MAX_HISTORY));
  });

  it('trimHistory keeps the first eight and the newest beyond the maximum', () => {
    const trimmed = trimHistory(entries(100)).map(({ Event }) => Event);
    assert.equal(trimmed.length, MAX_HISTORY);
    assert.deepEqual(trimmed.slice(6, 10), ['event 6', 'event 7', 'event 44', 'event 45']);
    assert.equal(trimmed.at(-1), 'event 99');
  });

  it('trimHistory gives any number of entries down to none', () => {
    for (let max = 0; max <= 20; max++) assert.equal(trimHistory(entries(30), max).length, max);
    assert.deepEqual(trimHistory(entries(30), 1), entries(30).slice(29));
  });
});

describe('parseTombstone', () => {
  it('parseTombstone never throws, whatever the bytes', () => {
    fc.assert(fc.property(fc.uint8Array(), (bytes) => void parseTombstone('a', Buffer.from(bytes).toString())));
    fc.assert(fc.property(fc.json(), (json) => void parseTombstone('a', json)));
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom(...Object.keys(FULL)), fc.jsonValue()), (record) => {
        void parseTombstone('a', JSON.stringify({ ...record, Version: 1, Name: 'a' }));
        void parseTombstone('a', JSON.stringify({ ...record, Version: 9, Name: 'a' }));
      }),
    );
  });

  it('parseTombstone understands only a whole tombstone', () => {
    const written = formatTombstone(FULL);
    const whole = written.trimEnd().length;
    for (let length = 0; length < whole; length++) refused('a', written.slice(0, length));
    assert.deepEqual(parsed('a', written.slice(0, whole)), FULL);
  });

  it('parseTombstone refuses a wrong type of each known key, and names the key', () => {
    const wrong = [{}, [[]], 'x\u0000', -2, 1.5, 'no'];
    for (const key of Object.keys(FULL).filter((known) => known !== 'Version' && known !== 'Name')) {
      const refusals = wrong.filter((value) => !parseTombstone('a', JSON.stringify({ ...FULL, [key]: value })).ok);
      assert.ok(refusals.length >= 3, key);
      assert.equal(refused('a', JSON.stringify({ ...FULL, [key]: {} })), `${key} is not understood`);
    }
  });

  const refusals: readonly (readonly [string, string])[] = [
    ['nothing at all', ''],
    ['blanks only', ' '.repeat(RESERVE_BYTES)],
    ['a list', '[]'],
    ['an empty object', '{}'],
    ['the name of somebody else', '{"Version": 1, "Name": "b"}'],
    ['no name', '{"Version": 1}'],
    ['a version that is no number', '{"Version": "1", "Name": "a"}'],
    ['a negative version', '{"Version": -1, "Name": "a"}'],
    ['an exit code beyond a byte', '{"Version": 1, "Name": "a", "ExitCode": 256}'],
    ['a time without a zone', '{"Version": 1, "Name": "a", "Died": "2026-01-02T03:04:05"}'],
    ['a month of 13', '{"Version": 1, "Name": "a", "Died": "2026-13-02T03:04:05Z"}'],
    ['a member name that climbs', '{"Version": 1, "Name": "a", "StartAfter": ["../x"]}'],
    ['more gates than there may be', JSON.stringify({ Version: 1, Name: 'a', StartAfter: Array(65).fill('b') })],
    ['a history without a time', '{"Version": 1, "Name": "a", "History": [{"Event": "x"}]}'],
    ['an endless nesting', '['.repeat(60_000)],
    ['an endless nesting inside', `{"Version": 1, "Name": "a", "X": ${'['.repeat(60_000)}`],
    ['more than 64 KiB', `{"Version": 1, "Name": "a"}${' '.repeat(65_536)}`],
  ];
  for (const [what, content] of refusals) it(`refuses ${what}`, () => assert.notEqual(refused('a', content), ''));

  it('K17 parseTombstone takes no file whose name is not a member name', () => {
    for (const odd of ['x, main', '../x', '.x', 'X', '', 'x-', 'a'.repeat(64), 'a\n', '__proto__', 'ä']) {
      assert.equal(isMemberName(odd), false, odd);
      refused(odd, JSON.stringify({ Version: 1, Name: odd }));
    }
  });

  it('parseTombstone ignores unknown keys and pollutes no prototype', () => {
    const nasty = '{"Version":1,"Name":"a","__proto__":{"Died":"x"},"constructor":{"prototype":{"y":1}},"Unknown":[1],';
    const read = parsed('a', `${nasty}"History":[{"At":"${TIME}","Event":"e","__proto__":{"z":1},"constructor":"c"}]}`);
    assert.deepEqual(Object.keys(read), ['Version', 'Name', 'History']);
    assert.equal(Object.getPrototypeOf(read), Object.prototype);
    assert.equal(Object.getPrototypeOf(read.History?.[0]), Object.prototype);
    assert.equal(({} as Record<string, unknown>).y, undefined);
    assert.equal(read.Died, undefined);
  });

  it('parseTombstone caps long texts and long histories', () => {
    const long = { Version: 1, Name: 'a', StopReason: 'r'.repeat(9000), History: entries(300) };
    const read = parsed('a', JSON.stringify(long));
    assert.equal(read.StopReason?.length, MAX_TEXT);
    assert.equal(read.History?.length, MAX_HISTORY);
  });

  it('parseTombstone reads the keys that it knows from a newer version', () => {
    const newer = { ...FULL, Version: 2, Phase: 'dreaming', Role: 7, NewKey: {} };
    const { Phase: _, Role: __, ...known } = FULL;
    assert.deepEqual(parsed('a', JSON.stringify(newer)), { ...known, Version: 2 });
  });

  it('parseTombstone takes null for an absent key', () => {
    assert.deepEqual(parsed('a', '{"Version": 1, "Name": "a", "Died": null}'), { Version: 1, Name: 'a' });
  });
});

describe('parseTombstone of a file by kubexit', () => {
  const Born = '2020-01-02T03:04:05.123456789Z';
  const Died = '2020-01-02T05:04:05+02:00';

  const readings: readonly (readonly [string, string, Partial<Tombstone>])[] = [
    ['its birth', `Born: ${Born}\n`, { Born }],
    ['its death', `Born: ${Born}\nDied: ${Died}\nExitCode: 0\n`, { Born, Died, ExitCode: 0 }],
    ['any order, quoted', `ExitCode: "3"\nDied: '${Died}'\nBorn: "${Born}"\n`, { Born, Died, ExitCode: 3 }],
    ['the -1 of a child that a signal killed', `Died: ${Died}\nExitCode: -1\n`, { Died, ExitCode: -1 }],
    ['a death without its code', `Died: ${Died}\n`, { Died }],
    ['null as not there', `Born: ${Born}\nDied: null\nExitCode: ~\n`, { Born }],
    ['comments, other keys and CRLF', `---\r\n# x\r\nBorn: ${Born} # born\r\nOther:\r\n  - Died: x\r\n`, { Born }],
    ['JSON', JSON.stringify({ Born, Died, ExitCode: -1 }), { Born, Died, ExitCode: -1 }],
    ['keys of sexton in it as unknown', JSON.stringify({ Born, Phase: 'dead', Name: 'b' }), { Born }],
  ];
  for (const [what, content, expected] of readings) {
    it(`reads ${what}`, () => assert.deepEqual(parsed('a', content), { Version: 0, Name: 'a', ...expected }));
  }

  const refusals: readonly (readonly [string, string])[] = [
    ['a last line without its end', `Died: ${Died}\nExitCode: 1`],
    ['a key cut short', `Born: ${Born}\nDi\n`],
    ['a time cut short', 'Born: 2020-01-02T03\n'],
    ['a code that is no number', `Died: ${Died}\nExitCode: x\n`],
    ['a key given twice', `Born: ${Born}\nBorn: ${Born}\n`],
    ['neither birth nor death', 'ExitCode: 0\n'],
    ['plain text', 'hello world\n'],
  ];
  for (const [what, content] of refusals) it(`refuses ${what}`, () => assert.notEqual(refused('a', content), ''));
});

const FULL: Tombstone = {
  Version: 1,
  Name: 'a',
  Role: 'main',
  Session: 's',
  Generation: 'g-1',
  Boot: 'b-1',
  Incarnation: 'c-2',
  Phase: 'dead',
  RestartPolicy: 'Never',
  RestartsIfKilled: true,
  RestartsAll: false,
  Mains: ['m'],
  StartAfter: ['b'],
  Restarts: 1,
  RestartsPassed: [1.5, 2],
  Born: TIME,
  Started: TIME,
  Healthy: TIME,
  StopRequested: TIME,
  StopReason: 'signal TERM',
  Deadline: 1.5,
  Died: TIME,
  DiedMonotonic: 2,
  ExitCode: 143,
  Signal: 'SIGTERM',
  Reason: 'stopped',
  Final: true,
  History: [{ At: TIME, Event: 'signal', Number: 15, Own: true, From: 'kubelet' }],
};
