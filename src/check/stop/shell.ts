/**
 * What a shell as PID 1 does with its command: whether it becomes the command, or stays in front of it. As PID 1
 * without a trap it ignores TERM (pid_namespaces(7)), so a command behind it never hears of the stop. Measured with
 * dash 0.5.12, bash 5.2 and busybox 1.35.
 */
import { startedBy } from '../../config/notation/program.ts';
import { type Command, commandsOf, scriptOfShell } from '../../config/notation/shell.ts';
import { signalName, signalNumber } from '../../core/signals.ts';
import type { Shell } from './images.ts';

export interface ShellCommand {
  /** `sh`, `bash`. */
  readonly shell: string;
  /** Which one it is by its name alone; undefined: that depends on the image. */
  readonly kind: Shell | undefined;
  readonly script: string;
  /** The place of the word in the command line, from the end: 1 is the last. undefined: it is a part of one. */
  readonly fromEnd: number | undefined;
  /** The script ends at the first command that fails, or at a variable that is not set. */
  readonly isStrict: boolean;
}

const KINDS = new Map<string, Shell | undefined>(
  Object.entries({ sh: undefined, bash: 'bash', dash: 'dash', ash: 'busybox' }),
);

/** The script of `sh -c SCRIPT`; undefined: it is something else. */
export function shellCommandOf([first = '', ...args]: readonly string[]): ShellCommand | undefined {
  const shell = first.slice(first.lastIndexOf('/') + 1);
  const found = KINDS.has(shell) ? scriptOfShell(args) : undefined;
  if (found === undefined) return undefined;
  const { script, at, options } = found;
  const isStrict = options.some((word) => /^(-[A-Za-z]*[eu]|errexit$|nounset$)/.test(word));
  return { shell, kind: KINDS.get(shell), script, fromEnd: args.length - at, isStrict };
}

/** The shell that is PID 1, behind what execs it; undefined: another program is, or an init. */
export function firstShellOf(argv: readonly string[]): ShellCommand | undefined {
  const { program, args, behind, hasInit } = startedBy(argv);
  const found = hasInit ? undefined : shellCommandOf([program, ...args]);
  if (found === undefined) return undefined;
  const kind = behind.includes('busybox') ? 'busybox' : found.kind;
  return { ...found, kind, fromEnd: behind.some((one) => KINDS.has(one)) ? undefined : found.fromEnd };
}

export interface Fate {
  /** It stays PID 1 for certain, for as long as its last command runs. */
  readonly stays: boolean;
  /** Whether it stays depends on which shell it is. */
  readonly mayStay: boolean;
}

const BECOMES: Fate = { stays: false, mayStay: false };
const STAYS: Fate = { stays: true, mayStay: true };

export function fateOf({ script, kind: named }: ShellCommand, shell: Shell | undefined): Fate {
  const commands = commandsOf(script);
  const last = commands?.at(-1);
  if (commands === undefined || last === undefined || last.after === '&') return BECOMES;
  const elsewhere = inSubshells(commands);
  // The last command of such a script cannot be known.
  if (commands.some((one) => DEFINITION.test(one.text) || (takesOver(one) && !elsewhere.has(one)))) return BECOMES;
  // A script that exits has an end.
  if (last.before !== '|' && /^exit\b/.test(last.text)) return BECOMES;
  // Commands are split at semicolons, so a compound command shows up as its final keyword.
  if (/^done\b/.test(last.text) || last.before.startsWith('|')) return STAYS;
  // Its program is in the background.
  if (commands.length > 1 && /^wait\b/.test(last.text)) return STAYS;
  const kind = named ?? shell;
  if (kind === 'bash') return /^(fi|esac|\}|\(|!)/.test(last.text) || last.isRedirected ? STAYS : BECOMES;
  if (kind === 'dash') return STAYS;
  if (kind === 'busybox') return BECOMES;
  return { stays: false, mayStay: true };
}

