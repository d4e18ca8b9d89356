/**
 * What people get wrong, and the one message that each mistake gets. The same table runs against the resolver and
 * against the built program.
 *
 * In `inputs.txt` an input and its message stand on one line with `=>` between them; a long message is the indented
 * lines below its input. An input consists of variables and flags, quoted as in JSON, or of `sexton.yaml:` or
 * `sexton.json:` and the content of that file. A message that begins with `:` repeats the input before it. `{dir}`
 * stands for a directory that exists, and `{file}` for the file of the input.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

interface WrongInput {
  readonly title: string;
  /** Flags; a command is added unless they contain `--`. */
  readonly argv: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly files?: Readonly<Record<string, string>>;
  readonly message: string;
}

const DIR = '{dir}';
/** No wrong input may start it. */
const COMMAND: readonly string[] = ['--', '/bin/touch', `${DIR}/started`];

/** The input for a directory that exists: whole command line, environment, files by path, message. */
export function placed({ argv, env = {}, files = {}, message }: WrongInput, dir: string) {
  const place = (text: string): string => text.replaceAll(DIR, dir);
  return {
    argv: (argv.includes('--') ? argv : [...argv, ...COMMAND]).map(place),
    env: Object.fromEntries(Object.entries(env).map(([name, text]) => [name, place(text)])),
    files: Object.fromEntries(Object.entries(files).map(([name, text]) => [`${dir}/${name}`, text])),
    message: place(message),
  };
}

function readInputs(text: string): readonly WrongInput[] {
  return [...text.matchAll(/^(\S.*?)(?: =>|\n) +(.+(?:\n .+)*)$/gm)].map(([, line = '', lines = '']) => {
    const message = lines.replaceAll(/\n */g, ' ');
    const [, name, content = ''] = /^(sexton\.(?:yaml|json)): (.*)$/.exec(line) ?? [];
    if (name !== undefined) return inFile(line, name, `${content.replaceAll('\\n', '\n')}\n`, message);
    const words = (line.match(/(?:"(?:[^"\\]|\\.)*"|[^\s"])+/g) ?? []).map((word) =>
      word.replaceAll(/"(?:[^"\\]|\\.)*"/g, (quoted) => JSON.parse(quoted) as string),
    );
    const isVariable = (word: string): boolean => /^(SEXTON|KUBEXIT|KRUISE)_[A-Z_]+=/.test(word);
    const variables = words.filter(isVariable).map((word) => word.split(/=(.*)/s, 2));
    return {
      title: line,
      argv: words.filter((word) => !isVariable(word)),
      env: Object.fromEntries(variables) as Record<string, string>,
      message: message.startsWith(':') ? `${line}${message}` : message,
    };
  });
}

function inFile(title: string, name: string, content: string, message: string, more: readonly string[] = []) {
  const path = `${DIR}/${name}`;
  const argv = ['--config', path, ...more];
  return { title, argv, files: { [name]: content }, message: message.replaceAll('{file}', path) };
}

const TOO_DEEP = '{file}: is nested too deeply; a configuration has only a few levels';
const nested = (depth: number): string => `${'['.repeat(depth)}${']'.repeat(depth)}`;

export const WRONG_INPUTS: readonly WrongInput[] = [
  ...readInputs(readFileSync(join(import.meta.dirname, 'inputs.txt'), 'utf8')),
  inFile('YAML nested a thousand deep', 'sexton.yaml', `drain: ${nested(1_000)}\n`, TOO_DEEP),
  inFile('YAML nested 20,000 deep', 'sexton.yaml', `drain: ${nested(20_000)}\n`, TOO_DEEP),
  inFile('YAML of 8,000 keys in a line', 'sexton.yaml', `{"a${'": "'.repeat(8_000)} "": {"a": 1}}`, TOO_DEEP),
  inFile('JSON nested 20,000 deep', 'sexton.json', `{"drain": ${nested(20_000)}}`, TOO_DEEP),
  inFile(
    'a drain that is longer than the grace period of the file',
    'sexton.yaml',
    'terminationGracePeriodSeconds: 10\n',
    '--drain 20s: must be shorter than terminationGracePeriodSeconds: 10 in {file}, or no time is left to stop; write a shorter drain',
    ['--drain', '20s'],
  ),
  {
    title: 'settings that are too long to be kept',
    argv: ['--pre-stop', `exec:sh -c '${'x'.repeat(40_000)}'`],
    message: 'the settings take more than 32768 bytes; move long commands into scripts',
  },
  {
    title: 'a graveyard too deep for a socket',
    argv: ['--name', 'web', '--graveyard', `/${'deep/'.repeat(20)}g`],
    message: `--graveyard /${'deep/'.repeat(15)}deep...: the path of this member's socket in it has 112 bytes, at most 107 are possible; use a shorter one`,
  },
  {
    title: 'several mistakes at once',
    argv: ['--drian', '5s', '--role', 'helper', '--name', 'Web'],
    env: { SEXTON_LINGER: '2' },
    message: [
      'unknown flag --drian; did you mean --drain?',
      '  --role helper: must be one of main, sidecar',
      '  --name Web: a name has only lowercase letters, digits and inner dashes, at most 63; write web',
      '  SEXTON_LINGER=2: a duration needs a unit; write 2s or 2ms',
    ].join('\n'),
  },
];
