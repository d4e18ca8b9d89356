import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { test } from 'node:test';
import { hasEnded } from '../../helpers/process.ts';
import { waitFor, within } from '../../helpers/wait.ts';
import { hostContract } from './contract.ts';
import { HostProcess, start } from './host-process.ts';

const kind = { name: 'ExecaHost' } as const;

hostContract(kind);

test('a library that sends a signal again to die of it does not end the host', async (t) => {
  const host = await start(t, kind);
  await host.order({ type: 'loadRaiser' });
  for (const signal of [15, 2, 1, 15]) {
    process.kill(host.pid, signal);
    assert.equal((await host.event('signal')).signal, signal);
  }
  // The HUP is lost then, but it ends no process.
  await host.order({ type: 'dropListener', signal: 'SIGHUP' });
  process.kill(host.pid, 'SIGHUP');
  process.kill(host.pid, 'SIGTERM');
  assert.equal((await host.event('signal')).signal, 15);
});

test('a crash ends the application too, as the limits say', async (t) => {
  const host = await start(t, kind);
  assert.ok(host.limits.some((limit) => limit.includes('crashes the application is killed')));
  const { pid } = await host.shell(1, 'trap "" TERM HUP; echo ready; while :; do sleep 1000; done');
  await host.output.next((line) => line === 'ready');
  host.say({ type: 'crash' });
  const { code } = await within('the host ends', host.ended);
  assert.equal(code, 1);
  await waitFor('the application has ended', () => hasEnded(pid));
});

test('the application finds its standard streams blocking', async (t) => {
  const host = await start(t, kind);
  await host.shell(1, 'cat /proc/self/fdinfo/1 /proc/self/fdinfo/2 | grep flags');
  for (const _ of [1, 2]) {
    const flags = Number.parseInt((await host.output.next(() => true)).replace('flags:', ''), 8);
    assert.equal(flags & 0o4000, 0, 'O_NONBLOCK is set');
  }
});

test('as PID 1, which reaps no orphans, the group is gone when only zombies are left', async (t) => {
  const host = await HostProcess.start(t, { ...kind, asPid1: true });
  assert.equal((await host.supervisor()).isPid1, true);
  await host.shell(1, 'mkfifo "$SCRATCH/go"; (read line < "$SCRATCH/go") & exit 3');
  assert.equal((await host.event('exited')).code, 3);
  await writeFile(host.scratch.path('go'), 'now\n');
  assert.equal((await host.event('rootsGone')).id, 1);
});
