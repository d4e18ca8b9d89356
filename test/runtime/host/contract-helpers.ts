/** The contract of a host: helpers, the commands of probes and hooks. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SIGKILL, SIGTERM } from '../../../src/core/signals.ts';
import type { HostCommand } from '../../../src/runtime/host/host.ts';
import { hasEnded, stateOf } from '../../helpers/process.ts';
import { waitForFile, within } from '../../helpers/wait.ts';
import { cannot, FOR_EVER, type HostKind, type Rig, start } from './rig.ts';

export function helpersContract(kind: HostKind): void {
  running(kind);
  ending(kind);
}

function running(kind: HostKind): void {
  test('the end of a helper is told with its code, signal or errno and what it wrote', async (t) => {
    const rig = await start(t, kind);
    assert.deepEqual(await helped(rig, 1, 'echo one; echo two; exit 3'), [1, 3, undefined, undefined, 'one\ntwo\n']);
    assert.deepEqual(await helped(rig, 2, 'echo three >&2; kill -9 $$'), [2, undefined, 9, undefined, 'three\n']);
    await rig.commit({ commands: [{ type: 'exec', id: 3, argv: ['there-is-no-such-program'], outputLimit: 9 }] });
    assert.deepEqual(await helperEnd(rig), [3, undefined, undefined, 'ENOENT', '']);
    await rig.commit({ commands: [{ type: 'exec', id: 4, argv: [''], outputLimit: 9 }] });
    assert.deepEqual(await helperEnd(rig), [4, undefined, undefined, 'ENOENT', '']);
    await rig.commit({ commands: [{ type: 'exec', id: 5, argv: [rig.scratch.dir], outputLimit: 9 }] });
    assert.deepEqual(await helperEnd(rig), [5, undefined, undefined, 'EACCES', '']);
    assert.deepEqual(await helped(rig, 6, String.raw`printf 'a\0b\377'`), [6, 0, undefined, undefined, 'a?b\ufffd']);
  });

  test('a helper that a real-time signal ended is told with that signal', async (t) => {
    const rig = await start(t, kind);
    if (cannot(t, rig, /real-time/i)) return;
    assert.deepEqual(await helped(rig, 1, 'kill -37 $$'), [1, undefined, 37, undefined, '']);
  });

  test('a helper that was started already is not started again', async (t) => {
    const rig = await start(t, kind);
    assert.equal((await helped(rig, 2, 'echo first'))[4], 'first\n');
    await rig.commit({ commands: [shell(1, 'echo late'), shell(2, 'echo again'), shell(3, 'echo next')] });
    assert.deepEqual(await helperEnd(rig), [3, 0, undefined, undefined, 'next\n']);
  });

  test('a helper has a session of its own, the environment of the host, and nothing to read', async (t) => {
    const rig = await start(t, kind);
    const script =
      'cat; echo "$SCRATCH<$SEXTON_INIT_FD>"; set -- $(cat /proc/$$/stat); test "$5 $6" = "$$ $$" && echo leads';
    assert.equal((await helped(rig, 1, script))[4], `${rig.scratch.dir}<>\nleads\n`);
  });

  test('what a helper writes beyond the limit is dropped, and it does not stall', async (t) => {
    const rig = await start(t, kind);
    const [, code, , , output] = await helped(rig, 1, 'head -c 10000000 /dev/zero | tr "\\0" x && exit 4', 4096);
    assert.deepEqual([code, output], [4, 'x'.repeat(4096)]);
    assert.equal((await helped(rig, 2, 'echo abcdef', 3))[4], 'abc');
    assert.equal((await helped(rig, 3, 'echo abcdef', 0))[4], '');
  });

  test('a helper that closes its output is waited for', async (t) => {
    const rig = await start(t, kind);
    const script = 'cd "$SCRATCH"; mkfifo go; echo before; exec >&- 2>&-; read line <go; exit 6';
    await rig.commit({ commands: [shell(1, script)] });
    await waitForFile(rig.scratch.path('go'));
    await rig.commit({ commands: [shell(2, 'echo now >"$SCRATCH/go"')] });
    const ends = [await helperEnd(rig), await helperEnd(rig)].sort();
    assert.deepEqual(ends[0], [1, 6, undefined, undefined, 'before\n']);
  });
}

function ending(kind: HostKind): void {
  test('the end of a helper is that of its group, and does not wait for who escaped with its output', async (t) => {
    const rig = await start(t, kind);
    const leave = 'setsid sh -c "echo \\$\\$ >\\"$SCRATCH/escaped\\"; exec sleep 1000" &';
    const script = `sleep 1000 & echo $!; ${leave} while [ ! -s "$SCRATCH/escaped" ]; do :; done; cat "$SCRATCH/escaped"`;
    const [, code, , , output] = await helped(rig, 1, script);
    const [inside = 0, escaped = 0] = output.trim().split('\n').map(Number);
    assert.equal(code, 0);
    assert.ok(hasEnded(inside), 'the group is empty');
    assert.notEqual(stateOf(escaped), undefined);
    process.kill(escaped, 'SIGKILL');
  });

  test('endHelper ends the whole group, and does nothing to a helper that has ended', async (t) => {
    const rig = await start(t, kind);
    const script = 'trap "" TERM HUP INT; sleep 1000 & echo $!; touch "$SCRATCH/up"; wait; sleep 1000';
    await rig.commit({ commands: [shell(1, script)] });
    await waitForFile(rig.scratch.path('up'));
    await rig.commit({
      commands: [
        { type: 'endHelper', id: 2 },
        { type: 'endHelper', id: 1 },
      ],
    });
    const [id, code, signal, , output] = await helperEnd(rig);
    assert.deepEqual([id, code, signal], [1, undefined, SIGKILL]);
    assert.ok(hasEnded(Number(output)));
    await rig.commit({ commands: [{ type: 'endHelper', id: 1 }] });
    assert.equal((await helped(rig, 2, 'echo next'))[4], 'next\n');
  });

  test('K01 the end of a helper is told again until it is acknowledged', async (t) => {
    const rig = await start(t, kind);
    await rig.commit({ commands: [shell(1, 'echo told')] });
    const first = await rig.event('helperEnded');
    await rig.nextSupervisor();
    const again = await rig.event('helperEnded');
    assert.deepEqual(again, first);
    await rig.commit({ ack: again.seq });
    await rig.nextSupervisor();
    assert.equal((await helped(rig, 2, 'echo next'))[0], 2);
  });

  test('a helper is not the application: no signal that is forwarded, no part of its end', async (t) => {
    const rig = await start(t, kind);
    const path = rig.scratch.path('got');
    await rig.commit({ commands: [shell(1, `trap "touch ${path}" TERM; touch ${path}.up; ${FOR_EVER}`)] });
    await waitForFile(`${path}.up`);
    await rig.shell(1, 'exit 5');
    assert.equal((await rig.event('exited')).code, 5);
    assert.deepEqual([(await rig.event('groupGone')).strays], [0]);
    await rig.commit({ commands: [{ type: 'forward', id: 1, table: { [SIGTERM]: SIGTERM } }] });
    process.kill(rig.pid, 'SIGTERM');
    assert.equal((await rig.event('signal')).signal, SIGTERM);
    await rig.commit({ commands: [{ type: 'endHelper', id: 1 }] });
    assert.equal((await helperEnd(rig))[2], SIGKILL);
    assert.equal((await helped(rig, 2, `test -e ${path}`))[1], 1);
  });

  test('the host that exits ends its helpers', async (t) => {
    const rig = await start(t, kind);
    await rig.commit({
      commands: [
        shell(
          1,
          `trap "" TERM; sleep 1000 & echo $$ $! >"$SCRATCH/.pids"; mv "$SCRATCH/.pids" "$SCRATCH/pids"; ${FOR_EVER}`,
        ),
      ],
    });
    await waitForFile(rig.scratch.path('pids'));
    const pids = (await helped(rig, 2, 'cat "$SCRATCH/pids"'))[4].trim().split(' ').map(Number);
    rig.say({ type: 'commit', commit: { ack: undefined, memo: undefined, commands: [{ type: 'exit', code: 7 }] } });
    assert.equal((await within('the host ends', rig.ended)).code, 7);
    await within('they have ended', allEnded(pids));
  });
}

async function allEnded(pids: readonly number[]): Promise<void> {
  while (!pids.every(hasEnded)) await new Promise((resolve) => setTimeout(resolve, 4));
}

type Ended = [
  id: number,
  code: number | undefined,
  signal: number | undefined,
  errno: string | undefined,
  output: string,
];

function shell(id: number, script: string, outputLimit = 4096): HostCommand {
  return { type: 'exec', id, argv: ['/bin/sh', '-c', script], outputLimit };
}

async function helped(rig: Rig, id: number, script: string, outputLimit?: number): Promise<Ended> {
  await rig.commit({ commands: [shell(id, script, outputLimit)] });
  return helperEnd(rig);
}

async function helperEnd(rig: Rig): Promise<Ended> {
  const { id, code, signal, errno, output } = await rig.event('helperEnded');
  return [id, code, signal, errno, output];
}
