/** What workloads look like under sexton, and without it: the processes and the files of their containers. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { temporaryDirectory } from '../../helpers/temporary.ts';
import { waitFor } from '../../helpers/wait.ts';
import type { Workload } from '../workloads.ts';
import { ask, kubectl } from './api.ts';
import { imageNames } from './images.ts';
import type { PodObject } from './objects.ts';
import { namespace, podsPath } from './watch.ts';

/** Applies manifests, or replaces what cannot be changed, and removes what they made when the test is over. */
export async function applyText(t: TestContext, how: 'apply' | 'replace', text: string): Promise<void> {
  const where = ['--namespace', namespace(), '--filename', fileOf(text)];
  t.after(() => kubectl('delete', ...where, '--ignore-not-found', '--wait=false', '--grace-period=1'));
  await kubectl(how, ...(how === 'replace' ? ['--force', '--grace-period=1'] : []), ...where);
}

export function fileOf(text: string): string {
  const file = join(temporaryDirectory(), 'manifests.yaml');
  writeFileSync(file, text);
  return file;
}

/** Resolves to the only pod of a workload, or to one of several, that runs and stays. */
export function runningPod({ name }: Workload): Promise<PodObject> {
  return waitFor(`a pod of ${name} runs`, async () => {
    const { items } = await ask<{ items: PodObject[] }>('GET', `${podsPath()}?labelSelector=app%3D${name}`);
    const stay = items.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    return stay.find(({ status: { phase, containerStatuses = [] } }) => {
      return phase === 'Running' && containerStatuses.every(({ state }) => state.running !== undefined);
    });
  });
}

/** PID 1 is sexton with that command, reaps what an exec leaves, and asleep needs less than 0.2 MiB. */
export async function assertUnderSexton(workload: Workload): Promise<void> {
  const pod = (await runningPod(workload)).metadata.name;
  for (const [container, command] of Object.entries(workload.members)) {
    const words = await exec(pod, container, 'for i in $(seq 20); do (sleep 0.2 &); done; cat /proc/1/cmdline');
    const argv = words.split('\0').slice(0, -1);
    assert.deepEqual(argv.slice(0, 2), ['/sexton/sexton', 'run'], `PID 1 of ${workload.name} ${container}`);
    assert.deepEqual(argv.slice(argv.indexOf('--') + 1), command, `the command of ${workload.name} ${container}`);
    // Its only child is the command: there is no zombie, no orphan and no supervisor.
    assert.equal(
      await childrenOfInit(pod, container, 'S'),
      'S',
      `the children of PID 1 of ${workload.name} ${container}`,
    );
    const rollup = await exec(pod, container, 'cat /proc/1/smaps_rollup');
    const sizes = [...rollup.matchAll(/^Private_\w+: +(\d+) kB$/gm)].map(([, digits]) => Number(digits));
    const kib = sizes.reduce((sum, size) => sum + size, 0);
    assert.ok(kib > 0 && kib < 0.2 * 1024, `PID 1 of ${workload.name} ${container} has ${kib} KiB of its own`);
  }
}

/** Nothing of sexton is in the pod, and PID 1 is a command that does not reap. */
export async function assertWithoutSexton(workload: Workload): Promise<void> {
  const { metadata, spec } = await runningPod(workload);
  const text = JSON.stringify(spec).replaceAll(imageNames().plain, '');
  assert.doesNotMatch(text, /sexton|graveyard/i);
  for (const [container, command] of Object.entries(workload.members)) {
    const said = await exec(metadata.name, container, 'ls /; tr "\\0" "\\n" </proc/1/cmdline');
    assert.doesNotMatch(said, /sexton|graveyard/, `${workload.name} ${container}`);
    if (command[0] !== '/bin/orphan') continue;
    assert.match(
      await childrenOfInit(metadata.name, container, '*Z*'),
      /Z/,
      `zombies of ${workload.name} ${container}`,
    );
  }
}

/**
 * The states of the children of PID 1 (proc_pid_stat(5)), in one word: as soon as that is `wanted`, or after 30 s. A
 * process may end while it is read.
 */
async function childrenOfInit(pod: string, container: string, wanted: string): Promise<string> {
  const states = `cat /proc/[0-9]*/stat 2>/dev/null | sed -n 's/.*) \\(.\\) 1 .*/\\1/p' | tr -d '\\n'`;
  const isOver = `case "$s" in ${wanted}) true ;; *) [ $n = 300 ] ;; esac`;
  const script = `n=0; until s=$(${states}); ${isOver}; do n=$((n + 1)); sleep 0.1; done; echo "$s"`;
  return (await exec(pod, container, script)).trim();
}

function exec(pod: string, container: string, script: string): Promise<string> {
  return kubectl('exec', '--namespace', namespace(), pod, '--container', container, '--', 'sh', '-c', script);
}
