/** The linger of a sidecar in real pods, whoever ends the mains, and whether its supervisor sleeps or not. */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { AWAKE, isSupervisor } from '../helpers/container.ts';
import { atOnce } from '../helpers/engine.ts';
import { run } from '../helpers/outcome.ts';
import { SEXTON } from '../helpers/paths.ts';
import { childrenOf, send } from '../helpers/process.ts';
import { type Stage, scenario } from '../helpers/scenario.ts';
import { readTimeline, waitForEvent } from '../helpers/timeline.ts';
import { waitForDeath, waitForTombstone } from '../helpers/tombstone.ts';
import { waitFor } from '../helpers/wait.ts';
import { type RunningPod, runPod } from './kubelet.ts';
import { AMPLE_MS, cast } from './members.ts';

/** Longer than a sidecar that does not linger takes. */
const LINGER_MS = 1_500;

const WAYS: Readonly<Record<string, (stage: Stage, pod: RunningPod) => Promise<unknown>>> = {
  'after a deletion that asks it first': async ({ scratch }, pod) => {
    send(await pod.current('ship').pid1(), 'SIGTERM');
    await waitForTombstone(scratch.graveyard, 'ship', 'holds', (it) => it.Phase === 'holding');
    await pod.delete();
  },
  'after a deletion that asks its main first': async ({ scratch }, pod) => {
    send(await pod.current('work').pid1(), 'SIGTERM');
    await waitForDeath(scratch.graveyard, 'work');
    await pod.delete();
  },
  'after a deletion that asks both at once': (_, pod) => pod.delete(),
  'after `sexton stop`': ({ scratch }) => run([SEXTON, 'stop', '--graveyard', scratch.graveyard]),
  'once its mains have finished': async (stage) => cast(stage).open(),
  'in a restart in place': async ({ scratch }, pod) => {
    await run([SEXTON, 'restart', '--graveyard', scratch.graveyard]);
    for (const name of ['work', 'ship']) await waitForEvent(scratch.log, name, 'Started', 2);
    await pod.delete();
  },
};

describe('a sidecar lingers', { concurrency: atOnce(4) }, () => {
  for (const isAsleep of [false, true])
    for (const [way, goes] of Object.entries(WAYS))
      scenario(`${way}, ${isAsleep ? 'asleep' : 'awake'}`, async (stage) => {
        const { main, sidecar, served, running } = cast(stage);
        const { scratch } = stage;
        const sleeps = isAsleep ? ['--sleep-after', '300ms', '--log-level', 'debug'] : AWAKE;
        // A main that fails when it is asked ends for good in a stop of the pod only. The kubelet knows of no other.
        const termexit = way.includes('deletion') ? 7 : 0;
        const work = main('work', { run: 1, termexit, ...served }, sleeps);
        const ship = sidecar('ship', {}, ['--linger', `${LINGER_MS}ms`, ...sleeps]);
        const pod = runPod(scratch, { restartPolicy: 'OnFailure', graceMs: AMPLE_MS, containers: [work, ship] });
        await running('work', 'ship');
        if (isAsleep) await sleep(pod);
        await goes(stage, pod);
        await pod.end();
        const log = readTimeline(scratch.log);
        const [ended, asked] = [log.at('work', 'Exiting').atMs, log.at('ship', 'Signal').atMs];
        assert.ok(asked - ended >= LINGER_MS, `${log}`);
        assert.equal(pod.state('ship').killed, false);
      });
});

async function sleep(pod: RunningPod): Promise<void> {
  for (const name of ['work', 'ship']) {
    const { pid1, stderr } = pod.current(name);
    const last = /.*(asleep until something happens|awake again)/s;
    await waitFor(`${name} is asleep`, async () => {
      return stderr().match(last)?.[1]?.startsWith('asleep') && !childrenOf(await pid1()).some(isSupervisor);
    });
  }
}
