/** ExecaHost against the contract, and what only it has to take care of. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { test } from 'node:test';
import { hasEnded } from '../../helpers/process.ts';
import { waitFor, within } from '../../helpers/wait.ts';
import { hostContract } from './contract.ts';
import { Rig, start } from './rig.ts';

const kind = { name: 'ExecaHost' } as const;

hostContract(kind);

test('a library that sends a signal again to die of it does not end the host', async (t) => {
  const rig = await start(t, kind);
  await rig.order({ type: 'loadRaiser' });
  for (const signal of [15, 2, 1, 15]) {
    process.kill(rig.pid, signal);
    assert.equal((await rig.event('signal')).signal, signal);
  }
  // The HUP is lost then, but nobody dies of it.
  await rig.order({ type: 'dropListener', signal: 'SIGHUP' });
  process.kill(rig.pid, 'SIGHUP');
  process.kill(rig.pid, 'SIGTERM');
  assert.equal((await rig.event('signal')).signal, 15);
});

test('a crash ends the application too, as the limits say', async (t) => {
  const rig = await start(t, kind);
  assert.ok(rig.limits.some((limit) => limit.includes('crashes the application is killed')));
  const { pid } = await rig.shell(1, 'trap "" TERM HUP; echo ready; while :; do sleep 1000; done');
  await rig.output.next((line) => line === 'ready');
  rig.say({ type: 'crash' });
  const { code } = await within('the host ends', rig.ended);
  assert.equal(code, 1);
  await waitFor('the application has ended', () => hasEnded(pid));
});

test('the application finds its standard streams blocking', async (t) => {
  const rig = await start(t, kind);
  await rig.shell(1, 'cat /proc/self/fdinfo/1 /proc/self/fdinfo/2 | grep flags');
  for (const _ of [1, 2]) {
    const flags = Number.parseInt((await rig.output.next(() => true)).replace('flags:', ''), 8);
    assert.equal(flags & 0o4000, 0, 'O_NONBLOCK is set');
  }
});

test('as PID 1, which reaps no orphans, the group is gone when only zombies are left', async (t) => {
  const rig = await Rig.start(t, { ...kind, asPid1: true });
  assert.equal((await rig.supervisor()).isPid1, true);
  await rig.shell(1, 'mkfifo "$SCRATCH/go"; (read line < "$SCRATCH/go") & exit 3');
  assert.equal((await rig.event('exited')).code, 3);
  await writeFile(rig.scratch.path('go'), 'now\n');
  assert.equal((await rig.event('groupGone')).id, 1);
});
