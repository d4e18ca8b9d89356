/** Inputs of a report as an enemy would write them, by seed: `node test/report/hostile.ts [FILES] [FIRST SEED]`. */
import assert from 'node:assert/strict';
import { stringify } from 'yaml';
import { parseYaml } from '../../src/config/file/yaml.ts';
import { htmlPage } from '../../src/report/html.ts';
import { readText } from '../../src/report/input.ts';
import { podsJson, podsPerfetto } from '../../src/report/plain.ts';
import { podsOf } from '../../src/report/stop.ts';
import { podSvg } from '../../src/report/svg.ts';
import { fleetText, podText } from '../../src/report/text.ts';
import { Dice } from '../sim/dice.ts';
import { at, BEGAN_MS, EVIDENCE, FILES, podOf } from './pods.ts';

const TEXTS = [
  '</text><script>alert(1)</script>',
  '"><img onerror=alert(1) src=x>',
  "' style='x",
  '\x1b]0;title\x07\x1b[2J\x9b31m',
  '\u202eevil\u2066\u200f',
  '%%{init: {}}%%; click a href "javascript:x"',
  '| a | **b** [c](javascript:d) `e` <b>',
  '../../../etc/passwd',
  '&#60;script&#62;',
  'a\r\nb\u2028c\u0085d\0e',
  '\ud800',
  '__proto__',
  'constructor',
  'toString',
  '-->]]><!--',
  'x'.repeat(5_000),
  '',
] as const;
const NUMBERS = [0, -1, 1e308, -1e308, 5e-324, 2 ** 53, 86_400_000_000, 0.1, 31] as const;
const TIMES = ['9999-12-31T23:59:59Z', '0001-01-01T00:00:00Z', at(-1), at(0), at(1e9), 'never', '2026-02-31T00:00:00Z'];

/** Evidence with some values of another type, or beyond all bounds. */
export function hostileEvidence(seed: number): object {
  return spoil(new Dice(seed, 7), EVIDENCE) as object;
}

export function hostileText(seed: number): string {
  const dice = new Dice(seed, 7);
  switch (dice.int(7)) {
    case 0:
      return spoilText(dice, FILES[dice.int(FILES.length)] ?? '');
    case 1:
      return spoilText(dice, JSON.stringify(spoil(dice, JSON.parse(FILES[0] ?? ''))));
    case 2:
      return JSON.stringify(podOf('web-0', { main: spoil(dice, EVIDENCE) as object }, 137));
    case 3:
      return spoilText(dice, JSON.stringify(spoil(dice, { apiVersion: 'v1', kind: 'List', items: pods(dice) })));
    case 4:
      return spoilText(dice, stringify({ apiVersion: 'v1', kind: 'List', items: pods(dice) }));
    case 5:
      return MONSTERS[dice.int(MONSTERS.length)] ?? '';
    default:
      return Array.from({ length: 1 + dice.int(200) }, () => line(dice)).join('\n');
  }
}

function pods(dice: Dice): object[] {
  return Array.from({ length: 1 + dice.int(4) }, (_, index) =>
    podOf(`web-${index}`, { main: spoil(dice, EVIDENCE) as object }),
  );
}

function line(dice: Dice): string {
  let text = JSON.stringify({ message: 'dead', evidence: spoil(dice, EVIDENCE) });
  for (let wraps = dice.int(7); wraps > 0; wraps -= 1)
    text =
      wraps % 3 === 0
        ? `2026-01-02T03:04:09.1Z stderr F ${text}`
        : JSON.stringify({
            [dice.pick(['log', 'MESSAGE', 'line', '__proto__'])]: text,
            kubernetes: { pod_name: dice.pick(['web-0', TEXTS[0]]) },
          });
  return dice.chance(0.2) ? spoilText(dice, text) : text;
}

function spoil(dice: Dice, value: unknown, depth = 0): unknown {
  if (dice.chance(0.12)) return replacement(dice, depth);
  if (Array.isArray(value)) {
    const spoiled = value.map((item) => spoil(dice, item, depth + 1));
    const isSmall = JSON.stringify(spoiled[0] ?? null).length < 3_000;
    return isSmall && dice.chance(0.1) ? Array.from({ length: 3_000 }, () => spoiled[0]) : spoiled;
  }
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, item]) => [
    dice.chance(0.03) ? dice.pick(TEXTS) : key,
    spoil(dice, item, depth + 1),
  ]);
  return Object.fromEntries(entries);
}

function replacement(dice: Dice, depth: number): unknown {
  const kind = dice.int(6);
  if (kind < 3) return dice.pick(TEXTS);
  if (kind === 3) return dice.pick(NUMBERS);
  if (kind === 4) return TIMES[dice.int(TIMES.length)];
  return depth > 3 ? null : [null, {}, [], true, { __proto__: null, constructor: 'x' }, [[[[]]]]][dice.int(6)];
}

