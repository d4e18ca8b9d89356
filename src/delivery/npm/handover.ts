/**
 * What the entry of the npm package hands to sexton-init: its command line and environment, byte for byte, and in
 * `SEXTON_NODE` which Node this is. Init takes that variable out before it starts anything.
 *
 * Node has decoded both as text, so they are read again from /proc. To execve(2), Node passes text only. When not all
 * of it is UTF-8, each byte goes as the character of that number, and init turns these back into bytes.
 */
import { isUtf8 } from 'node:buffer';

export type Handover =
  | { readonly ok: true; readonly argv: string[]; readonly env: Record<string, string> }
  | { readonly ok: false; readonly why: string };

export interface Started {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly execPath: string;
}

const VARIABLE = 'SEXTON_NODE';
/** Longest argument or variable that the kernel takes, with its NUL: execve(2), MAX_ARG_STRLEN. */
const MAX_STRING = 131_072;

export function handover(started: Started, readRaw: (name: 'cmdline' | 'environ') => Buffer | undefined): Handover {
  const words = started.argv.length - 1;
  // In front of ours stand Node and its own flags.
  const rawArgv = splitAtNul(readRaw('cmdline')).slice(-words);
  const rawEnv = splitAtNul(readRaw('environ'));
  const argv = isSame(rawArgv, started.argv.slice(1))
    ? rawArgv
    : started.argv.slice(1).map((word) => Buffer.from(word));
  const env = rawEnv.length > 0 ? rawEnv : variablesOf(started.env);
  const isText = isUtf8(Buffer.concat([...argv, ...env]));
  const encoding = isText ? 'utf8' : 'latin1';
  const text = (bytes: Buffer): string => bytes.toString(encoding);
  const node = `${isText ? '' : 'latin1:'}${text(Buffer.from(started.execPath))}`;
  const over = { ok: true, argv: argv.map(text), env: environment(env.map(text), node) } as const;
  return isText ? over : checkLengths(over);
}

function splitAtNul(raw: Buffer | undefined): Buffer[] {
  const strings = raw?.toString('latin1').split('\0').slice(0, -1) ?? [];
  return strings.map((string) => Buffer.from(string, 'latin1'));
}

/** Not when a process title is written over the command line. Node makes the script's path, the first, absolute. */
function isSame(raw: readonly Buffer[], argv: readonly string[]): boolean {
  return raw.length === argv.length && raw.every((bytes, index) => index === 0 || bytes.toString() === argv[index]);
}

function variablesOf(env: Started['env']): Buffer[] {
  return Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [Buffer.from(`${name}=${value}`)]));
}

/** A name that comes twice keeps its first value, which is the one that getenv(3) finds. */
function environment(variables: readonly string[], node: string): Record<string, string> {
  const env: Record<string, string> = Object.create(null);
  for (const variable of variables) {
    const at = variable.indexOf('=', 1);
    const name = variable.slice(0, at);
    if (at > 0 && !(name in env)) env[name] = variable.slice(at + 1);
  }
  env[VARIABLE] = node;
  return env;
}

function checkLengths(over: Handover & { readonly ok: true }): Handover {
  const strings = [...over.argv, ...Object.entries(over.env).map((pair) => pair.join('='))];
  if (strings.every((string) => Buffer.byteLength(string) < MAX_STRING)) return over;
  const remedy = 'make it shorter than 64 KiB, or start the sexton of the image in place of the npm package';
  return { ok: false, why: `cannot pass on an argument or variable that long which is not UTF-8: ${remedy}` };
}
