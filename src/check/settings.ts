/** The flags of `sexton check`, and the same keys in `.sexton-check.yaml` of the working directory or above it. */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseYaml } from '../config/file/yaml.ts';
import { didYouMean, nearest } from '../config/notation/nearest.ts';
import { choice, show } from '../config/notation/parse.ts';
import { whyNoFile } from '../text/errors.ts';
import { isRecord, recordOf } from '../text/record.ts';
import { SEVERITIES, type Severity } from './finding.ts';
import { CHECK_FORMATS, TIMELINES } from './formats/names.ts';
import type { Scenario } from './rules/rule.ts';
import { RULE_IDS } from './rules/table.ts';
import { familiarName, type ImageFacts, type Images, SHELLS } from './stop/images.ts';

export type Format = (typeof CHECK_FORMATS)[number];

/** `none`: only findings. `svg` and `html` are printed in the place of findings. */
export type Timeline = (typeof TIMELINES)[number];

export interface Output {
  readonly format: Format;
  /** undefined: stdout. */
  readonly file: string | undefined;
}

const TEXT_KEYS = ['fail-on', 'kubernetes-version', 'scenario', 'images', 'baseline', 'timeline'] as const;
const LIST_KEYS = ['output', 'only', 'skip', 'severity'] as const;

/** As the user wrote them: flags, or keys of the file. */
export type Given = {
  readonly [key in (typeof TEXT_KEYS)[number]]?: string | undefined;
} & { readonly [key in (typeof LIST_KEYS)[number]]?: readonly string[] | undefined };

/** Thrown with what is wrong, and the remedy. */
export class SettingError extends Error {}

function refuse(flag: string, text: string, why: string): never {
  throw new SettingError(`${flag} ${show(text)}: ${why}`);
}

export type Settings = ReturnType<typeof settingsOf>;

export function settingsOf(given: Given) {
  const timeline = wordOf('--timeline', given.timeline ?? 'text', TIMELINES);
  return {
    outputs: outputsOf(given.output, timeline),
    failOn: wordOf('--fail-on', given['fail-on'] ?? 'error', [...SEVERITIES, 'never']),
    only: given.only?.flatMap((text) => rulesOf('--only', text)),
    skip: (given.skip ?? []).flatMap((text) => rulesOf('--skip', text)),
    severities: new Map((given.severity ?? []).flatMap((text) => text.split(',').map(severityOf))),
    minor: ifGiven(given['kubernetes-version'], minorOf),
    scenarios: given.scenario?.split(',').map(scenarioOf) ?? [],
    images: ifGiven(given.images, imagesOf) ?? new Map<string, ImageFacts>(),
    baseline: ifGiven(given.baseline, baselineOf) ?? new Set<string>(),
    timeline,
  };
}

function ifGiven<T>(text: string | undefined, read: (text: string) => T): T | undefined {
  return text === undefined ? undefined : read(text);
}

function outputsOf(given: readonly string[] | undefined, timeline: Timeline): readonly Output[] {
  const isPicture = timeline === 'svg' || timeline === 'html';
  const outputs = (given ?? (isPicture ? [] : ['text'])).map(outputOf);
  const other = outputs.find(({ file }) => file === undefined);
  if (!isPicture || other === undefined) return outputs;
  throw new SettingError(
    `--timeline ${timeline}: goes to standard output, and so does --output ${other.format}; write --output ${other.format}=FILE`,
  );
}

function outputOf(text: string): Output {
  const at = text.indexOf('=');
  const format = wordOf('--output', at < 0 ? text : text.slice(0, at), CHECK_FORMATS);
  const file = at < 0 ? undefined : text.slice(at + 1);
  if (file === '') refuse('--output', text, `names no file; write ${format}=FILE, or ${format} alone`);
  return { format, file };
}

function wordOf<const Word extends string>(flag: string, text: string, words: readonly Word[]): Word {
  const parsed = choice(words)(text);
  return parsed.ok ? parsed.value : refuse(flag, text, parsed.why);
}

function rulesOf(flag: string, text: string): readonly string[] {
  return text.split(',').map((part) => {
    const id = part.trim().toUpperCase();
    const isRight = /^SX\d*$/.test(id) && RULE_IDS.some((rule) => rule.startsWith(id));
    return isRight ? id : refuse(flag, part, 'no rule begins so; sexton check --list-rules names them');
  });
}

function severityOf(text: string): readonly [string, Severity] {
  const [id = '', word] = text.trim().split(/=(.*)/s);
  if (!RULE_IDS.includes(id)) refuse('--severity', text, 'names no rule; write one such as SX301=error');
  const parsed = choice(SEVERITIES)(word ?? '');
  if (!parsed.ok) refuse('--severity', text, word === undefined ? `names no severity; write ${id}=error` : parsed.why);
  return [id, parsed.value];
}

function minorOf(text: string): number {
  const [, minor] = /^v?1\.(\d+)(\..*)?$/.exec(text) ?? [];
  return Number(minor ?? refuse('--kubernetes-version', text, 'no version of Kubernetes; write one such as 1.36'));
}

/** Sources: docs/stop.md. */
const CAPS: Readonly<Record<string, number | undefined>> = {
  delete: undefined,
  spot: 15_000,
  compose: 10_000,
  'node-shutdown': 0,
};

