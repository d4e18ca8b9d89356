/** Where a member lives and its handle cannot be asked: all connections are taken, or connecting is not allowed. */
import assert from 'node:assert/strict';
import { chmodSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { describe } from 'node:test';
import { type Stage, scenario } from '../helpers/scenario.ts';
import { cast } from '../pods/members.ts';
import { needsRoot } from '../runtime/graveyard/volume.ts';
import { sextonOf, startPod } from './pod.ts';

describe('a handle that cannot be asked', () => {
  scenario(
    'A10 a member whose connections a neighbour has used up is shown alive and can be stopped',
    async (stage) => {
      const pod = await startPod(stage, cast(stage).main('work'));
      await takeAllConnections(stage, handleIn(stage));
      assert.match((await sextonOf(stage, ['status'])).stdout, /^work +main +running +healthy /m);
      const asked = await sextonOf(stage, ['stop']);
      assert.deepEqual([asked.stderr, asked.code], ['', 0], asked.stdout);
      assert.match(asked.stdout, /^work stopped, exit code 0, after /m);
      await pod.end();
    },
  );

  scenario('A10 a member whose socket denies the caller is shown as unknown and still asked to stop', async (stage) => {
    if (needsRoot) return stage.t.skip(needsRoot);
    const { main, sidecar } = cast(stage);
    const pod = await startPod(stage, main('work'), sidecar('cold', {}, ['--readiness', 'exec:false']));
    chmodSync(handleIn(stage), 0o600);
    const as = ['setpriv', '--reuid', '54321', '--regid', '54321', '--clear-groups', '--'];
    const status = await sextonOf(stage, ['status'], as);
    assert.match(status.stdout, /^work +main +running +unknown /m);
    const json = JSON.parse((await sextonOf(stage, ['status', '-o', 'json'], as)).stdout);
    assert.deepEqual(json.unknown, [{ name: 'work', why: 'EACCES' }]);
    const check = await sextonOf(stage, ['status', '--check', 'work'], as);
    const why = 'its liveness socket cannot be asked (EACCES); ask again as the user of that member or as root';
    const problem = `sexton: cannot run sexton status: --check: work may be healthy or dead: ${why}\n`;
    assert.deepEqual(check, { stdout: '', stderr: problem, code: 125 });
    chmodSync(handleIn(stage, 'cold'), 0o600);
    const cold = await sextonOf(stage, ['status', '--check', 'cold'], as);
    assert.deepEqual(cold, { stdout: 'cold: not healthy: running\n', stderr: '', code: 1 });
    const asked = await sextonOf(stage, ['stop'], as);
    assert.match(
      asked.stderr,
      /^sexton: work may be dead: its liveness socket cannot be asked \(EACCES\); it is asked to stop anyway$/m,
    );
    assert.match(asked.stdout, /^work stopped, exit code 0, after /m);
    assert.equal(asked.code, 0);
    await pod.end();
  });
});

function handleIn({ scratch }: Stage, name = 'work'): string {
  return `${scratch.graveyard}/.${name}.sock`;
}

/** Until the kernel refuses one more: what init keeps, and what waits to be accepted. */
async function takeAllConnections({ t }: Stage, path: string): Promise<void> {
  const taken: Socket[] = [];
  t.after(() => {
    for (const socket of taken) socket.destroy();
  });
  for (;;) {
    const socket = connect({ path });
    const error = await new Promise<NodeJS.ErrnoException | undefined>((resolve) => {
      socket.once('connect', () => resolve(undefined));
      socket.once('error', resolve);
    });
    if (error === undefined) taken.push(socket);
    else return assert.equal(error.code, 'EAGAIN', `after ${taken.length} connections`);
  }
}
