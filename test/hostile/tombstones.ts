/** Hostile tombstones: real ones with random damage, and crafted ones. The same seed gives the same bytes. */
import assert from 'node:assert/strict';
import {
  formatTombstone,
  isMemberName,
  MAX_BYTES,
  MAX_HISTORY,
  type Tombstone,
} from '../../src/core/format/tombstone.ts';
import { parseTombstone } from '../../src/core/format/tombstone-parse.ts';

export type Chance = () => number;

const AT = '2026-01-02T03:04:05.678901234Z';

export const REAL: Tombstone = {
  Version: 1,
  Name: 'a',
  Role: 'main',
  Session: '6f1c3a0e-0000-4000-8000-000000000000',
  Boot: '0b6a3f0e-0000-4000-8000-000000000000',
  Incarnation: '5f0c5f0c5f0c5f0c5f0c5f0c5f0c5f0c-2',
  Phase: 'dead',
  RestartPolicy: 'OnFailure',
  StartAfter: ['proxy', 'migrate'],
  Restarts: 3,
  Born: AT,
  Started: AT,
  StopRequested: AT,
  StopReason: 'signal TERM',
  Deadline: 123_456,
  Died: AT,
  DiedMonotonic: 123_400,
  ExitCode: 143,
  Signal: 'SIGTERM',
  Reason: 'stopped',
  Final: true,
  History: Array.from({ length: 12 }, (_, index) => ({ At: AT, Event: 'Signal', Signal: 'SIGTERM', Sender: index })),
};

const KUBEXIT = `Born: 2026-01-02T03:04:05.6Z\nDied: "2026-01-02T03:04:06Z" # so it says\nExitCode: -1\n`;
const SEEDS: readonly string[] = [
  formatTombstone(REAL),
  formatTombstone({ Version: 1, Name: 'a', Incarnation: 'first-1', Phase: 'running', Role: 'main', Born: AT }),
  KUBEXIT,
  JSON.stringify({ Born: AT, Died: AT, ExitCode: 1 }),
];

/** Crafted texts, each at most a little larger than a file that is read. */
export function worst(): Readonly<Record<string, string>> {
  const most = MAX_BYTES - 64;
  const nested = (open: string, close: string): string => open.repeat(most / 2) + close.repeat(most / 2);
  const anchors = ['a0: &a0 [x,x,x,x,x,x,x,x,x]'];
  for (let level = 1; level < 12; level++) {
    anchors.push(
      `a${level}: &a${level} [${Array(9)
        .fill(`*a${level - 1}`)
        .join(',')}]`,
    );
  }
  return {
    'blanks before a comment that never comes': `Born: x${' '.repeat(most)}y\n`,
    'blanks and a line separator': `Born:${' '.repeat(most)}\u2028\n`,
    'blanks and a carriage return': `Born:${' \t'.repeat(most / 2)}\rx\n`,
    'quotes without end': `Born: ${'"'.repeat(most)}x\n`,
    'comments in comments': `Born: ${' #'.repeat(most / 2)}\n`,
    'as many keys as fit': Array.from({ length: 7000 }, (_, index) => `k${index}: 1\n`).join(''),
    'as many equal keys as fit': `${'ExitCode: 1\n'.repeat(5000)}`,
    'nothing but line ends': '\n'.repeat(most),
    'nothing but blanks': ' '.repeat(most),
    'arrays in arrays': `{"Version":1,"Name":"a","StartAfter":${nested('[', ']')}}`,
    'objects in objects': `{"a":${'{"a":'.repeat(10_000)}1${'}'.repeat(10_001)}`,
    'a sea of numbers': `{"Version":1,"Name":"a","Restarts":${'9'.repeat(most)}}`,
    'a small number in very many digits': `{"Version":1,"Name":"a","Deadline":0.${'0'.repeat(most - 40)}1e60000}`,
    'a history of 1024 with all details': JSON.stringify({
      ...REAL,
      History: Array.from({ length: 950 }, () => ({ At: AT, Event: '\u202e', d: '\ud800' })),
    }),
    'a text of escapes': `{"Version":1,"Name":"a","StopReason":"${'\\u0007'.repeat(most / 6 - 10)}"}`,
    'a time of digits': `{"Version":1,"Name":"a","Born":"2026-01-02T03:04:05.${'1'.repeat(most - 70)}Z"}`,
    'the same key again and again': `{"Version":1,"Name":"a"${',"Died":null'.repeat(5000)}}`,
    'laughs of a billion': `${anchors.join('\n')}\nBorn: *a11\n`,
    'a tag that makes an object': `Born: !!js/function 'function () { throw 1 }'\nDied: !!python/object:os.system x\n`,
    'a merge of its prototype': `__proto__: &p {Died: "${AT}"}\n<<: *p\nconstructor: x\n`,
  };
}

