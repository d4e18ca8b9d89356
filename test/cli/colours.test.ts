/** Colours: on a terminal, and only there. The terminal is a real one, made by script(1). */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { started } from '../check/workloads.ts';
import { NODE, ROOT } from '../helpers/paths.ts';
import { temporaryDirectory } from '../helpers/temporary.ts';

const EXPLAIN = `${NODE} ${join(ROOT, 'src/cli/main.ts')} explain -- true`;

function firstLine(command: readonly string[], env: NodeJS.ProcessEnv = {}): string {
  const [file = '', ...args] = command;
  // Only these: Node also reads CI, NODE_DISABLE_COLORS, COLORTERM and others before it decides.
  const only = { PATH: process.env.PATH, HOME: process.env.HOME, TERM: 'xterm' };
  const { stdout, stderr } = spawnSync(file, args, { encoding: 'utf8', env: { ...only, ...env } });
  assert.equal(stderr, '');
  return stdout.split(/\r?\n/, 1)[0] ?? '';
}

const onTerminal = (command: string) => ['script', '--quiet', '--return', '--command', command, '/dev/null'];
const ON_TERMINAL = onTerminal(EXPLAIN);

test('a header is bold on a terminal, and plain with NO_COLOR and in a pipe', () => {
  const [terminal, plain, pipe] = [
    firstLine(ON_TERMINAL),
    firstLine(ON_TERMINAL, { NO_COLOR: '1' }),
    firstLine(['sh', '-c', EXPLAIN]),
  ];
  assert.equal(terminal, `\x1b[1m${plain}\x1b[22m`);
  assert.match(plain, /^KEY +VALUE +SOURCE$/);
  assert.match(pipe, /^KEY +VALUE +SOURCE$/);
});

test('a finding has colours on a terminal, and none with TERM=dumb or NO_COLOR', () => {
  const path = join(temporaryDirectory(), 'a.yaml');
  writeFileSync(path, started('[sh, -c, a]'));
  const shown = (env: NodeJS.ProcessEnv): string => outputOf(`check --timeline none ${path}`, env);
  assert.ok(shown({}).includes('\x1b[31merror'));
  assert.ok(!shown({ TERM: 'dumb' }).includes('\x1b'));
  assert.ok(!shown({ NO_COLOR: '1' }).includes('\x1b'));
});

test('a check of many workloads counts on a terminal, and clears the line in the end', () => {
  const path = join(temporaryDirectory(), 'a.yaml');
  writeFileSync(path, `${started('[a]')}---\n`.repeat(12_000));
  const shown = outputOf(`check ${path}`);
  assert.match(shown, /^\r\d+ documents read *\r/);
  assert.match(shown, /\r *\r0 errors, 0 warnings, 0 info, in 12000 workloads\r\n$/);
});

function outputOf(words: string, env: NodeJS.ProcessEnv = {}): string {
  const [file = '', ...args] = onTerminal(`${NODE} ${join(ROOT, 'src/cli/main.ts')} ${words}`);
  return spawnSync(file, args, { encoding: 'utf8', env: { PATH: process.env.PATH, TERM: 'xterm', ...env } }).stdout;
}
