/** A node's graceful shutdown, by a real systemd-logind. It stops all pods of the node: alone, and on request only. */
import assert from 'node:assert/strict';
import { clusterTest } from './helpers/case.ts';
import { podOf, SIDECAR } from './helpers/members.ts';
import { startPod } from './helpers/pod.ts';
import { Shutdown, whyNoShutdown } from './helpers/shutdown.ts';

const drain = (atLeast: string): string[] => ['--drain', `min=${atLeast},quiet=5s,max=50s`];
const FOR_PODS = 10;

clusterTest(
  'C3: at a node shutdown members with a grace floor get TERM; others report unfinished work',
  async (t) => {
    const shutdown = new Shutdown();
    t.after(() => shutdown.end());
    await shutdown.begin(FOR_PODS, 5);
    const pods = await Promise.all(
      [drain('40s'), [...drain('9s'), '--grace-floor', `${FOR_PODS}s`]].map((flags) =>
        startPod(
          t,
          'shutdown',
          podOf({
            graceSeconds: 60,
            members: [
              { name: 'proxy', flags: [...SIDECAR, ...flags.slice(2)] },
              { name: 'main', flags: ['--start-after', 'proxy=started', ...flags] },
            ],
          }),
        ),
      ),
    );
    const [without, withFloor] = pods;
    assert.ok(without !== undefined && withFloor !== undefined);
    for (const pod of pods) await pod.untilStarted('proxy', 'main');
    shutdown.powerOff();
    for (const pod of pods) await pod.untilEnded();
    assert.deepEqual([withFloor.timeline.signals('main'), withFloor.timeline.signals('proxy')], [[15], [15]]);
    withFloor.timeline.exitsBeforeSignalTo('main', 'proxy');
    assert.deepEqual([without.timeline.signals('main'), without.timeline.signals('proxy')], [[], []]);
    assert.deepEqual([without.message('main').Unfinished, without.message('proxy').Unfinished], ['drain', 'hold']);
    t.diagnostic(`without: ${without.message('main').Summary}`);
    t.diagnostic(`with a floor: ${withFloor.message('main').Summary}; ${withFloor.message('proxy').Summary}`);
  },
  whyNoShutdown,
);