/** A function, whose name looks like a program's. */
const DEFINITION = /^(function\s|[^\s()=]+\s*\(\))/;

/** Those in a pipe or in the background, also by what is around them. */
function inSubshells(commands: readonly Command[]): ReadonlySet<Command> {
  const found = new Set<Command>();
  const open: { readonly at: number; readonly isFirst: boolean }[] = [];
  /** The index at which the compound begins that ends with a command. */
  const starts: number[] = [];
  for (const [at, one] of commands.entries()) {
    const words = one.text.split(/\s+/);
    const program = words.findIndex((word) => !BEFORE_COMMAND.test(word));
    const opening = words
      .slice(0, program < 0 ? undefined : program + 1)
      .filter((word) => /^(if|while|until|for|case|select|\{)$/.test(word));
    open.push(...opening.map((_, index) => ({ at, isFirst: index === 0 })));
    const closed = /^(done|fi|esac|\})$/.test(words[0] ?? '') ? open.pop() : undefined;
    let from = closed?.at ?? at;
    starts.push(from);
    const isApart = commands[from]?.before === '|' || /^[|&]$/.test(one.after);
    // A list is in the background as a whole. The sign before the first command of a compound is not of its list.
    if (one.after === '&' && (closed?.isFirst ?? opening.length === 0))
      while (/^(&&|\|)/.test(commands[from]?.before ?? '')) from = starts[from - 1] ?? 0;
    for (const inside of isApart ? commands.slice(from, at + 1) : []) found.add(inside);
  }
  return found;
}

/** Whether the shell becomes a program by it, or handles signals. */
function takesOver({ text }: Command): boolean {
  const words = text.replaceAll(REDIRECTION, '').split(/\s+/);
  const at = words.findIndex((word) => !BEFORE_COMMAND.test(word));
  if (words[at] === 'eval') return /exec|trap/.test(text);
  return words[at] === 'trap' || (words[at] === 'exec' && words[at + 1] !== undefined);
}

const REDIRECTION = /\s\d*(&>|[<>])[<>&|]*\s*\S+/g;

