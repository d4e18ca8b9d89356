/**
 * The configuration file: shaped like a container of a Pod where Kubernetes has the field, else by the flags' names in
 * camel case. Its values are brought to the flags' notation and parsed by the flags' parsers.
 */
import { isRecord } from '../../text/record.ts';
import { FLAGS, type Key } from '../flags.ts';
import type { Given } from '../given.ts';
import { bad, good, type Parse, show, TOO_DEEP, unexpanded } from '../notation/parse.ts';
import { CONTAINER, type Container, type ContainerKey, lifecycleOf } from './container.ts';
import { type FileKeys, flagTextOf, keysOfFile, platformWarnings } from './keys.ts';
import { readReloads } from './reload.ts';
import type { Report } from './shape.ts';

export interface ConfigFile {
  readonly path: string;
  /** What is wrong; where the file cannot be read at all nothing else is given. */
  readonly problems: readonly string[];
  readonly given?: readonly Given[];
  /** `lifecycle.stopSignal`: one more of the stop signals, wherever those come from. */
  readonly stopSignal?: number | undefined;
  /** `command` and `args`; `undefined`: the file has no command. */
  readonly command?: readonly [string, ...string[]] | undefined;
  readonly hasArgsOnly?: boolean;
  readonly warnings?: readonly string[];
}

/** JSON needs no YAML parser, which is slow to load. YAML may begin with `{` as well, so such a text is tried first. */
export function parseAsJson(path: string, text: string): Parse<unknown> | undefined {
  const mustBeJson = path.endsWith('.json');
  if (!mustBeJson && !text.trimStart().startsWith('{')) return undefined;
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch (error) {
    return mustBeJson ? bad(`is not JSON: ${(error as Error).message}`) : undefined;
  }
  const repeated = repeatedKey(text);
  return repeated === undefined ? good(content) : bad(`the key ${show(repeated)} appears twice; keep one of them`);
}

/** Finds a key that one object of valid JSON has twice: JSON.parse silently takes the last. */
function repeatedKey(json: string): string | undefined {
  const open: Set<string>[] = [];
  for (const [token, text = '', colon] of json.matchAll(/("(?:[^"\\]|\\.)*"?)(\s*:)?|[{}]/g)) {
    if (token === '{') open.push(new Set());
    else if (token === '}') open.pop();
    else if (colon !== undefined) {
      const name = JSON.parse(text) as string;
      if (open.at(-1)?.has(name)) return name;
      open.at(-1)?.add(name);
    }
  }
  return undefined;
}

export function readConfigFile(path: string, content: unknown): ConfigFile {
  const wrongShape = shapeProblem(content);
  if (wrongShape !== undefined || !isRecord(content)) return { path, problems: [`${path}: ${wrongShape}`] };
  const problems: string[] = [];
  const report: Report = (at, why, value) => {
    problems.push(`${at}${value === undefined ? '' : `: ${show(describe(value))}`} in ${path}: ${why}`);
  };
  const keys = keysOfFile(content, report);
  const pod = podValues(path, content, keys, report);
  const given = [...ownValues(path, content, keys, report), ...pod.given];
  const command = words('command', content.command, report);
  const args = words('args', content.args, report);
  const [program, ...rest] = command;
  const unread = [...command, ...args, ...given.flatMap(({ value }) => wordsWithoutShell(value))];
  return {
    path,
    given,
    stopSignal: pod.stopSignal,
    problems,
    command: program === undefined ? undefined : [program, ...rest, ...args],
    hasArgsOnly: program === undefined && args.length > 0,
    warnings: [
      ...platformWarnings(path, keys.platform),
      ...unread.flatMap((word) => {
        return unexpanded(word) ? [`${show(word)} in ${path}: $(NAME) is not expanded here; write the value`] : [];
      }),
    ],
  };
}

function ownValues(
  path: string,
  content: Readonly<Record<string, unknown>>,
  { own }: FileKeys,
  report: Report,
): readonly Given[] {
  return own.flatMap(({ key, fileKey }): readonly Given[] => {
    const value = content[fileKey];
    if (key === 'reload') {
      const reloads = readReloads(value, fileKey, report);
      return reloads ? [{ key, text: '', value: reloads, label: `${fileKey} in ${path}`, source: path }] : [];
    }
    const text = flagTextOf(key, value);
    if (!text.ok) {
      report(fileKey, text.why, value);
      return [];
    }
    const shown = FLAGS[key].fileSeconds ? text.value.replace(/s$/, '') : text.value;
    const label = `${fileKey}: ${show(shown)} in ${path}`;
    return [{ key, text: text.value, isInFile: true, label, source: path }];
  });
}

function podValues(
  path: string,
  content: Readonly<Record<string, unknown>>,
  { container }: FileKeys,
  report: Report,
): { readonly given: readonly Given[]; readonly stopSignal?: number | undefined } {
  const read: Partial<Record<ContainerKey, unknown>> = {};
  for (const key of container) {
    const { read: readShape } = CONTAINER[key];
    const value = readShape(content[key], key, report);
    // Without readable ports every port name would be reported as wrong, too.
    if (value === undefined && key === 'ports') return { given: [] };
    if (value !== undefined) read[key] = value;
  }
  const { probes, postStart, preStop, restartRules, stopSignal } = lifecycleOf(read as Container, report);
  const values: Readonly<Partial<Record<Key, unknown>>> = { ...probes, postStart, preStop, restartRules };
  const keys = (Object.keys(values) as Key[]).filter((key) => values[key] !== undefined);
  const given = keys.map((key) => {
    return { key, text: '', value: values[key], label: `${FLAGS[key].podKey} in ${path}`, source: path };
  });
  return { given, stopSignal };
}

function shapeProblem(content: unknown): string | undefined {
  if (isTooDeep(content)) return TOO_DEEP;
  if (!isRecord(content)) return 'must be a map of keys; write one key per line, such as role: sidecar';
  if (['kind', 'apiVersion', 'spec', 'containers'].some((key) => key in content)) {
    return 'is a whole manifest; write only the keys of this one container, such as command and role';
  }
  return undefined;
}

/** Goes level by level: recursion would run out of stack, and a YAML alias may lead back to itself. */
function isTooDeep(content: unknown): boolean {
  let level = new Set([content]);
  for (let depth = 0; level.size > 0; depth++) {
    if (depth > MAX_DEPTH) return true;
    level = new Set(
      [...level].flatMap((value) => (isRecord(value) || Array.isArray(value) ? Object.values(value) : [])),
    );
  }
  return false;
}

/** A header of a probe is five levels deep. */
const MAX_DEPTH = 100;

function describe(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}

function words(key: 'command' | 'args', value: unknown, report: Report): readonly string[] {
  if (value === undefined) return [];
  const isList = Array.isArray(value) && value.every((word) => typeof word === 'string' && !word.includes('\0'));
  if (isList && (key === 'args' || (value.length > 0 && value[0] !== ''))) return value as string[];
  report(key, 'must be a list of strings; write ["nginx", "-g", "daemon off;"]', value);
  return [];
}

/** The words of a probe's or hook's command, unless a shell runs it: there $(NAME) has a meaning. */
function wordsWithoutShell(value: unknown): readonly string[] {
  const action = isRecord(value) && isRecord(value.action) ? value.action : value;
  if (!isRecord(action) || action.kind !== 'exec') return [];
  const argv = action.argv as readonly string[];
  return argv.some((word) => /(^|\/)(ba|da|a|z|k)?sh$/.test(word)) ? [] : argv;
}
