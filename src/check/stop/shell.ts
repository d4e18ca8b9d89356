/**
 * What a shell as PID 1 does with its command: whether it becomes the command, or stays in front of it. As PID 1
 * without a trap it ignores TERM (pid_namespaces(7)), so a command behind it never hears of the stop. Measured with
 * dash 0.5.12, bash 5.2 and busybox 1.35.
 */
import { unitsOf } from '../../config/notation/words.ts';
import type { Shell } from './images.ts';

export interface ShellCommand {
  /** `sh`, `bash`. */
  readonly shell: string;
  readonly script: string;
  readonly index: number;
  /** The script ends at the first command that fails, or at a variable that is not set. */
  readonly isStrict: boolean;
}

/** The script of `sh -c SCRIPT`; undefined: it is something else. */
export function shellCommandOf(argv: readonly string[]): ShellCommand | undefined {
  const [first = '', ...rest] = argv;
  const shell = first.slice(first.lastIndexOf('/') + 1);
  if (!/^(sh|bash|dash|ash)$/.test(shell)) return undefined;
  const at = rest.findIndex(
    (word, index) => /^-[a-z]*c$/.test(word) || !(/^[-+]/.test(word) || rest[index - 1] === '-o'),
  );
  const script = rest[at + 1];
  if (at < 0 || !/^-[a-z]*c$/.test(rest[at] ?? '') || script === undefined) return undefined;
  const isStrict = rest.slice(0, at + 1).some((word) => /^(-[a-z]*[eu]|errexit$|nounset$)/.test(word));
  return { shell, script, index: at + 2, isStrict };
}

export interface Fate {
  /** It stays PID 1 for certain, for as long as its last command runs. */
  readonly stays: boolean;
  /** Whether it stays depends on which shell it is. */
  readonly mayStay: boolean;
}

const BECOMES: Fate = { stays: false, mayStay: false };
const STAYS: Fate = { stays: true, mayStay: true };