/** Words of compound commands, and variables. */
const BEFORE_COMMAND = /^(if|then|elif|else|while|until|do|!|\{|command|builtin|[A-Za-z_]\w*=.*)$/;

/**
 * Whether the shell catches this signal while its last program runs in the foreground. It then runs its trap when that
 * has ended: POSIX, Shell Command Language, 2.12.
 */
export function defersTrap(script: string, signal: string): boolean {
  const commands = commandsOf(script) ?? [];
  const elsewhere = inSubshells(commands);
  const traps = commands.filter((one) => !elsewhere.has(one)).flatMap(({ text }) => trapOf(text) ?? []);
  const last = traps.findLast(({ signals }) => signals.includes(signal));
  return last?.isCaught === true && lastProgramOf(script) !== undefined;
}

/** undefined: it is another command. An empty action, which ignores the signals, has left no word. */
function trapOf(text: string) {
  const [first, ...words] = text.split(/\s+/);
  if (first !== 'trap') return undefined;
  const [action = '', ...conditions] = words[0] === '--' ? words.slice(1) : words;
  const isCaught = conditions.length > 0 && !/^(-|\d+)$/.test(action);
  const names = isCaught || action === '-' ? conditions : [action, ...conditions];
  return { isCaught, signals: names.flatMap((name) => signalOf(name) ?? []) };
}

function signalOf(name: string): string | undefined {
  const number = signalNumber(name);
  return number === undefined ? undefined : signalName(number);
}

/** The last command as written, if `exec` may stand before it; undefined: no program, or a part of something larger. */
export function lastProgramOf(script: string): string | undefined {
  const commands = commandsOf(script) ?? [];
  const last = commands.at(-1);
  if (last === undefined || last.after === '&' || last.before.startsWith('|')) return undefined;
  // A file that is read may define a function of that name.
  if (commands.some(({ text }) => DEFINITION.test(text) || /(^|\s)(\.|source|alias|eval)\s/.test(text)))
    return undefined;
  const text = script.slice(last.at).trim();
  // What follows a number sign may be a comment, and the last line of a here-document is no command.
  if (!/^[\w./-]+(\s[^(){}`\n]*)?$/.test(text) || /\s#|<</.test(text)) return undefined;
  return canBeFirst(text.split(/\s+/)) ? text : undefined;
}

/** Whether a command may take the place of the shell: it is a program, and does not ignore TERM as PID 1 for certain. */
export function canBeFirst(words: readonly string[]): boolean {
  const [first = ''] = words;
  const { program, args } = startedBy(words);
  const isPrompt = KINDS.has(program) && args.every((word) => word.startsWith('-'));
  return !/^-|=/.test(first) && !NO_PROGRAMS.has(first) && !DEAF.has(program) && !isPrompt;
}

/** Words and built-ins of shells: exec would find no such program, or not everywhere. */
const NO_PROGRAMS: ReadonlySet<string> = new Set(
  (
    'do done else elif esac fi for function if in select then until while case coproc time ' +
    '. alias bg break builtin cd command continue declare dirs disown echo eval exec exit export false fg getopts ' +
    'hash jobs kill let local logout mapfile popd printf pushd pwd read readarray readonly return set shift shopt ' +
    'source suspend test times trap true type typeset ulimit umask unalias unset wait'
  ).split(' '),
);

/** Programs without a handler for TERM, which the kernel does not deliver to PID 1 then: pid_namespaces(7). */
const DEAF: ReadonlySet<string> = new Set('awk cat grep http.server sed sleep tail tee yes'.split(' '));

/** The words of the first command, unless another one runs where it fails; undefined: there is none. */
export function firstCommandOf(script: string): readonly string[] | undefined {
  const [first, second] = commandsOf(script) ?? [];
  if (first === undefined || second?.before === '||') return undefined;
  return first.text.replace(/^exec\s+/, '').split(/\s+/);
}

/** How long a script certainly takes: what the `sleep`s add up to that run in any case. */
export function sleepOf({ script, isStrict }: ShellCommand): { readonly minMs: number; readonly isAll: boolean } {
  const commands = commandsOf(script);
  if (commands === undefined) return { minMs: 0, isAll: false };
  let minMs = 0;
  let isAll = true;
  let runs = true;
  const elsewhere = inSubshells(commands);
  for (const one of commands) {
    const { text, before } = one;
    if (before !== '&&') runs = before === ';' || before === '&';
    if (/^(true|:)$/.test(text)) continue;
    if (runs && /^exit( 0)?$/.test(text)) return { minMs, isAll };
    const ms = runs && !elsewhere.has(one) ? sleepMs(text.split(/\s+/)) : undefined;
    minMs += ms ?? 0;
    if (ms !== undefined) continue;
    isAll = false;
    // It may fail, and what stands behind && does then not run.
    runs = false;
    if (isStrict || LEAVES.test(text) || STOPS.test(text)) break;
  }
  return { minMs, isAll };
}

/** Behind these nothing is certain: they branch or leave, or begin a function or a here-document. */
const LEAVES = /^(if|for|while|until|case|function|exec|exit|return|set|trap|\.|source|eval)(\s|$)|(^|\))\s*\{|<</;
/** These may end the container, and the hook with it. */
const STOPS = /kill|quit|stop|shutdown/;

/** `sleep 5`, `/bin/sleep 5s`. */
export function sleepMs(words: readonly string[]): number | undefined {
  const [program = '', time = '', ...more] = words;
  if (!/^(.*\/)?sleep$/.test(program) || more.length > 0) return undefined;
  const [, count, unit = 's'] = /^(\d+(?:\.\d+)?)([smh]?)$/.exec(time) ?? [];
  if (count === undefined) return undefined;
  return Math.round(Number(count) * 1_000 * ({ '': 1, s: 1, m: 60, h: 3_600 }[unit] ?? 1));
}
