/** One value for each flag, and where it came from: the first source that gave it, else its default. */
import { FLAGS, KEYS, type Key, type Values } from './flags.ts';
import type { Given } from './given.ts';
import { bad, good, type Parse, unexpanded, whyInFile } from './notation/parse.ts';
import { nameFromCommand } from './notation/values.ts';

export interface Setting<T> {
  /** `undefined`: not given and without a default, or broken. */
  readonly value: T | undefined;
  /** As a message names it: `--drain 5s`. */
  readonly label: string;
  readonly source: string;
  /** False: it is the default. */
  readonly isGiven: boolean;
  /** Given, but it cannot be parsed: rules that need it do not apply. */
  readonly isBroken: boolean;
}

export type Settings = { readonly [K in Key]: Setting<Values[K]> };

export interface Surroundings {
  readonly command: string | undefined;
  readonly isTerminal: boolean;
  readonly isDirectory: (path: string) => boolean;
}

/** `layers`: the sources, strongest first. Every value is checked, even one that a stronger source overrides. */
export function settle(
  layers: readonly (readonly Given[])[],
  around: Surroundings,
): { readonly settings: Settings; readonly problems: readonly string[] } {
  const problems: string[] = [];
  const settings = new Map<Key, Setting<unknown>>();
  for (const layer of layers) {
    const stronger = new Set(settings.keys());
    for (const given of layer) {
      const parsed = parseGiven(given);
      if (!parsed.ok) problems.push(`${given.label}: ${given.isInFile ? whyInFile(parsed.why) : parsed.why}`);
      const { label, source } = given;
      const value = parsed.ok ? parsed.value : undefined;
      const setting = { value, label, source, isGiven: true, isBroken: !parsed.ok };
      const before = settings.get(given.key);
      if (before === undefined) settings.set(given.key, setting);
      else if (FLAGS[given.key].repeats && !stronger.has(given.key))
        settings.set(given.key, joinedSettings(before, setting));
    }
  }
  const isSidecar = settings.get('role')?.value === 'sidecar';
  for (const key of KEYS) if (!settings.has(key)) settings.set(key, defaultSetting(key, isSidecar, around));
  return { settings: Object.fromEntries(settings) as unknown as Settings, problems };
}

function parseGiven({ key, text, value }: Given): Parse<unknown> {
  if (value !== undefined) return good(value);
  const slip = FLAGS[key].hasCommand ? undefined : unexpanded(text);
  return slip === undefined ? FLAGS[key].parse(text) : bad(slip);
}

function joinedSettings(one: Setting<unknown>, other: Setting<unknown>): Setting<unknown> {
  if (one.isBroken || other.isBroken) return { ...one, value: undefined, isBroken: true };
  return { ...one, value: [...(one.value as readonly unknown[]), ...(other.value as readonly unknown[])] };
}

function defaultSetting(key: Key, isSidecar: boolean, around: Surroundings): Setting<unknown> {
  const flag = FLAGS[key];
  const text = typeof flag.default === 'object' ? flag.default[isSidecar ? 'sidecar' : 'main'] : flag.default;
  if (text !== undefined) return byDefault(parseDefault(key, text), `--${flag.name} ${text}`);
  switch (key) {
    case 'name': {
      const name = around.command === undefined ? undefined : nameFromCommand(around.command);
      return byDefault(name, `the name ${name}, made from the command`, 'default: the command');
    }
    case 'graveyard':
      return around.isDirectory('/graveyard')
        ? byDefault('/graveyard', '--graveyard /graveyard', 'default: the directory exists')
        : byDefault(undefined, 'no graveyard');
    case 'logFormat':
      return around.isTerminal
        ? byDefault('text', '--log-format text', 'default: stderr is a terminal')
        : byDefault('json', '--log-format json', 'default: stderr is no terminal');
    default:
      return byDefault(undefined, `--${flag.name}`);
  }
}

function byDefault(value: unknown, label: string, source = 'default'): Setting<unknown> {
  return { value, label, source, isGiven: false, isBroken: false };
}

function parseDefault(key: Key, text: string): unknown {
  const parsed = FLAGS[key].parse(text);
  if (!parsed.ok) throw new Error(`internal error: the default ${text} of --${FLAGS[key].name}: ${parsed.why}`);
  return parsed.value;
}
