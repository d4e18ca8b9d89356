/** R: restart rules of containers. The sidecar is listed before the main, so it is started first. */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { atOnce } from '../helpers/engine.ts';
import { SEXTON } from '../helpers/paths.ts';
import { scenario } from '../helpers/scenario.ts';
import { readTimeline } from '../helpers/timeline.ts';
import { readTombstone } from '../helpers/tombstone.ts';
import { runPod } from './kubelet.ts';
import { AMPLE_MS, after, cast } from './members.ts';

describe('restart rules', { concurrency: atOnce(4) }, () => {
  for (const [id, code, exits, what] of [
    ['R01', 42, [42, 0], 'a main that a rule restarts keeps its sidecar, which ends after its second life'],
    ['R02', 7, [7], 'a main that no rule restarts ends its sidecar'],
  ] as const)
    scenario(`${id} ${what}`, async (stage) => {
      const { main, sidecar } = cast(stage);
      const { scratch } = stage;
      const counter = scratch.path('count');
      const pod = runPod(scratch, {
        restartPolicy: 'Never',
        graceMs: AMPLE_MS,
        containers: [
          sidecar('proxy', {}, ['--mains', 'work']),
          // Behind a gate: on a busy machine its container may be over before that of the sidecar has begun.
          main(
            'work',
            { run: 500, exits: `${code},0`, counter },
            [...after('proxy=started'), '--restart-rules', '42=restart'],
            {
              rules: { 42: 'restart' },
            },
          ),
        ],
      });
      assert.equal(await pod.end(), code === 42 ? 'Succeeded' : 'Failed');
      assert.deepEqual([pod.state('work').exits, pod.state('proxy').exits], [exits, [0]]);
      const log = readTimeline(scratch.log);
      log.exitsBeforeSignalTo('work', 'proxy');
      assert.deepEqual(log.signals('proxy'), [15]);
    });

  for (const [id, begins, how] of [
    ['R05', true, 'sexton begin in an init container'],
    ['R06', false, 'nothing but the rule itself'],
  ] as const)
    scenario(`${id} a sidecar serves a main again after a restart of all, with ${how}`, async (stage) => {
      const { main, sidecar } = cast(stage);
      const { scratch } = stage;
      const { graveyard } = scratch;
      const [counter, other] = [scratch.path('count'), scratch.path('other')];
      const begin = { name: 'begin', bare: true, init: true, command: [SEXTON, 'begin', '--graveyard', graveyard] };
      const pod = runPod(scratch, {
        restartPolicy: 'Never',
        graceMs: AMPLE_MS,
        containers: [
          ...(begins ? [begin] : []),
          sidecar('proxy', {}, ['--mains', 'work']),
          main('work', { runs: '1,2000', counter }),
          main('watch', { runs: '2000,1', exits: '88,0', counter: other }, ['--restart-rules', '88=restart-all'], {
            rules: { 88: 'restart-all' },
          }),
        ],
      });
      assert.equal(await pod.end(), 'Succeeded');
      assert.deepEqual(
        [pod.state('work').exits, pod.state('watch').exits],
        [
          [0, 0],
          [88, 0],
        ],
      );
      assert.equal(pod.state('proxy').exits.length, 2);
      const proxy = readTombstone(graveyard, 'proxy');
      assert.deepEqual([proxy?.Reason, proxy?.Generation !== undefined], ['stopped', begins]);
      const log = readTimeline(scratch.log);
      assert.ok(log.last('work', 'Exiting').index < log.last('proxy', 'Signal').index);
    });
});