export function fateOf({ script, shell: name }: ShellCommand, shell: Shell | undefined): Fate {
  const text = script.trim();
  // What handles signals itself, or what cannot be read here.
  if (text === '' || /(^|[\s;&|({])trap\s/.test(text)) return BECOMES;
  const commands = listOf(text);
  const last = commands?.at(-1);
  if (commands === undefined || last === undefined || last.isBackground) return BECOMES;
  if (last.before !== '|' && /^(exec|wait|exit)\b/.test(last.text)) return BECOMES;
  // Which of them comes last in the end cannot be read here.
  if (/\w\s*\(\)\s*\{/.test(text) || commands.some(isExec)) return BECOMES;
  // Commands are split at semicolons, so a compound command shows up as its final keyword.
  if (/^done\b/.test(last.text) || last.before === '|' || last.before === '||') return STAYS;
  // What is started by its own name is that shell, whatever the image's sh is.
  const kind = name === 'bash' || name === 'dash' ? name : name === 'ash' ? 'busybox' : shell;
  if (kind === 'bash') return /^(fi|esac|\}|\(|!)/.test(last.text) || last.isRedirected ? STAYS : BECOMES;
  if (kind === 'dash') return STAYS;
  if (kind === 'busybox') return BECOMES;
  return { stays: false, mayStay: true };
}

/** It puts a program in the place of the shell itself; in a pipe or in the background that is a subshell. */
function isExec({ text, before, after, isBackground }: Command): boolean {
  if (before === '|' || after === '|' || isBackground) return false;
  const words = text.split(/\s+/);
  const at = words.findIndex((word) => !BEFORE_COMMAND.test(word));
  if (words[at] === 'eval') return text.includes('exec');
  return words[at] === 'exec' && /^[^<>&\d]/.test(words[at + 1] ?? '');
}

/** Words of compound commands, and variables. */
const BEFORE_COMMAND = /^(if|then|elif|else|while|until|do|!|\{|command|[A-Za-z_]\w*=.*)$/;

/** The last command as written, if `exec` may stand before it; undefined: no program, or a part of something larger. */
export function lastProgramOf(script: string): string | undefined {
  const last = listOf(script)?.at(-1);
  if (last === undefined || last.isBackground || last.before === '|' || last.before === '||') return undefined;
  const text = script.slice(last.at).trimStart();
  const program = /^([A-Za-z0-9_./-]+)(?:\s[^(){}`\n]*)?$/.exec(text)?.[1];
  // What follows a number sign may be a comment, and the last line of a here-document is no command.
  if (program === undefined || NO_PROGRAMS.has(program) || /(^|\s)#|<</.test(script)) return undefined;
  return text;
}

/** Words and built-ins of shells: exec would find no such program. */
const NO_PROGRAMS: ReadonlySet<string> = new Set(
  (
    'do done else elif esac fi for if in then until while case time ' +
    '. alias break builtin cd command continue declare echo eval exec exit export false hash let local printf pwd ' +
    'read readonly return set shift source test trap true type typeset ulimit umask unalias unset wait'
  ).split(' '),
);

/** What stands between two commands; a newline is like a semicolon. */
type Sign = ';' | '&' | '&&' | '|' | '||';

interface Command {
  /** Without quotes; a blank in them or in parentheses is an underscore. */
  readonly text: string;
  /** Where it begins in the script, with blanks before it. */
  readonly at: number;
  readonly before: Sign;
  readonly after: Sign;
  /** The list that it belongs to is. */
  readonly isBackground: boolean;
  readonly isRedirected: boolean;
}

/** The commands of a list, without comments; undefined: a quote does not end. */
function listOf(script: string): readonly Command[] | undefined {
  const parsed = unitsOf(script.replaceAll(/\\\r?\n/g, (continued) => ' '.repeat(continued.length)));
  if (!parsed.ok) return undefined;
  const units = parsed.value;
  const commands: Command[] = [];
  let list: Omit<Command, 'isBackground'>[] = [];
  let next = { text: '', at: -1, before: ';' as Sign, isRedirected: false };
  let isComment = false;
  let depth = 0;
  const end = (after: Sign): void => {
    const text = next.text.trim();
    // Behind a sign a list goes on in the next line.
    if (text === '') return;
    list.push({ ...next, text, after });
    next = { text: '', at: -1, before: after, isRedirected: false };
    if (after !== ';' && after !== '&') return;
    for (const one of list) commands.push({ ...one, isBackground: after === '&' });
    list = [];
  };
  for (let index = 0; index < units.length; index += 1) {
    const { char, isQuoted, at } = units[index] ?? { char: '', isQuoted: false, at: 0 };
    const after = units[index + 1];
    const isDouble = after?.char === char && !after.isQuoted;
    if (!isQuoted && char === '\n') isComment = false;
    if (isComment) continue;
    if (!isQuoted && char === '(') depth += 1;
    // What stands in parentheses is one command, of a shell of its own.
    const isInside = isQuoted || depth > 0;
    const isFirst = next.text === '' || /\s/.test(units[index - 1]?.char ?? '');
    if (!isQuoted && char === '#' && isFirst) isComment = true;
    else if (!isInside && /^[;\n]$/.test(char)) end(';');
    else if (!isInside && (char === '|' || (char === '&' && !/[<>]$/.test(next.text) && after?.char !== '>'))) {
      end((isDouble ? char + char : char) as Sign);
      if (isDouble) index += 1;
    } else {
      if (!isInside && /^[<>]$/.test(char)) next.isRedirected = true;
      if (next.at < 0) next.at = at;
      next.text += isInside && /\s/.test(char) ? '_' : char;
      // Without an opening one it ends a pattern of case.
      if (!isQuoted && char === ')' && depth === 0) end(';');
      else if (!isQuoted && char === ')') depth -= 1;
    }
  }
  end(';');
  return commands;
}

/** The words of the first command, unless another one runs where it fails; undefined: there is none. */
export function firstCommandOf(script: string): readonly string[] | undefined {
  const [first, second] = listOf(script) ?? [];
  if (first === undefined || second?.before === '||') return undefined;
  return first.text.replace(/^exec\s+/, '').split(/\s+/);
}

/** How long a script certainly takes: what the `sleep`s add up to that run in any case. */
export function sleepOf({ script, isStrict }: ShellCommand): { readonly minMs: number; readonly isAll: boolean } {
  const commands = listOf(script);
  if (commands === undefined) return { minMs: 0, isAll: false };
  let minMs = 0;
  let isAll = true;
  let runs = true;
  for (const { text, before, after, isBackground } of commands) {
    if (before !== '&&') runs = before === ';' || before === '&';
    if (/^(true|:)$/.test(text)) continue;
    if (runs && /^exit( 0)?$/.test(text)) return { minMs, isAll };
    const ms = runs && !isBackground && after !== '|' ? sleepMs(text.split(/\s+/)) : undefined;
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
