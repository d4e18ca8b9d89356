/** Reads command lines of shells: the script of `sh -c`, and the commands of a script. Nothing is expanded. */

export interface ShellScript {
  readonly script: string;
  /** Its index among the arguments. */
  readonly at: number;
  /** The words before it. */
  readonly options: readonly string[];
}

const LONG_OPTION = /^--(login|noediting|noprofile|norc|posix|restricted|verbose|rcfile|init-file)$/;
/** execve(2) refuses a longer word: MAX_ARG_STRLEN. */
const MAX_WORD_BYTES = 131_072;

/**
 * The script is the first operand, if `-c` is among the options: POSIX, sh. Options may follow `-c`. undefined: the
 * shell runs a file or its input, or cannot be started.
 */
export function scriptOfShell(args: readonly string[]): ShellScript | undefined {
  let at = 0;
  let hasScript = false;
  for (; /^[-+]/.test(args[at] ?? ''); at += 1) {
    const word = args[at] ?? '';
    if (/^--?$/.test(word)) {
      at += 1;
      break;
    }
    const isLong = word.startsWith('--');
    if (!(isLong ? LONG_OPTION : /^[-+][A-Za-z]+$/).test(word)) return undefined;
    hasScript ||= /^-\w*c/.test(word);
    // Each o takes a name from the words that follow.
    at += isLong ? Number(/file$/.test(word)) : (word.match(/o/gi)?.length ?? 0);
  }
  const script = args[at];
  if (!hasScript || script === undefined || script.length >= MAX_WORD_BYTES) return undefined;
  return { script, at, options: args.slice(0, at) };
}

/** The operator between two commands. A newline is like a semicolon. */
type Sign = ';' | '&' | '&&' | '|' | '||';

export interface Command {
  /** Quotes are left out; a blank in them or in parentheses is an underscore. */
  readonly text: string;
  /** Its index in the script. */
  readonly at: number;
  readonly before: Sign;
  readonly after: Sign;
  readonly isRedirected: boolean;
}

const IN_QUOTES = /\\.|\$[({]|[^\\$"`}]+|./sy;
const IN_CODE =
  /\\\r?\n|\\.|'[^']*'|\$'(?:\\.|[^'\\])*'|\$[({]|[<>]\(|<<[-<]?|[<>]&|>\||&>|&&|\|[|&]?|[^\S\n]+|[^\s\\'"`$<>&|;#(){}]+|./sy;
const CLOSERS = new Map(Object.entries({ '(': ')', '$(': ')', '<(': ')', '>(': ')', '${': '}', '"': '"', '`': '`' }));
const SIGNS = new Map<string, Sign>(
  Object.entries({ ';': ';', '\n': ';', '&': '&', '&&': '&&', '|': '|', '|&': '|', '||': '||' }),
);

/**
 * The commands of a script, without comments and here-documents. A compound command is split, too, up to its
 * `done` or `fi`. undefined: a quote does not end, or a `case` is quoted.
 */
export function commandsOf(script: string): readonly Command[] | undefined {
  const commands: Command[] = [];
  let next = { text: '', at: -1, before: ';' as Sign, isRedirected: false };
  let closers = '';
  const documents: HereDocument[] = [];
  const end = (after: Sign): void => {
    const text = next.text.trim();
    // After an operator a list goes on in the next line.
    if (text === '') return;
    commands.push({ ...next, text, after });
    next = { text: '', at: -1, before: after, isRedirected: false };
  };
  for (let at = 0; at < script.length; ) {
    const start = at;
    const closer = closers.at(-1);
    const isQuoted = closer === '"' || (closer === '}' && closers.at(-2) === '"');
    const pattern = isQuoted ? IN_QUOTES : IN_CODE;
    pattern.lastIndex = at;
    const token = pattern.exec(script)?.[0] ?? '';
    at += token.length;
    const isInside = closers !== '';
    const sign = isInside ? undefined : SIGNS.get(token);
    // The patterns of a case have parentheses without an opening one.
    if (token === "'" || (token === 'case' && isInside)) return undefined;
    if (token === '#' && !isQuoted && /^$|[\s;&|()]/.test(script[start - 1] ?? '')) at = lineEnd(script, at);
    else if (sign !== undefined) end(sign);
    else {
      // In arithmetic it shifts.
      const document = /^<<-?$/.test(token) && !closers.endsWith('))') ? documentAt(script, at, token) : undefined;
      if (document !== undefined) documents.push(document);
      at += document?.word.length ?? 0;
      if (!isInside && /^[<>&]/.test(token) && !token.endsWith('(')) next.isRedirected = true;
      if (next.at < 0 && /\S/.test(token)) next.at = start;
      const bare = token.replaceAll(/^\\(?!\r?\n)|["']/g, '');
      const isOneWord = isInside || /^(\$?'|\\\S)/.test(token);
      next.text += isOneWord ? bare.replaceAll(/\s/g, '_') : bare.replace('\\', '');
      if (token === closer) closers = closers.slice(0, -1);
      else closers += CLOSERS.get(token) ?? '';
      // An unopened one ends a pattern of case.
      if (token === ')' && !isInside) end(';');
    }
    if (token !== '\n' || isQuoted) continue;
    for (const { last } of documents.splice(0)) {
      while (at < script.length && !last.test(script.slice(at, lineEnd(script, at)))) at = lineEnd(script, at) + 1;
      at = lineEnd(script, at) + 1;
    }
  }
  if (closers !== '') return undefined;
  end(';');
  return commands;
}

interface HereDocument {
  /** As in the script, with the blanks before it. */
  readonly word: string;
  /** The line that ends it, with or without tabs in front. */
  readonly last: RegExp;
}

function documentAt(script: string, at: number, operator: string): HereDocument | undefined {
  const [word, name] = /^[ \t]*\\?["']?([A-Za-z_]\w*)["']?/.exec(script.slice(at, at + 100)) ?? [];
  if (word === undefined) return undefined;
  return { word, last: new RegExp(`^${operator === '<<-' ? '\\t*' : ''}${name}$`) };
}

function lineEnd(script: string, at: number): number {
  const end = script.indexOf('\n', at);
  return end < 0 ? script.length : end;
}
