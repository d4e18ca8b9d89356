/** What comes through from the command line of the npm package to the application: everything, byte for byte. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { handover } from '../../src/delivery/npm/handover.ts';
import { NODE } from '../helpers/paths.ts';
import { environmentOn, MAJORS, packed } from './installed.ts';

const SHOW = ['sh', '-c', 'cat /proc/self/environ /proc/self/cmdline; ls /proc/self/fd', 'sh'];
const TEXT = 'export V="Grüße" LONG="$LONG"; exec "$@" ünï ""';
const BYTES = 'export V="$(printf "\\377\\303\\251\\303")" LONG="$LONG"; exec "$@" "$(printf "\\351x")" "" é';

for (const major of MAJORS) {
  for (const [what, shell] of [
    ['text', TEXT],
    ['bytes that are no text', BYTES],
  ] as const) {
    test(`P09 P10 P11 on Node ${major} arguments and environment arrive unchanged: ${what}`, () => {
      const env = { PATH: environmentOn(major).PATH, LONG: 'l'.repeat(100_000), EMPTY: '', SPACE: ' = ' };
      const run = (...sexton: string[]): Buffer => {
        const { stdout, stderr, status } = spawnSync('sh', ['-c', shell, 'sh', ...sexton, ...SHOW], { env });
        assert.equal(status, 0, String(stderr));
        return stdout;
      };
      const sexton = ['node', join(packed().directory, 'bin/sexton.cjs'), 'run', '--log-level', 'error', '--'];
      assert.deepEqual(run(...sexton), run());
    });
  }
}

test('an argument of bytes that is too long to be passed on is refused in one line', () => {
  const shell = 'exec "$@" "$(head -c 70000 /dev/zero | tr "\\0" "\\377")"';
  const sexton = [NODE, join(packed().directory, 'bin/sexton.cjs'), 'run', '--', 'echo'];
  const { status, stdout, stderr } = spawnSync('sh', ['-c', shell, 'sh', ...sexton], { encoding: 'utf8' });
  assert.deepEqual([status, stdout], [125, '']);
  assert.match(stderr, /^sexton: cannot pass on an argument or variable that long .*not UTF-8: make it [^\n]*\n$/);
});

test('the entry of the package becomes PID 1 where it is started as PID 1', () => {
  const rootless = process.getuid?.() === 0 ? [] : ['--user', '--map-root-user'];
  const sexton = [NODE, join(packed().directory, 'bin/sexton.cjs'), 'run', '--log-level', 'error', '--'];
  const namespace = ['--pid', '--fork', '--mount-proc', '--kill-child=KILL', ...rootless, '--'];
  const { status, stdout } = spawnSync('unshare', [...namespace, ...sexton, 'readlink', '/proc/1/exe'], {
    encoding: 'utf8',
  });
  assert.equal(stdout.trim(), join(packed().directory, `lib/sexton-linux-${process.arch}`));
  assert.equal(status, 0);
});

const ARGV = ['/bin/node', '/bin/sexton', 'run', 'x'];
const STARTED = { argv: ARGV, env: { A: '1', UNSET: undefined }, execPath: '/bin/node' };

function raw(files: { readonly cmdline?: string; readonly environ?: string }) {
  return (name: 'cmdline' | 'environ') => (name in files ? Buffer.from(files[name] ?? '') : undefined);
}

test('without /proc the arguments and environment are handed over as Node decoded them', () => {
  assert.deepEqual(handover(STARTED, raw({})), {
    ok: true,
    argv: ['/bin/sexton', 'run', 'x'],
    env: Object.assign(Object.create(null), { A: '1', SEXTON_NODE: '/bin/node' }),
  });
});

test('a command line that a process title overwrote is not used', () => {
  const over = handover(STARTED, raw({ cmdline: 'a title\0\0\0\0', environ: 'A=1\0' }));
  assert.ok(over.ok);
  assert.deepEqual(over.argv, ['/bin/sexton', 'run', 'x']);
});

test('the first value of a variable that comes twice stays, and SEXTON_NODE is replaced', () => {
  const environ = 'B=1\0SEXTON_NODE=/elsewhere\0B=2\0=odd=1\0none\0__proto__=p\0';
  const over = handover(STARTED, raw({ cmdline: '/bin/node\0--flag\0sexton\0run\0x\0', environ }));
  assert.ok(over.ok);
  assert.deepEqual(over.argv, ['sexton', 'run', 'x']);
  const variables = Object.entries(over.env).map((pair) => pair.join(' '));
  assert.deepEqual(variables, ['B 1', 'SEXTON_NODE /bin/node', '=odd 1', '__proto__ p']);
});
