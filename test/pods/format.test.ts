/** C01, the format: members under kubexit and under sexton in one graveyard see each other's deaths. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe } from 'node:test';
import { atOnce, byEngine } from '../helpers/engine.ts';
import { member } from '../helpers/member.ts';
import { FIXTURE_SOURCES, NODE, PORTABLE_NODE, ROOT } from '../helpers/paths.ts';
import { type Stage, scenario } from '../helpers/scenario.ts';
import { readTimeline } from '../helpers/timeline.ts';
import { type PodContainer, runPod } from './kubelet.ts';
import { AMPLE_MS, cast } from './members.ts';

/** A Node that runs where the members do: the images have no C library for the tests' own. */
function nodeCommand(): readonly string[] {
  return byEngine({ namespaces: [NODE], podman: PORTABLE_NODE });
}

function underKubexit(
  stage: Stage,
  name: string,
  options: Record<string, string | number>,
  dependencies = '-',
): PodContainer {
  const kubexit = [...nodeCommand(), join(FIXTURE_SOURCES, 'kubexit.ts'), name, stage.scratch.graveyard, dependencies];
  return { name, bare: true, command: [...kubexit, ...member(stage, name, options)], sees: [ROOT] };
}

describe('kubexit’s format', { concurrency: atOnce(4) }, () => {
  for (const session of ['a-pod', false] as const) {
    const declared = session === false ? 'without a session' : 'with a session';
    scenario(`C01 a sidecar under sexton ends after its main under kubexit, ${declared}`, async (stage) => {
      const { sidecar, served, serves } = cast(stage);
      const work = underKubexit(stage, 'work', { run: 300, ...served });
      const containers = [work, sidecar('proxy', serves, ['--mains', 'work'])];
      const pod = runPod(stage.scratch, { restartPolicy: 'Never', graceMs: AMPLE_MS, session, containers });
      assert.equal(await pod.end(), 'Succeeded');
      const log = readTimeline(stage.scratch.log);
      log.exitsBeforeSignalTo('work', 'proxy');
      log.notRestarted('proxy');
    });
  }

  scenario('C01 a sidecar under kubexit ends after its main under sexton', async (stage) => {
    const { main, served, serves } = cast(stage);
    const containers = [main('work', { run: 300, ...served }), underKubexit(stage, 'proxy', serves, 'work')];
    const pod = runPod(stage.scratch, { restartPolicy: 'Never', graceMs: AMPLE_MS, containers });
    assert.equal(await pod.end(), 'Succeeded');
    readTimeline(stage.scratch.log).exitsBeforeSignalTo('work', 'proxy');
  });

  scenario('C01 under OnFailure a failure that kubexit wrote is not the end', async (stage) => {
    const { sidecar, served, serves } = cast(stage);
    const { scratch } = stage;
    const failing = { run: 300, exits: '1,0', counter: scratch.path('count'), ...served };
    const containers = [underKubexit(stage, 'work', failing), sidecar('proxy', serves, ['--mains', 'work'])];
    const pod = runPod(scratch, { restartPolicy: 'OnFailure', graceMs: AMPLE_MS, containers });
    assert.equal(await pod.end(), 'Succeeded');
    assert.deepEqual([pod.state('work').exits, pod.state('proxy').exits], [[1, 0], [0]]);
    readTimeline(scratch.log).exitsBeforeSignalTo('work', 'proxy');
  });
});
