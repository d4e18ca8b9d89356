/** The bound of the queue of events, where helpers and rungs meet signals that are not acknowledged. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { waitFor } from '../helpers/wait.ts';
import type { Supervisor } from './connection.ts';
import { AGENT, onBench } from './scripted.ts';

const PLACES = 16;

onBench('a full queue has room for the ends of helpers and of a command', async (bench) => {
  const release = bench.holdSupervisor();
  const init = bench.start(['--', ...AGENT]);
  await init.says('up');
  init.write('i=0; while [ $i -lt 4200 ]; do kill -60 $PPID; i=$((i+1)); done; echo sent\n');
  await init.says('sent');
  await waitFor('all signals have been taken', () => nothingPending(init.pid));
  release();
  const refused = await init.supervisor();
  execMany(refused, PLACES + 1);
  await refused.closed();
  const supervisor = await init.supervisor();
  supervisor.commit('stop', 1, 15, 0, 0, 'stop', 1, 1, 0, 0, 'kill', 1, 9);
  execMany(supervisor, PLACES);
  const ended = new Set<string>();
  let gone = 0;
  for (let acked = 0; ended.size < PLACES || gone === 0; ) {
    const [name, seq = '', , id = '', , , , output] = await supervisor.next();
    if (name === 'helper-ended') ended.add(`${id} ${output}`);
    if (name === 'roots-gone') gone += 1;
    if (name === 'hello' || Number(seq) - acked < 500) continue;
    supervisor.ack(seq);
    acked = Number(seq);
  }
  assert.deepEqual([...ended].sort(), Array.from({ length: PLACES }, (_, id) => `${id + 1} ${id + 1}\n`).sort());
});

function execMany(supervisor: Supervisor, count: number): void {
  supervisor.commit(...Array.from({ length: count }, (_, id) => ['exec', id + 1, 10, 2, 'echo', id + 1]).flat());
}

function nothingPending(pid: number): boolean {
  const { stdout } = spawnSync('grep', ['-E', '^(SigPnd|ShdPnd)', `/proc/${pid}/status`], { encoding: 'utf8' });
  return /^(\w+:\s+0+\n){2}$/.test(stdout);
}