/** Bytes lost, doubled or turned, as of a torn write. */
function spoilText(dice: Dice, text: string): string {
  let spoiled = text;
  for (let times = dice.int(4); times > 0; times -= 1) {
    const from = dice.int(spoiled.length + 1);
    const until = from + dice.short(spoiled.length - from + 1);
    const part = spoiled.slice(from, until);
    spoiled = `${spoiled.slice(0, from)}${dice.pick(['', part + part, dice.pick(TEXTS), '\uffff'.repeat(3)])}${spoiled.slice(until)}`;
  }
  return spoiled;
}

const nested = (open: string, close: string, depth: number): string => `${open.repeat(depth)}1${close.repeat(depth)}`;
const MONSTERS: readonly string[] = [
  nested('[', ']', 100_000),
  nested('{"log":"', '"}', 1_000),
  `${'{"Summary":"x","Died":"'.repeat(20_000)}`,
  `kind: List\napiVersion: v1\na: &a [x,x,x,x,x,x,x,x,x]\n${'bcdefghij'.replace(/./g, (name, index: number) => `${name}: &${name} [${`*${'abcdefghi'[index]},`.repeat(9)}]\n`)}`,
  `kind: Pod\napiVersion: v1\nstatus: ${nested('[', ']', 5_000)}\n`,
  `Summary Died ${'{'.repeat(200_000)}`,
  `Summary Died ${' '.repeat(1_000_000)}`,
  Array.from({ length: 3_000 }, (_, index) => JSON.stringify({ ...EVIDENCE, Name: `m${index}` })).join('\n'),
  Array.from({ length: 500 }, (_, index) => JSON.stringify({ ...EVIDENCE, Session: `s${index}` })).join('\n'),
  JSON.stringify({ ...EVIDENCE, Phases: Array.from({ length: 50_000 }, () => ({ Phase: 'drain', Ms: 1 })) }),
];

const TAGS = new Set(
  'html,head,meta,title,style,body,h1,h2,h3,p,section,div,span,small,svg,rect,path,text,tspan,line,g,ol,li,table,thead,tbody,tr,th,td'.split(
    ',',
  ),
);
/** Characters for each one of the input, and beside them. */
const MAX_GROWTH = { times: 60, and: 400_000 } as const;

/**
 * Throws where anything becomes markup, acts on a terminal, or is out of proportion. Returns whether it told anything.
 */
export function checkText(text: string): boolean {
  const yaml = (source: string): unknown => {
    const parsed = parseYaml(source);
    return parsed.ok ? parsed.value : undefined;
  };
  const { members } = readText(text, BEGAN_MS + 60_000, yaml);
  const all = podsOf(members, BEGAN_MS + 60_000);
  const few = all.slice(0, 5);
  const style = { width: 80, colours: false, ascii: true };
  const page = htmlPage(all);
  const pictures = few.map(podSvg);
  const texts = [page, ...pictures, ...few.map((pod) => podText(pod, style))];
  texts.push(podsJson(all), podsPerfetto(all), fleetText(all, 80));
  for (const one of texts) {
    assert.doesNotMatch(one, /[^\P{Cc}\n]|\p{Bidi_Control}|[\u2028\u2029]/u);
    assert.ok(one.isWellFormed());
    assert.ok(one.length <= MAX_GROWTH.times * text.length + MAX_GROWTH.and, `${one.length} of ${text.length}`);
  }
  for (const markup of [page, ...pictures]) {
    for (const [, tag = ''] of markup.matchAll(/<\/?([^\s>/]+)/g)) assert.ok(tag === '!doctype' || TAGS.has(tag), tag);
    assert.doesNotMatch(markup, /<[^>]*\s(on\w+|href|src)=/i);
  }
  JSON.parse(podsJson(all));
  JSON.parse(podsPerfetto(all));
  return all.length > 0;
}

export interface Tried {
  readonly files: number;
  readonly told: number;
  readonly slowestMs: number;
  readonly slowestSeed: number;
}

export function tryFiles(count: number, first: number): Tried {
  let [told, slowestMs, slowestSeed] = [0, 0, 0];
  for (let seed = first; seed < first + count; seed += 1) {
    const text = hostileText(seed);
    const sinceMs = performance.now();
    try {
      if (checkText(text)) told += 1;
    } catch (error) {
      throw new Error(`node test/report/hostile.ts 1 ${seed}`, { cause: error });
    }
    const ms = performance.now() - sinceMs;
    if (ms > slowestMs) [slowestMs, slowestSeed] = [ms, seed];
  }
  return { files: count, told, slowestMs: Math.round(slowestMs), slowestSeed };
}

if (import.meta.main) {
  const [files = '5000', first = '1'] = process.argv.slice(2);
  const tried = tryFiles(Number(files), Number(first));
  console.log(JSON.stringify({ ...tried, rssMiB: Math.round(process.resourceUsage().maxRSS / 1024) }));
}
