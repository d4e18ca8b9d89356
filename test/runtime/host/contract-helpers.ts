import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SIGKILL, SIGTERM } from '../../../src/core/signals.ts';
import type { HostCommand } from '../../../src/runtime/host/host.ts';
import { hasEnded, stateOf } from '../../helpers/process.ts';
import { waitForFile, within } from '../../helpers/wait.ts';
import { declares, FOR_EVER, type HostKind, type HostProcess, start } from './host-process.ts';
import { orders } from './orders.ts';

export function helpersContract(kind: HostKind): void {
  running(kind);
  ending(kind);
}

function running(kind: HostKind): void {
  test('the end of a helper is reported with its code, signal or errno and its output', async (t) => {
    const host = await start(t, kind);
    assert.deepEqual(await helped(host, 1, 'echo one; echo two; exit 3'), [1, 3, undefined, undefined, 'one\ntwo\n']);
    assert.deepEqual(await helped(host, 2, 'echo three >&2; kill -9 $$'), [2, undefined, 9, undefined, 'three\n']);
    for (const [id, program, errno] of [
      [3, 'there-is-no-such-program', 'ENOENT'],
      [4, '', 'ENOENT'],
      [5, host.scratch.dir, 'EACCES'],
    ] as const) {
      await host.commit({ commands: [{ type: 'exec', id, argv: [program], outputLimit: 9 }] });
      assert.deepEqual(await helperEnd(host), [id, undefined, undefined, errno, '']);
    }
    assert.deepEqual(await helped(host, 6, String.raw`printf 'a\0b\377'`), [6, 0, undefined, undefined, 'a?b\ufffd']);
  });

  test('a helper that a real-time signal ended is reported with that signal', async (t) => {
    const host = await start(t, kind);
    const isCode0 = declares(host, /^real-time signals are not received, and/);
    const [code, signal] = isCode0 ? [0, undefined] : [undefined, 37];
    assert.deepEqual(await helped(host, 1, 'kill -37 $$'), [1, code, signal, undefined, '']);
  });

  test('a helper that was started already is not started again', async (t) => {
    const host = await start(t, kind);
    assert.equal((await helped(host, 2, 'echo first'))[4], 'first\n');
    await host.commit({ commands: [shell(1, 'echo late'), shell(2, 'echo again'), shell(3, 'echo next')] });
    assert.deepEqual(await helperEnd(host), [3, 0, undefined, undefined, 'next\n']);
  });

  test('a helper has a session of its own, the environment of the host, and nothing to read', async (t) => {
    const host = await start(t, kind);
    const script =
      'cat; echo "$SCRATCH<$SEXTON_INIT_FD>"; set -- $(cat /proc/$$/stat); test "$5 $6" = "$$ $$" && echo leads';
    assert.equal((await helped(host, 1, script))[4], `${host.scratch.dir}<>\nleads\n`);
  });

  test('what a helper writes beyond the limit is dropped, and it does not stall', async (t) => {
    const host = await start(t, kind);
    const [, code, , , output] = await helped(host, 1, 'head -c 10000000 /dev/zero | tr "\\0" x && exit 4', 4096);
    assert.deepEqual([code, output], [4, 'x'.repeat(4096)]);
    assert.equal((await helped(host, 2, 'echo abcdef', 3))[4], 'abc');
    assert.equal((await helped(host, 3, 'echo abcdef', 0))[4], '');
  });

  test('a helper that closes its output is waited for', async (t) => {
    const host = await start(t, kind);
    const script = 'cd "$SCRATCH"; mkfifo go; echo before; exec >&- 2>&-; read line <go; exit 6';
    await host.commit({ commands: [shell(1, script)] });
    await waitForFile(host.scratch.path('go'));
    await host.commit({ commands: [shell(2, 'echo now >"$SCRATCH/go"')] });
    const ends = [await helperEnd(host), await helperEnd(host)].sort();
    assert.deepEqual(ends[0], [1, 6, undefined, undefined, 'before\n']);
  });
}

