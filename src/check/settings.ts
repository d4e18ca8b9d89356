/** The flags of `sexton check`, and the same keys in `.sexton-check.yaml` of the working directory or above it. */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseYaml } from '../config/file/yaml.ts';
import { nearest } from '../config/notation/nearest.ts';
import { bad, choice, eachOf, good, type Parse, show } from '../config/notation/parse.ts';
import { whyNoFile } from '../text/errors.ts';
import { isRecord } from '../text/record.ts';
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
    scenarios: ifGiven(given.scenario, scenariosOf) ?? [],
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
  if (file === '')
    throw new SettingError(`--output ${show(text)}: names no file; write ${format}=FILE, or ${format} alone`);
  return { format, file };
}

function wordOf<const Word extends string>(flag: string, text: string, words: readonly Word[]): Word {
  const parsed = choice(words)(text);
  if (parsed.ok) return parsed.value;
  throw new SettingError(`${flag} ${show(text)}: ${parsed.why}`);
}

function rulesOf(flag: string, text: string): readonly string[] {
  return text.split(',').map((part) => {
    const id = part.trim().toUpperCase();
    if (/^SX\d*$/.test(id) && RULE_IDS.some((rule) => rule.startsWith(id))) return id;
    throw new SettingError(`${flag} ${show(part)}: no rule begins so; sexton check --list-rules names them`);
  });
}

function severityOf(text: string): readonly [string, Severity] {
  const [, id = '', word = ''] = /^(SX\d+)=(.*)$/.exec(text.trim()) ?? [];
  if (!RULE_IDS.includes(id))
    throw new SettingError(`--severity ${show(text)}: names no rule; write one such as SX301=error`);
  return [id, wordOf('--severity', word, SEVERITIES)];
}

function minorOf(text: string): number {
  const [, minor] = /^v?1\.(\d+)(\..*)?$/.exec(text) ?? [];
  if (minor === undefined)
    throw new SettingError(`--kubernetes-version ${show(text)}: no version of Kubernetes; write one such as 1.36`);
  return Number(minor);
}

/** `delete,node-shutdown=30/15,spot=25`. */
function scenariosOf(text: string): readonly Scenario[] {
  const parsed = eachOf(text, parseScenario);
  if (!parsed.ok) throw new SettingError(`--scenario ${parsed.why}`);
  return parsed.value;
}

/** Sources: docs/stop.md. */
const CAPS: Readonly<Record<string, number | undefined>> = {
  delete: undefined,
  spot: 15_000,
  compose: 10_000,
  'node-shutdown': 0,
};

function parseScenario(word: string): Parse<Scenario> {
  const [name = '', time] = word.split(/=(.*)/s);
  if (!Object.hasOwn(CAPS, name))
    return bad(`${show(word)}: no such scenario; write some of ${Object.keys(CAPS).join(', ')}, as in spot=25`);
  const [isRight, first, second] = /^(\d+)(?:\/(\d+))?$/.exec(time ?? '') ?? [];
  if (time !== undefined && isRight === undefined)
    return bad(`${show(word)}: ${show(time)} is no number of seconds; write ${name}=25`);
  if (second !== undefined && name !== 'node-shutdown') return bad(`${show(word)}: only node-shutdown takes two times`);
  const seconds = first === undefined ? undefined : Number(first) - Number(second ?? 0);
  if (seconds !== undefined && seconds < 0) return bad(`${show(word)}: the critical pods take more than there is`);
  return good({ name: word, capMs: seconds === undefined ? CAPS[name] : seconds * 1_000 });
}

export function imagesOf(path: string): Images {
  const recordOf = (value: unknown): Record<string, unknown> => record('--images', path, value);
  const entries = Object.entries(recordOf(recordOf(jsonFile('--images', path)).images));
  return new Map(entries.map(([name, facts]) => [familiarName(name), factsOf(path, name, recordOf(facts))]));
}

function factsOf(path: string, name: string, facts: Record<string, unknown>): ImageFacts {
  const wrong = wrongIn(facts);
  if (wrong === undefined) return facts as ImageFacts;
  const [key, [, what]] = wrong;
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
  return new Set(
    findings.flatMap((finding: { fingerprint?: unknown } | null) =>
      typeof finding?.fingerprint === 'string' ? [finding.fingerprint] : [],
    ),
  );
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
  if (typeof yaml.value !== 'object' || yaml.value === null || Array.isArray(yaml.value))
    throw new SettingError(`${path}: holds no keys; write one a line, such as fail-on: warning`);
  const given: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(yaml.value as Record<string, unknown>)) {
    if (TEXT_KEYS.some((one) => one === key) && typeof value === 'string') given[key] = value;
    else if (LIST_KEYS.some((one) => one === key)) given[key] = listOf(path, key, value);
    else {
      const known = [...TEXT_KEYS, ...LIST_KEYS];
      const near = nearest(key, known);
      const isKnown = known.some((one) => one === key);
      const remedy = near === undefined ? `keys are ${known.join(', ')}` : `did you mean ${near}?`;
      throw new SettingError(`${path}: ${show(key)}: ${isKnown ? 'must be a single value' : `no such key; ${remedy}`}`);
    }
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
