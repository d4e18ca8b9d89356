/**
 * Finds the program that a command runs in the end, behind `env`, `tini --`, `sh -c 'exec ..'` and the like. It looks
 * only through wrappers that certainly exec what follows, or pass signals on to it.
 */
import { commandsOf, scriptOfShell } from './shell.ts';
import { parseWords, unitsOf, wordsOf } from './words.ts';

export interface StartedProgram {
  /** The basename. */
  readonly program: string;
  readonly args: readonly string[];
  /** What stands before it, outermost first. */
  readonly behind: readonly string[];
  /** One of them is an init, which stays in front of it. */
  readonly hasInit: boolean;
  /** A wrapper sends every signal to the whole process group. */
  readonly isGroupTold: boolean;
}

type Words = readonly string[];
interface Wrapper {
  /** The command that the wrapper runs; undefined: it is not known. */
  readonly inner: (args: Words) => Words | undefined;
  readonly isInit?: true;
  readonly tellsGroup?: (options: Words) => boolean;
}

export function startedBy(argv: Words): StartedProgram {
  const behind: string[] = [];
  let hasInit = false;
  let isGroupTold = false;
  let words = argv;
  for (;;) {
    const [first = '', ...args] = words;
    const program = first.slice(first.lastIndexOf('/') + 1);
    const wrapper = WRAPPERS.find(([names]) => names.test(program))?.[1];
    const inner = wrapper?.inner(args);
    if (wrapper === undefined || inner === undefined || inner[0] === undefined)
      return { program, args, behind, hasInit, isGroupTold };
    behind.push(program);
    hasInit ||= wrapper.isInit ?? false;
    // The command is the end of the words; its arguments may look like options.
    isGroupTold ||= wrapper.tellsGroup?.(args.slice(0, -inner.length)) ?? false;
    words = inner;
  }
}

const WRAPPERS: readonly (readonly [RegExp, Wrapper])[] = [
  // They set something and exec the rest.
  [
    /^env$/,
    {
      inner: (args) =>
        after(unsplit(args), /^(-|-i|--ignore-environment|--unset=.+|[^-=][^=]*=.*)$/s, /^(-[uC]|--unset|--chdir)$/),
    },
  ],
  [/^nice$/, { inner: (args) => after(args, /^(-n?-?\d+|--adjustment=.*)$/, /^(-n|--adjustment)$/) }],
  [/^(gosu|su-exec)$/, { inner: ([, ...rest]) => after(rest, NOTHING, NOTHING) }],
  // The entrypoints of official images end with exec "$@"; without a program they make one of the options.
  [/^(nohup|exec|docker-entrypoint(\.sh)?|docker-php-entrypoint)$/, { inner: (args) => after(args, NOTHING, NOTHING) }],
  // Small inits, which pass every signal on.
  [
    /^(tini|tini-static|docker-init)$/,
    { inner: (args) => after(args, /^-[svwg]+$/, /^-[pe]$/), isInit: true, tellsGroup: hasG },
  ],
  [/^catatonit$/, { inner: (args) => after(args, /^-[g]$/, NOTHING), isInit: true, tellsGroup: hasG }],
  [
    /^dumb-init$/,
    { inner: (args) => after(args, /^(-[vc]+|--(verbose|single-child))$/, NOTHING), isInit: true, tellsGroup: lacksC },
  ],
  // Interpreters and runners that become what they are given.
  [/^(python[0-9.]*|pypy[0-9.]*)$/, { inner: ([flag, ...rest]) => (flag === '-m' ? rest : undefined) }],
  [/^bundle$/, { inner: ([word, ...rest]) => (word === 'exec' ? after(rest, NOTHING, NOTHING) : undefined) }],
  [/^(sh|bash|dash|ash)$/, { inner: lastOfShell }],
  [/^busybox$/, { inner: (args) => (/^(sh|ash)$/.test(args[0] ?? '') ? args : undefined) }],
];
const NOTHING = /^(?!)/;

/** The words after the options: `alone` have no value, `pairs` take the next word as theirs. */
function after(args: Words, alone: RegExp, pairs: RegExp): Words | undefined {
  let at = 0;
  for (; at < args.length; at++) {
    const word = args[at] ?? '';
    if (word === '--') return args.slice(at + 1);
    if (pairs.test(word)) at++;
    else if (!alone.test(word)) break;
  }
  return args[at]?.startsWith('-') ? undefined : args.slice(at);
}

/** With the text behind `-S` as the words that `env` makes of it. */
function unsplit(args: Words): Words {
  const [flag = '', text = '', ...rest] = args;
  const words = parseWords(text);
  return /^(-S|--split-string)$/.test(flag) && words.ok ? [...words.value, ...rest] : args;
}

/** The last command of `sh -c 'prepare && exec nginx'`, if it has `exec`: else the shell may stay in between. */
function lastOfShell(args: Words): Words | undefined {
  const { script = '' } = scriptOfShell(args) ?? {};
  const last = commandsOf(script)?.at(-1);
  const units = unitsOf(script.slice(last?.at));
  if (last === undefined || last.before.startsWith('|') || !units.ok) return undefined;
  // A variable may change arguments; a program that comes from one is not recognised.
  const words = wordsOf(units.value.map((unit) => (unit.char === '$' ? { ...unit, isQuoted: true } : unit)));
  return words.ok && words.value[0] === 'exec' ? words.value.slice(1) : undefined;
}

function hasG(options: Words): boolean {
  return options.some((word) => /^-[svw]*g/.test(word));
}

function lacksC(options: Words): boolean {
  return !options.some((word) => /^(-v*c|--single-child$)/.test(word));
}