const MUTATIONS: readonly ((bytes: Buffer, chance: Chance) => Buffer)[] = [
  (bytes, chance) => {
    const copy = Buffer.from(bytes);
    for (let flips = 1 + below(chance, 8); flips > 0; flips--) {
      const at = below(chance, copy.length);
      copy[at] = (copy[at] ?? 0) ^ (1 << below(chance, 8));
    }
    return copy;
  },
  (bytes, chance) => bytes.subarray(0, below(chance, bytes.length + 1)),
  (bytes, chance) => {
    const lines = bytes.toString('latin1').split('\n');
    lines.splice(below(chance, lines.length), 0, lines[below(chance, lines.length)] ?? '');
    return Buffer.from(lines.join('\n'), 'latin1');
  },
  (bytes, chance) => replaced(bytes, /-?\d+/g, pick(chance, NUMBERS), chance),
  (bytes, chance) => replaced(bytes, /"[A-Za-z0-9 :.-]*"/g, pick(chance, VALUES), chance),
  (bytes, chance) => inserted(bytes, Buffer.from(pick(chance, SPLINTERS), 'latin1'), chance),
  (bytes, chance) =>
    inserted(bytes, Buffer.alloc(below(chance, 4000), pick(chance, [' ', '\t', '[', '"', '\0'])), chance),
  (bytes, chance) => {
    // One byte less than the limit, the limit, and one byte more.
    const size = MAX_BYTES - 1 + below(chance, 3);
    return Buffer.concat([bytes, Buffer.alloc(Math.max(0, size - bytes.length), pick(chance, [' ', '\n', 'x']))]);
  },
  (bytes) => Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), bytes]),
  (bytes) => Buffer.from(bytes.toString('latin1'), 'utf16le'),
];

const NUMBERS = '1e999 -0 -1 0.5 9007199254740993 1e308 00 2 NaN 0x1'.split(' ').concat('9'.repeat(400));
const VALUES =
  'null [] {} [[]] true "" "__proto__" "constructor" "\\ud800" "\\u0000" "\\u001b[2J" "\\u202e" 1e400 "2026-99-99T99:99:99Z"'.split(
    ' ',
  );
const SPLINTERS = [
  ...['"__proto__":{"Died":"x"},', '"constructor":{"prototype":{"polluted":1}},', '"History":[{"At":"x"}],'],
  ...['"Version":2,', '"Version":9007199254740991,', '"Name":"b",', '//', '---\n', '...\n', '? ', '- ', '\r\n'],
  ...['\0', '\x1b[2J', '\xff\xfe', '\xed\xa0\x80', '\x9b31m', 'Died: &a x\n', 'Died: *a\n', '<<: *a\n', '!!binary '],
];

/** A real tombstone with some damage. */
export function mutated(chance: Chance): Buffer {
  let bytes: Buffer = Buffer.from(pick(chance, SEEDS));
  for (let count = 1 + below(chance, 4); count > 0; count--) bytes = pick(chance, MUTATIONS)(bytes, chance);
  return bytes;
}

/** Checks that the reader takes nothing, or a tombstone that keeps to the format. Returns whether it took one. */
export function checkParsed(text: string): boolean {
  const parsed = parseTombstone('a', text);
  assert.equal(({} as { Died?: unknown; polluted?: unknown }).Died, undefined);
  assert.equal(({} as { Died?: unknown; polluted?: unknown }).polluted, undefined);
  if (!parsed.ok) {
    assert.ok(parsed.why !== '' && parsed.why.length < 200, parsed.why);
    return false;
  }
  const { tombstone } = parsed;
  assert.equal(Object.getPrototypeOf(tombstone), Object.prototype);
  assert.equal(tombstone.Name, 'a');
  for (const [key, value] of Object.entries(tombstone)) checkValue(key, value);
  // A tombstone that was understood can be written, and then means the same.
  const written = formatTombstone(tombstone);
  assert.equal(Buffer.byteLength(written), 8192);
  const { History, ...rest } = tombstone;
  const again = parseTombstone('a', written);
  if (tombstone.Version > 0) {
    assert.ok(again.ok, written);
    const { History: _, ...same } = again.tombstone;
    // Compared as text, where minus zero is zero.
    assert.equal(JSON.stringify(same), JSON.stringify(rest));
  }
  return true;
}

function checkValue(key: string, value: unknown): void {
  if (typeof value === 'string') {
    assert.ok(value.length <= 256, `${key} has ${value.length} characters`);
    assert.doesNotMatch(value, /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u, key);
    assert.ok(value.isWellFormed(), key);
  } else if (typeof value === 'number') assert.ok(Number.isFinite(value), key);
  else if (key === 'StartAfter') for (const name of value as string[]) assert.ok(isMemberName(name), name);
  else if (key === 'History') {
    const entries = value as object[];
    assert.ok(entries.length <= MAX_HISTORY);
    for (const entry of entries) {
      assert.equal(Object.getPrototypeOf(entry), Object.prototype);
      for (const [name, detail] of Object.entries(entry)) checkValue(name, detail);
    }
  } else assert.equal(typeof value, 'boolean', key);
}

function replaced(bytes: Buffer, what: RegExp, by: string, chance: Chance): Buffer {
  const text = bytes.toString('latin1');
  const found = [...text.matchAll(what)];
  const one = found[below(chance, found.length)];
  if (one === undefined) return bytes;
  return Buffer.from(text.slice(0, one.index) + by + text.slice(one.index + one[0].length), 'latin1');
}

function inserted(bytes: Buffer, splinter: Buffer, chance: Chance): Buffer {
  const at = below(chance, bytes.length + 1);
  return Buffer.concat([bytes.subarray(0, at), splinter, bytes.subarray(at)]);
}

function below(chance: Chance, limit: number): number {
  return Math.floor(chance() * limit);
}

function pick<Item>(chance: Chance, items: readonly Item[]): Item {
  const item = items[below(chance, items.length)];
  if (item === undefined) throw new Error('internal error: nothing to pick from');
  return item;
}
