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
  return { shell, script, index: at + 2 };
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
  const commands = listOf(text.replaceAll(/\\\r?\n/g, ' '));
  const last = commands?.at(-1);
  if (commands === undefined || last === undefined || last.isBackground || /^(exec|wait|exit)\b/.test(last.text))
    return BECOMES;
  // Which of them comes last in the end cannot be read here.
  if (/\w\s*\(\)\s*\{/.test(text)) return BECOMES;
  if (commands.some(({ text: command }) => /^exec\s+[^<>&\d]/.test(command))) return BECOMES;
  // Commands are split at semicolons, so a compound command shows up as its final keyword.
  const isLoop = /^done\b/.test(last.text);
  const isCompound = isLoop || /^(fi|esac|\}|\)|\{|\(|!)/.test(last.text) || /[)}]$/.test(last.text);
  if (isLoop || last.isPiped || last.isAlternative) return STAYS;
  // What is started by its own name is that shell, whatever the image's sh is.
  const kind = name === 'bash' || name === 'dash' ? name : name === 'ash' ? 'busybox' : shell;
  if (kind === 'bash') return isCompound || last.isRedirected ? STAYS : BECOMES;
  if (kind === 'dash') return STAYS;
  if (kind === 'busybox') return BECOMES;
  return { stays: false, mayStay: true };
}

/** The last command as written, if `exec` may stand before it; undefined: no program, or a part of something larger. */
export function lastProgramOf(script: string): string | undefined {
  const last = listOf(script)?.at(-1);
  if (last === undefined || last.isBackground || last.isPiped || last.isAlternative) return undefined;
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

interface Command {
  readonly text: string;
  /** Where it begins in the script, with blanks before it. */
  readonly at: number;
  readonly isBackground: boolean;
  readonly isPiped: boolean;
  readonly isRedirected: boolean;
  /** Behind `||`. */
  readonly isAlternative: boolean;
}

/** The commands of a list, without comments; undefined: a quote does not end. */
function listOf(script: string): readonly Command[] | undefined {
  const parsed = unitsOf(script);
  if (!parsed.ok) return undefined;
  const units = parsed.value;
  const commands: Command[] = [];
  let next = { text: '', at: -1, isPiped: false, isAlternative: false, isRedirected: false };
  let isComment = false;
  /** `sign`: what stands between this command and the next one. */
  const end = (sign: string): void => {
    const text = next.text.trim();
    if (text !== '') commands.push({ ...next, text, isBackground: sign === '&' });
    next = { text: '', at: -1, isPiped: sign === '|', isAlternative: sign === '||', isRedirected: false };
  };
  for (let index = 0; index < units.length; index += 1) {
    const { char, isQuoted, at } = units[index] ?? { char: '', isQuoted: false, at: 0 };
    const after = units[index + 1];
    const isDouble = after?.char === char && !after.isQuoted;
    if (!isQuoted && char === '\n') isComment = false;
    if (isComment) continue;
    if (!isQuoted && char === '#' && /(^|\s)$/.test(next.text)) isComment = true;
    else if (!isQuoted && /^[;\n]$/.test(char)) end(';');
    else if (!isQuoted && (char === '|' || (char === '&' && !/[<>]$/.test(next.text) && after?.char !== '>'))) {
      end(isDouble ? char + char : char);
      if (isDouble) index += 1;
    } else {
      if (!isQuoted && /^[<>]$/.test(char)) next.isRedirected = true;
      if (next.at < 0) next.at = at;
      next.text += char;
    }
  }
  end(';');
  return commands;
}

/** The words of the first command, unless another one runs where it fails; undefined: there is none. */
export function firstCommandOf(script: string): readonly string[] | undefined {
  const [first, second] = listOf(script) ?? [];
  if (first === undefined || second?.isAlternative === true) return undefined;
  return first.text.replace(/^exec\s+/, '').split(/\s+/);
}

/** How long a script certainly takes: what its `sleep`s add up to. */
export function sleepOf(script: string): { readonly minMs: number; readonly isAll: boolean } {
  const commands = listOf(script);
  if (commands === undefined) return { minMs: 0, isAll: false };
  let minMs = 0;
  for (const command of commands) {
    const ms = sleepMs(command.text.split(/\s+/));
    if (ms === undefined || command.isBackground || command.isPiped || command.isAlternative)
      return { minMs, isAll: /^(exit( 0)?|true|:)$/.test(command.text) };
    minMs += ms;
  }
  return { minMs, isAll: true };
}

/** `sleep 5`, `/bin/sleep 5s`. */
export function sleepMs(words: readonly string[]): number | undefined {
  const [program = '', time = '', ...more] = words;
  if (!/^(.*\/)?sleep$/.test(program) || more.length > 0) return undefined;
  const [, count, unit = 's'] = /^(\d+(?:\.\d+)?)([smh]?)$/.exec(time) ?? [];
  if (count === undefined) return undefined;
  return Math.round(Number(count) * 1_000 * ({ '': 1, s: 1, m: 60, h: 3_600 }[unit] ?? 1));
}
