/** The way in from the npm package: a JavaScript program becomes init by execve(2) and says which Node it ran on. */
import assert from 'node:assert/strict';
import { mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { NODE } from '../helpers/paths.ts';
import { attend, onBench, shell } from './scripted.ts';

onBench('init starts the Node that SEXTON_NODE names, and not the one in PATH', async (bench) => {
  rmSync(bench.path('bin/node'));
  mkdirSync(bench.path('other'));
  symlinkSync('/bin/false', bench.path('other/node'));
  const init = bench.start(['status'], { env: { PATH: bench.path('other'), SEXTON_NODE: NODE } });
  assert.deepEqual(await init.ended, { code: 42, signal: null }, init.stderr());
  const about = JSON.parse(init.stdout());
  assert.equal(about.env.SEXTON_NODE, undefined);
  assert.deepEqual(about.argv.slice(1), [bench.path('app/main.cjs'), 'status']);
});

onBench('the application starts at once and does not see SEXTON_NODE', async (bench) => {
  const { init, supervisor } = await attend(bench, shell('echo "told: $SEXTON_NODE, $LAST"'), {
    env: { SEXTON_NODE: NODE, LAST: 'kept' },
  });
  await supervisor.expect('spawned');
  await init.says('told: , kept\n');
});

onBench('P11 init decodes the bytes that a Node before it has encoded', async (bench) => {
  rmSync(bench.path('bin/node'));
  const bytes = Buffer.from(Array.from({ length: 255 }, (_, index) => index + 1));
  const text = bytes.toString('latin1');
  const show = 'printf %s "$1" | od -An -v -tx1; printf %s "$BYTES" | od -An -v -tx1; echo done';
  const { init } = await attend(bench, [...shell(show), 'sh', text], {
    env: { BYTES: text, SEXTON_NODE: `latin1:${Buffer.from(NODE).toString('latin1')}` },
  });
  await init.says('done');
  assert.equal(init.stdout().replace('done', '').replace(/\s/g, ''), bytes.toString('hex').repeat(2));
});

for (const [told, ignored] of [
  [true, '0000000000000000'],
  [false, '0000000001001000'],
] as const) {
  onBench(
    `P13 PIPE and XFSZ, which Node ignores, ${told ? 'get their default after a Node' : 'stay ignored after another program'}`,
    async (bench) => {
      const launcher = ['env', '--default-signal', '--ignore-signal=PIPE', '--ignore-signal=XFSZ'];
      const init = bench.start(shell('grep SigIgn /proc/self/status; echo done'), {
        launcher,
        env: told ? { SEXTON_NODE: NODE } : {},
      });
      const supervisor = await init.supervisor();
      await init.says('done');
      assert.match(init.stdout(), new RegExp(`SigIgn:\\s+${ignored}`));
      supervisor.commit('exit', 0);
      await init.ended;
    },
  );
}
