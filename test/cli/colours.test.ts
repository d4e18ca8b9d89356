/** Colours: on a terminal, and only there. The terminal is a real one, made by script(1). */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { NODE, ROOT } from '../helpers/paths.ts';

const EXPLAIN = `${NODE} ${join(ROOT, 'src/cli/main.ts')} explain -- true`;

function firstLine(command: readonly string[], env: NodeJS.ProcessEnv = {}): string {
  const [file = '', ...args] = command;
  // Only these: Node also reads CI, NODE_DISABLE_COLORS, COLORTERM and others before it decides.
  const only = { PATH: process.env.PATH, HOME: process.env.HOME, TERM: 'xterm' };
  const { stdout, stderr } = spawnSync(file, args, { encoding: 'utf8', env: { ...only, ...env } });
  assert.equal(stderr, '');
  return stdout.split(/\r?\n/, 1)[0] ?? '';
}

const ON_TERMINAL = ['script', '--quiet', '--return', '--command', EXPLAIN, '/dev/null'];

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
