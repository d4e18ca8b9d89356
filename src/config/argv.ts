/** The command line: `[run] [flags] [--] command [args...]`. The first word that is no flag begins the command. */
import { defaultTextOf, FLAGS, KEYS, type Key } from './flags.ts';
import { flagLabel, type Given } from './given.ts';
import { didYouMean, nearest } from './notation/nearest.ts';
import { show } from './notation/parse.ts';

export interface CommandLine {
  readonly given: readonly Given[];
  readonly config: string | undefined;
  /** Where the command begins in argv; `undefined`: there is none. */
  readonly commandAt: number | undefined;
  readonly problems: readonly string[];
}

export function readCommandLine(argv: readonly string[]): CommandLine {
  const given: Given[] = [];
  const problems: string[] = [];
  let config: string | undefined;
  let at = argv[0] === 'run' ? 1 : 0;
  while (at < argv.length) {
    const word = argv[at] ?? '';
    if (word === '--') return done(at + 1);
    if (!word.startsWith('-') || word === '-') return done(at);
    const flag = readFlag(word, argv[at + 1]);
    at += flag.words;
    const { name, text } = flag;
    const key = keyOfFlag(name);
    if (key === undefined && name !== 'config') {
      problems.push(unknownRunFlag(name, word));
      // The word after it is most likely its value: taken for the command it would hide the flags that follow.
      if (!word.includes('=') && at + 1 < argv.length && !argv[at]?.startsWith('-')) at += 1;
    } else if (text === undefined || text === '') {
      problems.push(`${word}: needs a value; write --${name} ${key === undefined ? 'FILE' : FLAGS[key].takes}`);
    } else if (name === 'config') {
      if (config !== undefined) problems.push(`${flagLabel(name, text)}: given twice; give it once`);
      config = text;
    } else if (key !== undefined) {
      const before = given.find((one) => one.key === key);
      if (before && !FLAGS[key].repeats)
        problems.push(`${flagLabel(name, text)}: ${before.label} was given before; give it once`);
      else given.push({ key, text, label: flagLabel(name, text), source: `--${name}` });
    }
  }
  return done(at);

  function done(commandAt: number): CommandLine {
    return { given, config, problems, commandAt: commandAt < argv.length ? commandAt : undefined };
  }
}

function keyOfFlag(name: string): Key | undefined {
  return KEYS.find((key) => FLAGS[key].name === name);
}

/** The flag, and how many words of argv it took. */
function readFlag(word: string, next: string | undefined) {
  const [, dashes = '', name = '', text] = /^(--?)([^=]*)(?:=(.*))?$/s.exec(word) ?? [];
  const isKnown = dashes === '--' && (name === 'config' || keyOfFlag(name) !== undefined);
  if (text !== undefined || !isKnown) return { name: isKnown ? name : word.replace(/=.*/s, ''), text, words: 1 };
  const missing = next === undefined || next.startsWith('--');
  return missing ? { name, text: undefined, words: 1 } : { name, text: next, words: 2 };
}

function unknownRunFlag(name: string, word: string): string {
  if (name === '--help' || name === '-h') return `${name}: stands alone; run sexton help`;
  const denied = keyOfFlag(name.replace(/^--no-/, ''));
  if (denied !== undefined)
    return `unknown flag ${name}; leave out --${FLAGS[denied].name} for its default: ${defaultTextOf(denied)}`;
  const near = nearest(name, [...KEYS.map((key) => `--${FLAGS[key].name}`), '--config', '--help', '--version']);
  const remedy = didYouMean(near, 'see sexton help flags, or put -- before the command');
  return `unknown flag ${show(word.replace(/=.*/s, ''))}; ${remedy}`;
}