function ending(kind: HostKind): void {
  test('a helper ends with its group, and not with a process that left it and holds its output', async (t) => {
    const host = await start(t, kind);
    const leave = 'setsid sh -c "echo \\$\\$ >\\"$SCRATCH/escaped\\"; exec sleep 1000" &';
    const script = `sleep 1000 & echo $!; ${leave} while [ ! -s "$SCRATCH/escaped" ]; do :; done; cat "$SCRATCH/escaped"`;
    const [, code, , , output] = await helped(host, 1, script);
    const [inside = 0, escaped = 0] = output.trim().split('\n').map(Number);
    assert.equal(code, 0);
    assert.ok(hasEnded(inside), 'the group is empty');
    assert.notEqual(stateOf(escaped), undefined);
    process.kill(escaped, 'SIGKILL');
  });

  test('endHelper ends the whole group, and does nothing to a helper that has ended', async (t) => {
    const host = await start(t, kind);
    const script = 'trap "" TERM HUP INT; sleep 1000 & echo $!; touch "$SCRATCH/up"; wait; sleep 1000';
    await host.commit({ commands: [shell(1, script)] });
    await waitForFile(host.scratch.path('up'));
    await host.commit({ commands: [2, 1].map((id) => ({ type: 'endHelper', id })) });
    const [id, code, signal, , output] = await helperEnd(host);
    assert.deepEqual([id, code, signal], [1, undefined, SIGKILL]);
    assert.ok(hasEnded(Number(output)));
    await host.commit({ commands: [{ type: 'endHelper', id: 1 }] });
    assert.equal((await helped(host, 2, 'echo next'))[4], 'next\n');
  });

  test('K01 the end of a helper is reported again until it is acknowledged', async (t) => {
    const host = await start(t, kind);
    await host.commit({ commands: [shell(1, 'echo told')] });
    const first = await host.event('helperEnded');
    await host.nextSupervisor();
    const again = await host.event('helperEnded');
    assert.deepEqual(again, first);
    await host.commit({ ack: again.seq });
    await host.nextSupervisor();
    assert.equal((await helped(host, 2, 'echo next'))[0], 2);
  });

  test('a helper is not the application: no signal that is forwarded, no part of its end', async (t) => {
    const host = await start(t, kind);
    const path = host.scratch.path('got');
    await host.commit({ commands: [shell(1, `trap "touch ${path}" TERM; touch ${path}.up; ${FOR_EVER}`)] });
    await waitForFile(`${path}.up`);
    await host.shell(1, 'exit 5');
    assert.equal((await host.event('exited')).code, 5);
    await host.event('rootsGone');
    await host.commit({ commands: [orders({ when: 'each', table: { [SIGTERM]: SIGTERM } })] });
    process.kill(host.pid, 'SIGTERM');
    assert.equal((await host.event('signal')).signal, SIGTERM);
    await host.commit({ commands: [{ type: 'endHelper', id: 1 }] });
    assert.equal((await helperEnd(host))[2], SIGKILL);
    assert.equal((await helped(host, 2, `test -e ${path}`))[1], 1);
  });

  test('the host that exits ends its helpers', async (t) => {
    const host = await start(t, kind);
    const told = 'echo $$ $! >"$SCRATCH/.pids"; mv "$SCRATCH/.pids" "$SCRATCH/pids"';
    await host.commit({ commands: [shell(1, `trap "" TERM; sleep 1000 & ${told}; ${FOR_EVER}`)] });
    await waitForFile(host.scratch.path('pids'));
    const pids = (await helped(host, 2, 'cat "$SCRATCH/pids"'))[4].trim().split(' ').map(Number);
    host.say({ type: 'commit', commit: { ack: undefined, memo: undefined, commands: [{ type: 'exit', code: 7 }] } });
    assert.equal((await within('the host ends', host.ended)).code, 7);
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

async function helped(host: HostProcess, id: number, script: string, outputLimit?: number): Promise<Ended> {
  await host.commit({ commands: [shell(id, script, outputLimit)] });
  return helperEnd(host);
}

async function helperEnd(host: HostProcess): Promise<Ended> {
  const { id, code, signal, errno, output } = await host.event('helperEnded');
  return [id, code, signal, errno, output];
}