/** `delete`, `node-shutdown=30/15`, `spot=25`. */
function scenarioOf(word: string): Scenario {
  const flag = '--scenario';
  const [name = '', time] = word.split(/=(.*)/s);
  if (!Object.hasOwn(CAPS, name))
    refuse(flag, word, `no such scenario; write some of ${Object.keys(CAPS).join(', ')}, as in spot=25`);
  if (time === undefined) return { name: word, capMs: CAPS[name] };
  const [, first, second] = /^(\d+)(?:\/(\d+))?$/.exec(time) ?? [];
  if (first === undefined) refuse(flag, word, `${show(time)} is no number of seconds; write ${name}=25`);
  if (second !== undefined && name !== 'node-shutdown') refuse(flag, word, 'only node-shutdown takes two times');
  const seconds = Number(first) - Number(second ?? 0);
  if (seconds < 0) refuse(flag, word, 'the critical pods take more than there is');
  return { name: word, capMs: seconds * 1_000 };
}

export function imagesOf(path: string): Images {
  const { images } = record('--images', path, jsonFile('--images', path));
  const entries = Object.entries(record('--images', path, images));
  return new Map(entries.map(([name, value]) => [familiarName(name), factsOf(path, name, value)]));
}

function factsOf(path: string, name: string, value: unknown): ImageFacts {
  const facts = record('--images', path, value);
  const [key, [, what = ''] = []] = wrongIn(facts) ?? [];
  if (key === undefined) return facts;
  throw new SettingError(`--images ${path}: ${show(name)}: ${key} must be ${what}`);
}

function wrongIn(facts: Record<string, unknown>): readonly [string, Shape] | undefined {
  return Object.entries(SHAPES).find(([key, [isRight]]) => facts[key] !== undefined && !isRight(facts[key]));
}

type Shape = readonly [isRight: (value: unknown) => boolean, what: string];
const TEXT: Shape = [(value) => typeof value === 'string', 'a text'];
const TEXTS: Shape = [(value) => Array.isArray(value) && value.every(TEXT[0]), 'a list of texts'];
const SHAPES: Readonly<Record<keyof ImageFacts, Shape>> = {
  entrypoint: TEXTS,
  cmd: TEXTS,
  stopSignal: TEXT,
  user: TEXT,
  env: [
    (value) => typeof value === 'object' && value !== null && TEXTS[0](Object.values(value)),
    'a map from variables to their values',
  ],
  shell: [(value) => SHELLS.some((one) => one === value), `one of ${SHELLS.join(', ')}`],
  programs: TEXTS,
  workingDir: TEXT,
  digest: TEXT,
  platform: TEXT,
  platforms: [
    (value) =>
      isRecord(value) && Object.values(value).every((facts) => isRecord(facts) && wrongIn(facts) === undefined),
    'a map from platforms to what differs there',
  ],
  from: TEXT,
};

function baselineOf(path: string): ReadonlySet<string> {
  const { findings } = record('--baseline', path, jsonFile('--baseline', path));
  if (!Array.isArray(findings))
    throw new SettingError(`--baseline ${path}: holds no findings; write it with sexton check -o json=${path}`);
  const prints = findings.map((finding) => recordOf(finding).fingerprint);
  return new Set(prints.filter((print) => typeof print === 'string'));
}

function jsonFile(flag: string, path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    throw new SettingError(`${flag} ${path}: ${whyNoFile(error)}; name a file in JSON`);
  }
}

function record(flag: string, path: string, value: unknown): Record<string, unknown> {
  if (isRecord(value)) return value;
  throw new SettingError(`${flag} ${path}: does not hold what is expected; see docs/check.md`);
}

export const SETTINGS_FILE = '.sexton-check.yaml';

/** The nearest one at or above the working directory; flags beat it. */
export function fileSettings(): Given {
  for (let at = workingDirectory(); ; at = dirname(at)) {
    const path = join(at, SETTINGS_FILE);
    const text = textOf(path);
    if (text !== undefined) return parsed(path, text);
    if (dirname(at) === at) return {};
  }
}

function workingDirectory(): string {
  try {
    return process.cwd();
  } catch {
    throw new SettingError('the working directory is gone; change into another one');
  }
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new SettingError(`${path}: ${whyNoFile(error)}`);
  }
}

function parsed(path: string, text: string): Given {
  if (text.trim() === '') return {};
  const yaml = parseYaml(text);
  if (!yaml.ok) throw new SettingError(`${path}: ${yaml.why}`);
  if (!isRecord(yaml.value))
    throw new SettingError(`${path}: holds no keys; write one a line, such as fail-on: warning`);
  const given: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(yaml.value)) {
    if (LIST_KEYS.some((one) => one === key)) given[key] = listOf(path, key, value);
    else if (!TEXT_KEYS.some((one) => one === key)) {
      const known = [...TEXT_KEYS, ...LIST_KEYS];
      const remedy = didYouMean(nearest(key, known), `keys are ${known.join(', ')}`);
      throw new SettingError(`${path}: ${show(key)}: no such key; ${remedy}`);
    } else if (typeof value === 'string') given[key] = value;
    else throw new SettingError(`${path}: ${show(key)}: must be a single value`);
  }
  return given;
}

/** `only: SX1,SX2` and `only: [SX1, SX2]`; `severity: {SX301: error}`. */
function listOf(path: string, key: string, value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  const texts = Array.isArray(value)
    ? (value as readonly unknown[])
    : Object.entries((value ?? {}) as Record<string, unknown>).map(([name, one]) => `${name}=${String(one)}`);
  if (texts.every((one) => typeof one === 'string')) return texts;
  throw new SettingError(`${path}: ${key}: must be a list of strings`);
}
