/** Containers of one kernel with boot ids of their own, as under LXC: a file is mounted over the kernel's in /proc. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { describe } from 'node:test';
import { type Stage, scenario } from '../helpers/scenario.ts';
import { readTimeline } from '../helpers/timeline.ts';
import { readTombstone } from '../helpers/tombstone.ts';
import { runPod } from './kubelet.ts';
import { after, cast } from './members.ts';

describe('a boot id of its own for each container', () => {
  scenario(
    'A9 members with different boot ids start and stop as under one',
    async (stage) => {
      const { main, sidecar } = cast(stage);
      const { scratch } = stage;
      const pod = runPod(scratch, {
        restartPolicy: 'Never',
        graceMs: 300_000,
        containers: [
          sidecar('proxy', {}, ['--mains', 'work'], { inside: withBootId(stage, 'proxy') }),
          main('work', { run: 200, exit: 0 }, after('proxy=started'), { inside: withBootId(stage, 'work') }),
        ],
      });
      assert.equal(await pod.end(), 'Succeeded');
      const [work, proxy] = ['work', 'proxy'].map((name) => readTombstone(scratch.graveyard, name));
      assert.notEqual(work?.Boot, proxy?.Boot);
      assert.deepEqual([work?.Reason, proxy?.StopReason], ['completed', 'mains finished']);
      readTimeline(scratch.log).exitsBeforeSignalTo('work', 'proxy');
    },
    { notInPodman: 'a container of podman may not mount over /proc' },
  );
});

function withBootId({ scratch }: Stage, name: string): readonly string[] {
  const file = scratch.path(`boot-${name}`);
  writeFileSync(file, `${randomUUID()}\n`);
  return ['sh', '-c', `mount --bind ${file} /proc/sys/kernel/random/boot_id && exec "$@"`, 'sh'];
}
