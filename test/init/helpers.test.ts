/** Helpers: the commands of probes and hooks, beside the application. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, readdirSync, readFileSync } from 'node:fs';
import { buildFixtures } from '../helpers/fixture.ts';
import { childrenOf, hasEnded, send, stateOf } from '../helpers/process.ts';
import { waitFor, waitForFile } from '../helpers/wait.ts';
import { needsRoot } from '../runtime/graveyard/volume.ts';
import type { Supervisor } from './connection.ts';
import { orders } from './orders.ts';
import { begin, onBench } from './scripted.ts';

onBench('init reports the end of a helper with its code, signal or errno, and its output', async (bench) => {
  const { supervisor } = await begin(bench);
  sh(supervisor, 1, 'echo one; echo two >&2; exit 3');
  assert.deepEqual(await supervisor.expect('helper-ended'), ['1', '3', '', '', 'one\ntwo\n']);
  sh(supervisor, 2, 'kill -34 $$');
  assert.deepEqual(await supervisor.expect('helper-ended'), ['2', '', '34', '', '']);
  supervisor.commit('exec', 3, 4096, 1, 'there-is-no-such-program');
  assert.deepEqual(await supervisor.expect('helper-ended'), ['3', '', '', 'ENOENT', '']);
  supervisor.commit('exec', 4, 4096, 1, '/');
  assert.deepEqual(await supervisor.expect('helper-ended'), ['4', '', '', 'EACCES', '']);
  sh(supervisor, 5, String.raw`printf 'a\0b\377'`);
  assert.deepEqual(await supervisor.expect('helper-ended'), ['5', '0', '', '', 'a?b\ufffd']);
});

onBench('a helper whose exec hangs delays no signal', async (bench, t) => {
  if (needsRoot) return t.skip(needsRoot);
  const { init, supervisor } = await begin(bench);
  copyFileSync('/bin/true', bench.path('hangs'));
  const { holder } = await buildFixtures();
  const holding = spawn(holder, [bench.path('hangs')], { stdio: ['pipe', 'pipe', 'inherit'] });
  t.after(() => holding.kill('SIGKILL'));
  await once(holding.stdout, 'data');
  const helpers = Array.from({ length: 16 }, (_, index) => ['exec', index + 1, 0, 1, bench.path('hangs')]);
  supervisor.commit(...helpers.flat());
  const sentMs = performance.now();
  send(init.pid, 'SIGUSR1');
  await supervisor.expect('signal');
  // Init took a second for each of them.
  assert.ok(performance.now() - sentMs < 8_000);
  holding.kill('SIGKILL');
  await supervisor.skip(...helpers.map(() => 'helper-ended'));
});

onBench('a helper starts once, even if its start is committed again', async (bench) => {
  const { supervisor } = await begin(bench);
  sh(supervisor, 7, 'echo first');
  assert.deepEqual(await supervisor.expect('helper-ended'), ['7', '0', '', '', 'first\n']);
  sh(supervisor, 7, 'echo again');
  sh(supervisor, 3, 'echo late');
  sh(supervisor, 8, 'echo next');
  assert.deepEqual(await supervisor.expect('helper-ended'), ['8', '0', '', '', 'next\n']);
});

onBench('P13 a helper has its own session and the inherited environment, mask and ignored signals', async (bench) => {
  const launcher = ['env', '--block-signal=USR2', '--ignore-signal=PIPE', '--ignore-signal=CHLD'];
  const { init, supervisor } = await begin(bench, undefined, { launcher, env: { ODD: 'a b\n"c' } });
  const own = 'cut -d" " -f 5,6 /proc/$$/stat | tr " " "\\n" | sort -u | sed "s/^$$\\$/leads/"';
  // Not by a shell, which changes its mask.
  supervisor.commit('exec', 1, 4096, 4, 'grep', '-E', '^Sig(Blk|Ign)', '/proc/self/status');
  assert.equal((await supervisor.expect('helper-ended'))[4], 'SigBlk:\t0000000000000800\nSigIgn:\t0000000000011000\n');
  const show = 'tr "\\0" "\\1" </proc/$$/environ; grep "Max open" /proc/$$/limits';
  init.write(`${show}; echo done\n`);
  await init.says('done\n');
  sh(supervisor, 4, show);
  assert.equal((await supervisor.expect('helper-ended'))[4], init.stdout().slice(3, -5));
  sh(supervisor, 5, own);
  assert.equal((await supervisor.expect('helper-ended'))[4], 'leads\n');
  sh(supervisor, 6, 'for fd in /proc/$$/fd/*; do readlink $fd; done');
  assert.match((await supervisor.expect('helper-ended'))[4] ?? '', /^\/dev\/null\n(pipe:\[\d+\])\n\1\n$/);
});

onBench('init reads and drops output beyond the limit', async (bench) => {
  const { supervisor } = await begin(bench);
  sh(supervisor, 1, 'head -c 10000000 /dev/zero | tr "\\0" x && exit 4', 4096);
  assert.deepEqual(await supervisor.expect('helper-ended'), ['1', '4', '', '', 'x'.repeat(4096)]);
  sh(supervisor, 2, 'echo abcdef', 3);
  assert.deepEqual(await supervisor.expect('helper-ended'), ['2', '0', '', '', 'abc']);
  sh(supervisor, 3, 'echo abcdef', 0);
  assert.deepEqual(await supervisor.expect('helper-ended'), ['3', '0', '', '', '']);
});

onBench('init reports the end of a helper that has closed its output', async (bench) => {
  const { supervisor } = await begin(bench);
  sh(supervisor, 1, 'mkfifo go; echo before; exec >&- 2>&-; read line <go; exit 6');
  await waitForFile(bench.path('go'));
  sh(supervisor, 2, 'echo now >go');
  assert.deepEqual([await supervisor.expect('helper-ended'), await supervisor.expect('helper-ended')].sort(), [
    ['1', '6', '', '', 'before\n'],
    ['2', '0', '', '', ''],
  ]);
});

onBench('the end of a helper waits for its group, but not for a process that escaped with the pipe', async (bench) => {
  const { supervisor } = await begin(bench);
  sh(
    supervisor,
    1,
    'sleep 1000 & echo $!; setsid sh -c "echo out; exec sleep 1000" & while :; do read state </proc/$!/comm; case $state in sleep) break;; esac; done; echo $!',
  );
  const [id, code, signal, , output = ''] = await supervisor.expect('helper-ended');
  assert.deepEqual([id, code, signal], ['1', '0', '']);
  const [inside, out, escaped] = output.trim().split('\n');
  assert.equal(out, 'out');
  assert.ok(hasEnded(Number(inside)), 'the group is empty');
  await waitFor('the process that escaped sleeps on', () => stateOf(Number(escaped)) === 'S');
  process.kill(Number(escaped), 'SIGKILL');
  await waitFor('it is reaped', () => stateOf(Number(escaped)) === undefined);
});

onBench('end-helper ends the whole group, and init reports one end', async (bench) => {
  const { supervisor } = await begin(bench);
  sh(supervisor, 1, 'trap "" TERM HUP INT; sleep 1000 & echo $!; touch up; wait; sleep 1000');
  await waitForFile(bench.path('up'));
  supervisor.commit('end-helper', 2, 'end-helper', 1, 'end-helper', 1);
  const [id, code, signal, , output] = await supervisor.expect('helper-ended');
  assert.deepEqual([id, code, signal], ['1', '', '9']);
  assert.ok(hasEnded(Number(output)));
  supervisor.commit('end-helper', 1);
  sh(supervisor, 2, 'echo next');
  assert.equal((await supervisor.expect('helper-ended'))[4], 'next\n');
});

onBench('init never mistakes a helper for the application', async (bench) => {
  const { init, supervisor } = await begin(bench);
  sh(supervisor, 1, 'trap "touch got" TERM; touch up; while :; do sleep 1000 & wait $!; done');
  await waitForFile(bench.path('up'));
  supervisor.commit(...orders({ each: { 15: 15 } }));
  init.write('exit 5\n');
  assert.deepEqual((await supervisor.expect('exited')).slice(2, 4), ['5', '']);
  assert.deepEqual(await supervisor.expect('roots-gone'), ['1'], 'and it is no stray');
  process.kill(init.pid, 'SIGTERM');
  assert.equal((await supervisor.expect('signal'))[0], '15', 'there is no process to forward it to');
  supervisor.commit('end-helper', 1);
  assert.deepEqual(await supervisor.expect('helper-ended'), ['1', '', '9', '', '']);
  assert.ok(!readdirSync(bench.dir).includes('got'));
});

onBench('init refuses a helper beyond 16 whose end is not acknowledged', async (bench) => {
  const { supervisor } = await begin(bench);
  for (let id = 1; id <= 16; id++) supervisor.commit('exec', id, 10, 2, 'echo', id);
  let last = '0';
  const ended = new Set<string>();
  for (let n = 1; n <= 16; n++) {
    const [, seq = '', , id = '', , , , output] = await supervisor.next();
    assert.equal(output, `${id}\n`);
    ended.add(id);
    last = seq;
  }
  assert.equal(ended.size, 16);
  supervisor.commit('exec', 17, 10, 1, 'true', 'exec', 18, 10, 1, 'true');
  assert.deepEqual(await supervisor.expect('helper-ended'), ['17', '', '', 'EAGAIN', '']);
  assert.deepEqual(await supervisor.expect('helper-ended'), ['18', '', '', 'EAGAIN', '']);
  supervisor.commit('ack', last, 'exec', 19, 10, 2, 'echo', 19);
  assert.deepEqual(await supervisor.expect('helper-ended'), ['19', '0', '', '', '19\n']);
});

onBench('K01 the next supervisor gets the end of a helper with its output', async (bench) => {
  const { init, supervisor } = await begin(bench);
  sh(supervisor, 1, 'mkfifo go; echo before; touch up; read line <go; echo after');
  sh(supervisor, 2, 'echo told');
  assert.equal((await supervisor.expect('helper-ended'))[0], '2');
  await waitForFile(bench.path('up'));
  await supervisor.kill();
  const next = await init.supervisor();
  await next.expect('spawned');
  assert.deepEqual(await next.expect('helper-ended'), ['2', '0', '', '', 'told\n'], 'it was not acknowledged');
  next.commit('exec', 3, 10, 3, 'sh', '-c', 'echo now >go');
  const ends = [await next.expect('helper-ended'), await next.expect('helper-ended')].sort();
  assert.deepEqual(ends[0], ['1', '0', '', '', 'before\nafter\n']);
});

onBench('init ends its helpers and their groups when it leaves', async (bench) => {
  const { init, supervisor } = await begin(bench);
  sh(supervisor, 1, 'trap "" TERM; echo $$ >pids; sleep 1000 & echo $! >>pids; touch up; wait; sleep 1000');
  await waitForFile(bench.path('up'));
  supervisor.commit('exit', 9);
  assert.deepEqual(await init.ended, { code: 9, signal: null });
  for (const pid of readFileSync(bench.path('pids'), 'utf8').trim().split('\n')) assert.ok(hasEnded(Number(pid)), pid);
});

onBench('init alone ends the helpers, and reports them to the next supervisor', async (bench) => {
  const { init, supervisor } = await begin(bench);
  sh(supervisor, 1, 'touch up; echo $$; exec sleep 1000');
  await waitForFile(bench.path('up'));
  await supervisor.kill();
  for (let start = 1; start <= 5; start++) await (await init.supervisor()).kill();
  await waitFor('it goes on alone', () => init.stderr().includes('goes on without it'));
  const back = await init.supervisor();
  await back.expect('spawned');
  const [id, code, signal] = await back.expect('helper-ended');
  assert.deepEqual([id, code, signal], ['1', '', '9']);
});

onBench('1,000 helpers leave no descriptor and no process', async (bench) => {
  const { init, supervisor } = await begin(bench);
  const before = readdirSync(`/proc/${init.pid}/fd`).length;
  for (let id = 1; id <= 1000; id++) {
    supervisor.commit('exec', id, 100, 2, 'echo', id);
    const [, seq = '', , told, code, , , output] = await supervisor.next();
    assert.deepEqual([told, code, output], [String(id), '0', `${id}\n`]);
    supervisor.ack(seq);
  }
  assert.equal(readdirSync(`/proc/${init.pid}/fd`).length, before);
  assert.equal(childrenOf(init.pid).length, 2);
});

function sh(supervisor: Supervisor, id: number, script: string, limit = 4096): void {
  supervisor.commit('exec', id, limit, 3, 'sh', '-c', script);
}
