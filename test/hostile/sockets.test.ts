/** Peers whose sockets send nonsense or nothing, and thousands of connections to a member's own socket. */
import assert from 'node:assert/strict';
import { mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe } from 'node:test';
import { scenario } from '../helpers/scenario.ts';
import { readTombstone, waitForTombstone } from '../helpers/tombstone.ts';
import { waitFor } from '../helpers/wait.ts';
import { footprintOf } from '../scale/footprint.ts';
import { checkLog, graveyardOf, startPair } from './pair.ts';
import { addRogues, alive, pester } from './sockets.ts';

/** As in `docs/security.md`: the connections that a member's init holds, and those that wait for accept(2). */
const MAX_HELD = 512;
const BACKLOG = 129;

describe('sockets of unknown processes', () => {
  scenario('K17 that send without end or nothing, or hang up, cost few bytes and connections', async (stage) => {
    const { t } = stage;
    const dir = graveyardOf(stage, 'pod');
    const rogues = await addRogues(t, dir);
    const pod = await startPair(stage, 'pod', { isNamed: true });
    const by = (name: string) => rogues.find((it) => it.name === name);
    // The first attempt and two more.
    await waitFor('the peer that hangs up was tried three times', () => (by('closer')?.connections() ?? 0) >= 3);
    // Sockets are replaced while we hold connections: by a link and by a directory.
    renameSync(join(dir, '.mute.sock'), join(dir, '.moved.sock'));
    symlinkSync('/etc/passwd', join(dir, '.mute.sock'));
    rmSync(join(dir, '.late-talker.sock'));
    mkdirSync(join(dir, '.late-talker.sock'));
    for (const { name } of rogues) alive(dir, name);
    await pod.settled();
    for (const name of ['work', 'proxy'] as const) {
      const { descriptors } = await pod.footprint(name);
      assert.ok(descriptors < 48, `${name} has ${descriptors} descriptors`);
    }
    for (const rogue of rogues) {
      const [connections, bytes] = [rogue.connections(), rogue.sent()];
      t.diagnostic(`${rogue.name}: ${connections} connections, ${bytes} bytes`);
      // A member reads 64 KiB of each; more stands in buffers of the kernel and of the sender.
      assert.ok(
        bytes <= connections * 2 ** 20,
        `${rogue.name} could send ${bytes} bytes in ${connections} connections`,
      );
    }
    await pod.end();
  });

  scenario('K17 that pester a member neither disturb it nor hide its end from its sidecars', async (stage) => {
    const { t } = stage;
    const pod = await startPair(stage, 'pod', { isNamed: true, session: 'one' });
    const init = await pod.work.pid1();
    const before = footprintOf(init);
    const usual = await pod.footprint('work');
    const made = await pester(t, join(pod.graveyard, '.work.sock'), 2_000);
    const after = await waitFor('init holds as many connections as it accepts', () => {
      const found = footprintOf(init);
      return found.descriptors >= before.descriptors + Math.min(MAX_HELD - 10, made - BACKLOG) ? found : undefined;
    });
    // A few descriptors come and go with watches and files.
    assert.ok(made <= MAX_HELD + BACKLOG, `${made} connections were made`);
    assert.ok(after.descriptors <= before.descriptors + MAX_HELD + 8, `init has ${after.descriptors} descriptors`);
    assert.ok(after.privateKb <= before.privateKb + 256, `init has ${after.privateKb} KiB after ${before.privateKb}`);
    const now = await pod.footprint('work');
    assert.ok(now.descriptors <= usual.descriptors + 8, `${now.descriptors} descriptors after ${usual.descriptors}`);
    t.diagnostic(`${made} connections made, init ${JSON.stringify(before)} then ${JSON.stringify(after)}`);
    const late = await pod.join('late');
    // The killed container writes no death. A member that was connected before loses its connection; one that was
    // turned away finds no process at the socket.
    await pod.work.kill();
    for (const it of [pod.proxy, late]) assert.equal((await it.exit()).status, 0);
    for (const name of ['proxy', 'late']) {
      const { StopReason } = await waitForTombstone(pod.graveyard, name, 'is dead', (it) => it.Died !== undefined);
      assert.equal(StopReason, 'mains finished');
    }
    assert.equal(readTombstone(pod.graveyard, 'work')?.Died, undefined);
    checkLog(pod.proxy);
  });
});
