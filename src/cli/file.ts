/**
 * The configuration file: one object, shaped like a container of a Pod where Kubernetes has the field, and in the
 * flags' names in camel case for the rest. Its values are brought to the flags' notation and parsed by the flags' parsers.
 */
import type { Key } from './flag.ts';
import { FLAGS, fileKeyOf, KEYS } from './flags.ts';
import { type Given, unexpanded } from './given.ts';
import { nearest } from './nearest.ts';
import { bad, good, type Parse, show } from './parse.ts';

export interface ConfigFile {
  readonly path: string;
  readonly given: readonly Given[];
  /** `command` and `args`; `undefined`: the file has no command. */
  readonly command: readonly [string, ...string[]] | undefined;
  /** The file has `args` but no `command`. */
  readonly hasArgsOnly: boolean;
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
}

/** JSON needs no YAML parser, which is slow to load. YAML may begin with `{` as well, so such a text is tried first. */
export function parseAsJson(path: string, text: string): Parse<unknown> | undefined {
  const mustBeJson = path.endsWith('.json');
  if (!mustBeJson && !text.trimStart().startsWith('{')) return undefined;
  try {
    return good(JSON.parse(text) as unknown);
  } catch (error) {
    return mustBeJson ? bad(`not JSON: ${(error as Error).message}`) : undefined;
  }
}

export function readConfigFile(path: string, content: unknown): ConfigFile {
  const given: Given[] = [];
  const problems: string[] = [];
  const wrongShape = shapeProblem(content);
  if (wrongShape !== undefined) {
    return { path, given, command: undefined, hasArgsOnly: false, warnings: [], problems: [`${path}: ${wrongShape}`] };
  }
  const fields = content as Readonly<Record<string, unknown>>;
  for (const [fileKey, value] of Object.entries(fields)) {
    if (fileKey === 'command' || fileKey === 'args') continue;
    const key = KEYS.find((candidate) => fileKeyOf(candidate) === fileKey);
    if (key === undefined) {
      problems.push(unknownKey(path, fileKey));
      continue;
    }
    const text = textOf(key, value);
    const label = `${fileKey}: ${show(text.ok ? shownValue(key, text.value) : describe(value))} in ${path}`;
    if (text.ok) given.push({ key, text: text.value, label, source: path });
    else problems.push(`${label}: ${text.why}`);
  }
  const command = words(path, 'command', fields.command, problems);
  const args = words(path, 'args', fields.args, problems);
  const [program, ...rest] = command;
  return {
    path,
    given,
    problems,
    command: program === undefined ? undefined : [program, ...rest, ...args],
    hasArgsOnly: program === undefined && args.length > 0,
    warnings: [...command, ...args].flatMap((word) => {
      return unexpanded(word) ? [`${show(word)} in ${path}: $(NAME) is not expanded here; write the value`] : [];
    }),
  };
}

function shapeProblem(content: unknown): string | undefined {
  if (typeof content !== 'object' || content === null || Array.isArray(content)) {
    return 'not a map of keys; write one key a line, such as role: sidecar';
  }
  if ('kind' in content || 'apiVersion' in content || 'spec' in content) {
    return 'a whole manifest; write only the keys of this one container, such as command and role';
  }
  return undefined;
}

function unknownKey(path: string, fileKey: string): string {
  const where = `${show(fileKey)} in ${path}`;
  if (OF_CONTAINERS.includes(fileKey)) return `${where}: the platform's, sexton cannot act on it; leave it in the Pod`;
  // A flag's own name, or its key in camel case, finds the key that the file has for it.
  const names = new Map<string, string>([
    ['command', 'command'],
    ['args', 'args'],
  ]);
  for (const key of KEYS) for (const name of [fileKeyOf(key), key, FLAGS[key].name]) names.set(name, fileKeyOf(key));
  const near = nearest(fileKey, [...names.keys()]);
  return `${where}: no such key; ${near === undefined ? 'see sexton help config' : `did you mean ${names.get(near)}?`}`;
}

/** A value in the notation of its flag. */
function textOf(key: Key, value: unknown): Parse<string> {
  const flag = FLAGS[key];
  if (flag.fileSeconds) {
    // From YAML every scalar comes as its text.
    return Number.isSafeInteger(value) || (typeof value === 'string' && /^[0-9]{1,9}$/.test(value))
      ? good(`${value}s`)
      : bad('must be a whole number of seconds; write one such as 30');
  }
  if (isScalar(value)) return value === '' ? bad(`has no value; write ${flag.takes}`) : good(String(value));
  if (Array.isArray(value) && value.length > 0 && value.every(isScalar)) return good(value.join(','));
  const { pairs } = flag;
  if (pairs !== undefined && typeof value === 'object' && value !== null && !Array.isArray(value)) {
    const entries = Object.entries(value);
    if (entries.length > 0 && entries.every(([, to]) => isScalar(to))) {
      return good(entries.map(([from, to]) => `${from}${pairs}${String(to)}`).join(','));
    }
  }
  return bad(`has no value that can be read; write ${flag.takes}`);
}

function shownValue(key: Key, text: string): string {
  return FLAGS[key].fileSeconds ? text.replace(/s$/, '') : text;
}

function words(path: string, key: 'command' | 'args', value: unknown, problems: string[]): readonly string[] {
  if (value === undefined) return [];
  const isList = Array.isArray(value) && value.every((word) => typeof word === 'string' && !word.includes('\0'));
  if (isList && (key === 'args' || (value.length > 0 && value[0] !== ''))) return value as string[];
  problems.push(
    `${key}: ${show(describe(value))} in ${path}: must be a list of texts; write ["nginx", "-g", "daemon off;"]`,
  );
  return [];
}

function isScalar(value: unknown): value is string | number | boolean {
  return ['string', 'number', 'boolean'].includes(typeof value);
}

function describe(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}

/** Fields of a container in a Pod that only the platform can act on. */
const OF_CONTAINERS: readonly string[] = [
  ...['image', 'imagePullPolicy', 'workingDir', 'ports', 'env', 'envFrom', 'resources', 'resizePolicy', 'volumeMounts'],
  ...[
    'volumeDevices',
    'securityContext',
    'stdin',
    'stdinOnce',
    'tty',
    'terminationMessagePath',
    'terminationMessagePolicy',
  ],
  'restartPolicyRules',
];
