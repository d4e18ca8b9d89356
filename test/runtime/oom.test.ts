import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { candidatesIn, countIn } from '../../src/runtime/oom.ts';
import { makeCgroup, whyNoCgroup } from '../helpers/cgroup.ts';
import { tempGraveyard } from '../helpers/scratch.ts';
import { within } from '../helpers/wait.ts';
import { Helper } from './graveyard/volume.ts';

const OOM = join(import.meta.dirname, '../../src/runtime/oom.ts');

test('the count is read from memory.events and from memory.oom_control', () => {
  assert.equal(countIn('low 0\nhigh 0\nmax 12\noom 3\noom_kill 2\noom_group_kill 1\n'), 2);
  assert.equal(countIn('oom_kill_disable 0\nunder_oom 0\noom_kill 7\n'), 7);
  assert.equal(countIn('oom_kill_disable 0\nunder_oom 0\n'), undefined, 'Linux before 4.13');
  assert.equal(countIn(''), undefined);
});

test('the file is looked for in the cgroup, and at the root of the mount as in a container', () => {
  const v1 = '9:name=systemd:/docker/a\n4:memory:/docker/a\n0::/';
  assert.deepEqual(candidatesIn(v1), [
    '/sys/fs/cgroup/memory/docker/a/memory.oom_control',
    '/sys/fs/cgroup/memory/memory.oom_control',
  ]);
  assert.deepEqual(candidatesIn('6:cpu,memory:/\n'), ['/sys/fs/cgroup/memory/memory.oom_control']);
  assert.deepEqual(candidatesIn('0::/kubepods/pod1/c:1\n'), [
    '/sys/fs/cgroup/kubepods/pod1/c:1/memory.events',
    '/sys/fs/cgroup/memory.events',
  ]);
  assert.deepEqual(candidatesIn('0::/\n'), ['/sys/fs/cgroup/memory.events']);
  assert.deepEqual(candidatesIn('0::/../other\n'), ['/sys/fs/cgroup/memory.events']);
  assert.deepEqual(candidatesIn(''), []);
  assert.deepEqual(candidatesIn('nonsense'), []);
});

test('each process of this cgroup that the kernel kills for want of memory counts', {
  skip: whyNoCgroup('memory') ?? false,
}, async (t) => {
  const helper = new Helper(t, eater());
  // After the helper, so that it is removed after that has ended.
  const group = makeCgroup(await tempGraveyard(t), 'memory');
  group.limit(128 * 1024 * 1024);
  // The helper must be in the group with the limit before its child takes memory.
  assert.equal(await within('the first line', helper.line()), 'here');
  writeFileSync(join(group.dir, 'cgroup.procs'), String(helper.process.pid));
  helper.send('count');
  assert.equal(await within('the first count', helper.line()), '0');
  helper.send('eat');
  assert.equal(await within('the end of the eater', helper.line()), 'SIGKILL');
  assert.equal(await within('the count after it', helper.line()), '1');
});

/** Eats in a child, which the kernel prefers as it is the larger one. */
function eater(): string {
  return `
    import { spawn } from 'node:child_process';
    import { createInterface } from 'node:readline';
    import { readOomKills } from ${JSON.stringify(OOM)};
    console.log('here');
    createInterface({ input: process.stdin }).on('line', (line) => {
      if (line === 'count') return console.log(readOomKills());
      const child = spawn('sh', ['-c', 'echo 1000 >/proc/self/oom_score_adj; exec tail /dev/zero'], { stdio: 'ignore' });
      child.on('exit', (code, signal) => {
        console.log(signal ?? code);
        console.log(readOomKills());
      });
    });`;
}
