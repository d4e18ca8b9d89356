/** A supervisor whose configuration cannot be used ends the container only while nothing runs in it. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { initialState } from '../../src/core/state/state.ts';
import { FrameReader } from '../../src/runtime/host/frames.ts';
import type { Commit } from '../../src/runtime/host/host.ts';
import { writeMemo } from '../../src/runtime/memo.ts';
import { BOOT, HOST_ID, instant } from '../core/helpers.ts';
import { NODE, ROOT } from '../helpers/paths.ts';
import { within } from '../helpers/wait.ts';
import { commitOf, frameOf, helloFields } from './host/init-side.ts';

test('the first supervisor of a container that refuses its configuration ends the container', async (t) => {
  const { commits, stderr, code } = await superviseWrongly(t, undefined);
  assert.deepEqual(commits, [{ ack: undefined, memo: undefined, commands: [{ type: 'exit', code: 125 }] }]);
  assert.match(stderr, /^sexton: cannot start: unknown flag --nosuch/);
  assert.equal(code, 0);
});

test('a later supervisor that neither finds nor makes a configuration says so, and ends alone', async (t) => {
  const now = instant(1_000);
  const state = initialState({ hostId: HOST_ID, bootId: BOOT, startedAtMs: now.mono, now, solo: true });
  for (const memo of [writeMemo({ state, isHeld: false }), '{"format":0}']) {
    const { commits, stderr, code } = await superviseWrongly(t, memo);
    assert.deepEqual(commits, []);
    assert.match(stderr, /^sexton: cannot start: unknown flag --nosuch/);
    assert.equal(code, 125);
  }
});

interface Outcome {
  readonly commits: readonly Commit[];
  readonly stderr: string;
  readonly code: number | null;
}

async function superviseWrongly(t: TestContext, memo: string | undefined): Promise<Outcome> {
  const words = [join(ROOT, 'src/cli/main.ts'), 'run', '--nosuch', '--', 'true'];
  const env = { PATH: process.env.PATH, SEXTON_INIT_FD: '3' };
  const child = spawn(NODE, words, { env, stdio: ['ignore', 'ignore', 'pipe', 'pipe'] });
  t.after(() => child.kill('SIGKILL'));
  const socket = child.stdio[3] as Duplex;
  socket.write(frameOf(helloFields({ hostId: HOST_ID, startedAt: 1_000, memo, isPid1: true, killed: 0 })));
  const [said, stderr, [code]] = await within(
    'it ends',
    Promise.all([buffer(socket), text(child.stderr as Duplex), once(child, 'exit')]),
  );
  return { commits: new FrameReader().push(said).map(commitOf), stderr, code: code as number | null };
}
