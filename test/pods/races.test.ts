/** Moments when members know little of each other: the first of a pod, after a pause, and on a used volume. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Tombstone } from '../../src/core/format/tombstone.ts';
import { AWAKE } from '../helpers/container.ts';
import { atOnce } from '../helpers/engine.ts';
import { send } from '../helpers/process.ts';
import { inRounds } from '../helpers/rounds.ts';
import { scenario } from '../helpers/scenario.ts';
import { readTimeline, waitForEvent } from '../helpers/timeline.ts';
import { readTombstone, waitForTombstone } from '../helpers/tombstone.ts';
import { runPod } from './kubelet.ts';
import { AMPLE_MS, after, cast } from './members.ts';

describe('moments of ignorance', { concurrency: atOnce(4) }, () => {
  for (const [what, gate] of [
    ['passed its gate', after('proxy=started')],
    ['started at once', []],
  ] as const) {
    scenario(`a sidecar holds when it is asked to stop the moment its main has ${what} (9 rounds)`, async (stage) => {
      await inRounds(9, 3, async (index) => {
        const { main, sidecar } = cast(stage);
        const { scratch } = stage;
        const names = [`proxy${index}`, `work${index}`] as const;
        const containers = [
          sidecar(names[0], {}, ['--mains', names[1]]),
          main(
            names[1],
            { term: 400 },
            gate.map((it) => it.replace('proxy', names[0])),
          ),
        ];
        const pod = runPod(scratch, { restartPolicy: 'Always', graceMs: AMPLE_MS, session: 'pod', containers });
        for (const name of names) await waitForEvent(scratch.log, name, 'Started');
        // A main that init starts at once is unknown until its supervisor is up. A sidecar allows a second for that,
        // but how long it takes is this machine's affair: from here on it may be known.
        await waitForTombstone(scratch.graveyard, names[1], 'is born', (it) => it.Phase !== 'waiting');
        await pod.delete();
        const log = readTimeline(scratch.log);
        log.exitsBeforeSignalTo(names[1], names[0]);
        for (const name of names) assert.deepEqual([log.signals(name), pod.exitOf(name)], [[15], 0], name);
      });
    });
  }

  scenario('an old death without a session is believed only after 10 s without a rebirth', async (stage) => {
    const { main, sidecar, running } = cast(stage);
    const { scratch } = stage;
    const pod = { restartPolicy: 'Never', graceMs: AMPLE_MS, session: false } as const;
    await runPod(scratch, { ...pod, containers: [main('work', { run: 300, name: 'old' })] }).end();
    const dead = readTombstone(scratch.graveyard, 'work');
    assert.ok(dead?.Died);
    writeFileSync(join(scratch.graveyard, 'gone'), JSON.stringify({ ...dead, Name: 'gone' }));
    // Two sidecars find a death each; one of the dead is born again after some seconds, the other one never.
    const sidecars = [sidecar('s1', {}, [...AWAKE, '--mains', 'work']), sidecar('s2', {}, ['--mains', 'gone'])];
    const beforeMs = monotonicMs();
    const serving = runPod(scratch, { ...pod, containers: sidecars });
    await running('s1');
    // It stands still meanwhile, so that the rebirth may take as long as it does.
    const supervisor = await serving.current('s1').supervisor();
    send(supervisor, 'SIGSTOP');
    const reborn = runPod(scratch, { ...pod, containers: [main('work', { after: scratch.path('enough'), run: 1 })] });
    await waitForRebirth(scratch.graveyard, dead);
    // Near the end of the ten seconds it may still believe what it knew; a second later it looks again
    // first.
    if (monotonicMs() > beforeMs + 5_000)
      await sleep(Math.max(0, readTimeline(scratch.log).at('s1', 'Starting').atMs + 11_500 - monotonicMs()));
    send(supervisor, 'SIGCONT');
    const stopped = await waitForEvent(scratch.log, 's2', 'Signal');
    assert.ok(stopped.atMs - beforeMs >= 10_000, 'it was not believed at once');
    // Found at the same time as the other; were it believed as well, it would be believed by now.
    await sleep(1_000);
    assert.deepEqual(readTimeline(scratch.log).signals('s1'), []);
    writeFileSync(scratch.path('enough'), '');
    assert.equal(await reborn.end(), 'Succeeded');
    assert.equal(await serving.end(), 'Succeeded');
    readTimeline(scratch.log).exitsBeforeSignalTo('work', 's1');
  });

  scenario('a supervisor that stood still over its timers reads the graveyard again before it acts', async (stage) => {
    const { main, sidecar, served, open, running } = cast(stage);
    const { scratch } = stage;
    const work = main('work', { runs: '0,1', counter: scratch.path('count'), ...served });
    const containers = [sidecar('proxy', {}, AWAKE), work];
    const pod = runPod(scratch, { restartPolicy: 'Never', graceMs: AMPLE_MS, containers });
    await running('proxy', 'work');
    const supervisor = await pod.current('proxy').supervisor();
    const before = readTombstone(scratch.graveyard, 'work');
    // The main vanishes; under Never that is final after 2 s, but by then it has long been born again.
    send(supervisor, 'SIGSTOP');
    await pod.current('work').kill();
    pod.rerun('work');
    await waitForRebirth(scratch.graveyard, before);
    await sleep(2_500);
    send(supervisor, 'SIGCONT');
    // Long enough for the sidecar that its supervisor stops, and no longer than a slow machine likes: then this shows
    // less.
    await sleep(1_000);
    open();
    assert.equal(await pod.end(), 'Succeeded');
    const log = readTimeline(scratch.log);
    log.exitsBeforeSignalTo('work', 'proxy');
    log.notRestarted('proxy');
  });

  scenario('a death is written before the container has ended', async (stage) => {
    const { main } = cast(stage);
    await inRounds(8, 4, async (index) => {
      const name = `work${index}`;
      const containers = [main(name, { run: index * 40 + 1, exit: 3 })];
      await runPod(stage.scratch, { restartPolicy: 'Never', graceMs: AMPLE_MS, session: 'pod', containers }).end();
      const { Died, ExitCode, Final } = readTombstone(stage.scratch.graveyard, name) ?? {};
      assert.deepEqual([typeof Died, ExitCode, Final], ['string', 3, true], name);
    });
  });
});

function waitForRebirth(graveyard: string, before: Tombstone | undefined): Promise<Tombstone> {
  const isReborn = (it: Tombstone) => it.Incarnation !== before?.Incarnation && it.Phase === 'running';
  return waitForTombstone(graveyard, 'work', 'is born again', isReborn);
}

/** By the clock of the log. */
function monotonicMs(): number {
  return Number(process.hrtime.bigint() / 1_000_000n);
}
