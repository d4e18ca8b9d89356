/** A container with so little CPU, and a command so greedy, that Node takes half a minute to start. */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { makeCgroup, whyNoCgroup } from '../helpers/cgroup.ts';
import { startContainer } from '../helpers/container.ts';
import { member } from '../helpers/member.ts';
import { scenario } from '../helpers/scenario.ts';
import { readTimeline, waitForEvent } from '../helpers/timeline.ts';

const missing = whyNoCgroup('cpu');
const LOOPS = 'for loop in 1 2 3 4 5 6 7 8; do (while :; do :; done) & done; exec "$@"';

describe('with 50m of CPU and eight busy loops', { skip: missing ?? false }, () => {
  scenario(
    'A4 the first TERM reaches a command before its supervisor has started',
    async (stage) => {
      const { scratch } = stage;
      const cgroup = makeCgroup(scratch, 'cpu');
      cgroup.limit(5_000);
      const container = startContainer(scratch, {
        flags: ['--log-level', 'info'],
        inside: ['sh', '-c', `echo 0 >${cgroup.dir}/cgroup.procs; exec "$@"`, 'sh'],
        command: ['sh', '-c', LOOPS, 'sh', ...member(stage, 'app')],
      });
      await waitForEvent(scratch.log, 'app', 'Started');
      await container.signal('SIGTERM');
      await waitForEvent(scratch.log, 'app', 'Signal');
      assert.equal(container.stderr(), '', 'the supervisor is not there yet');
      assert.equal((await container.exit()).status, 0, container.stderr());
      assert.deepEqual(readTimeline(scratch.log).signals('app'), [15]);
      assert.match(container.stderr(), /asked to stop/);
    },
    { notInPodman: 'its container sees no cgroup that it could enter' },
  );
});
