/** The keys of a configuration file, sorted by what they are, and values in the notation of their flags. */
import { isRecord } from '../../text/record.ts';
import { FLAGS, fileKeyOf, KEYS, type Key } from '../flags.ts';
import { didYouMean, nearest } from '../notation/nearest.ts';
import { bad, good, type Parse, show } from '../notation/parse.ts';
import { CONTAINER, type ContainerKey } from './container.ts';
import { MOST, type Report } from './shape.ts';

export interface FileKeys {
  readonly own: readonly { readonly key: Key; readonly fileKey: string }[];
  readonly container: readonly ContainerKey[];
  readonly platform: readonly string[];
}

export function keysOfFile(content: Readonly<Record<string, unknown>>, report: Report): FileKeys {
  const own: { key: Key; fileKey: string }[] = [];
  const container: ContainerKey[] = [];
  const platform: string[] = [];
  for (const fileKey of Object.keys(content)) {
    const key = KEYS.find((candidate) => fileKeyOf(candidate) === fileKey);
    const refused = Object.hasOwn(REFUSED_KEYS, fileKey) ? REFUSED_KEYS[fileKey] : undefined;
    if (key !== undefined) {
      const problem = twiceProblem(key, content);
      if (problem === undefined) own.push({ key, fileKey });
      else report(fileKey, problem);
    } else if (Object.hasOwn(CONTAINER, fileKey)) {
      const short = shortFormOf(fileKey, content[fileKey]);
      if (short === undefined) container.push(fileKey as ContainerKey);
      else report(fileKey, `must be a map as in a Pod; a string belongs under ${short}`, content[fileKey]);
    } else if (PLATFORM_KEYS.includes(fileKey)) platform.push(fileKey);
    else if (refused !== undefined) report(show(fileKey), refused);
    else if (!OTHERS.includes(fileKey)) report(show(fileKey), unknownFileKey(fileKey));
  }
  return { own, container, platform };
}

/** Refuses a probe or a hook that the file has both as a string and in the shape of a Pod. */
function twiceProblem(key: Key, content: Readonly<Record<string, unknown>>): string | undefined {
  const { podKey } = FLAGS[key];
  if (podKey === undefined) return undefined;
  const [outer = '', inner] = podKey.split('.');
  const there = Object.hasOwn(content, outer) ? content[outer] : undefined;
  if (there === undefined || (inner !== undefined && !(isRecord(there) && Object.hasOwn(there, inner))))
    return undefined;
  return `${podKey} is given as well; keep one of them`;
}

function shortFormOf(fileKey: string, value: unknown): string | undefined {
  const key = KEYS.find((candidate) => FLAGS[candidate].podKey === fileKey);
  return typeof value === 'string' && value !== '' && key !== undefined ? key : undefined;
}

/** `$schema` is for editors. */
const OTHERS: readonly string[] = ['command', 'args', '$schema'];

function unknownFileKey(fileKey: string): string {
  // A flag's own name, or its key in camel case, finds the key that the file has for it.
  const names = new Map([...OTHERS, ...Object.keys(CONTAINER), ...PLATFORM_KEYS].map((name) => [name, name]));
  for (const key of KEYS) for (const name of [fileKeyOf(key), key, FLAGS[key].name]) names.set(name, fileKeyOf(key));
  const near = nearest(fileKey, [...names.keys()]);
  return `unknown key; ${didYouMean(near && names.get(near), 'see sexton help config')}`;
}

/**
 * Fields of a container that only the platform can act on. Whole containers are pasted, so those without influence on
 * how the command runs bring only a warning. Others are refused: their author would expect sexton to act on them.
 */
export const PLATFORM_KEYS: readonly string[] = [
  ...['image', 'imagePullPolicy', 'resources', 'resizePolicy', 'volumeMounts', 'volumeDevices', 'securityContext'],
  ...['stdin', 'stdinOnce', 'tty', 'terminationMessagePolicy'],
];

const REFUSED_KEYS: Readonly<Record<string, string>> = {
  env: 'belongs to the platform, sexton sets no variables; leave it in the Pod',
  envFrom: 'belongs to the platform, sexton sets no variables; leave it in the Pod',
  workingDir: 'belongs to the platform, the command starts where sexton does; leave it in the Pod',
};

export function platformWarnings(path: string, keys: readonly string[]): readonly string[] {
  if (keys.length === 0) return [];
  const them = keys.length === 1 ? 'it' : 'them';
  return [`${keys.join(', ')} in ${path}: ignored here, only the platform acts on ${them}; keep ${them} in the Pod`];
}

/** A value in the notation of its flag: lists are joined by commas, maps as pairs. */
export function flagTextOf(key: Key, value: unknown): Parse<string> {
  const flag = FLAGS[key];
  if (flag.fileSeconds) {
    // From YAML every scalar comes as its text.
    const text = isScalar(value) ? String(value) : '';
    return /^[0-9]+$/.test(text) && Number(text) >= 1 && Number(text) <= MOST
      ? good(`${text}s`)
      : bad(`must be a whole number of seconds from 1 to ${MOST}; write one such as 30`);
  }
  if (value === null || value === '') return bad(`needs a value; write ${flag.takes}`);
  if (isScalar(value)) return good(String(value));
  if (flag.podKey !== undefined)
    return bad(`must be a string, write ${flag.takes}; the shape of a Pod belongs under ${flag.podKey}`);
  if (takesList(key) && Array.isArray(value) && value.length > 0 && value.every(isScalar)) return good(value.join(','));
  const { pairs, pairsOfLists } = flag;
  const isValue = (to: unknown): boolean =>
    isScalar(to) || (pairsOfLists === true && Array.isArray(to) && to.length > 0 && to.every(isScalar));
  if (pairs !== undefined && isRecord(value)) {
    const entries = Object.entries(value);
    // JavaScript moves such keys to the front, in ascending order.
    if (key === 'stop' && entries.some(([from]) => /^[0-9]+$/.test(from)))
      return bad('a map of numbers loses its order; write a list such as [TERM:20s, INT:5s]');
    if (entries.length > 0 && entries.every(([, to]) => isValue(to))) {
      return good(entries.map(([from, to]) => `${from}${pairs}${String(to)}`).join(','));
    }
  }
  return bad(`cannot be read; write ${flag.takes}`);
}

export function takesList(key: Key): boolean {
  const { pairs, pairsOfLists, takes, podKey } = FLAGS[key];
  return podKey === undefined && ((pairs !== undefined && !pairsOfLists) || takes.includes(',..'));
}

function isScalar(value: unknown): value is string | number | boolean {
  return ['string', 'number', 'boolean'].includes(typeof value);
}
