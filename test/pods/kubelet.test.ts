/**
 * The stand-in kubelet itself: it must do to a pod what the real one does, or the pod tests show nothing. The containers
 * here run the fixture application as PID 1, without sexton.
 */
import assert from 'node:assert/strict';
import { readlinkSync } from 'node:fs';
import { describe } from 'node:test';
import { atOnce } from '../helpers/engine.ts';
import { member } from '../helpers/member.ts';
import { hasEnded, processesNaming } from '../helpers/process.ts';
import { type Stage, scenario } from '../helpers/scenario.ts';
import { readTimeline, waitForEvent } from '../helpers/timeline.ts';
import { type PodContainer, runPod } from './kubelet.ts';

function bare(stage: Stage, name: string, options: Record<string, string | number>, more: Partial<PodContainer> = {}) {
  return { name, bare: true, command: member(stage, name, options), ...more };
}

describe('the stand-in kubelet', { concurrency: atOnce(4) }, () => {
  scenario('runs predecessors one by one and then all others', async (stage) => {
    const { scratch } = stage;
    const pod = runPod(scratch, {
      restartPolicy: 'Never',
      graceMs: 3_000,
      containers: [
        bare(stage, 'a', { run: 300 }),
        bare(stage, 'one', { run: 50 }, { init: true }),
        bare(stage, 'two', { run: 50 }, { init: true }),
        bare(stage, 'b', { run: 300 }),
      ],
    });
    assert.equal(await pod.end(), 'Succeeded');
    const log = readTimeline(scratch.log);
    log.endsBeforeStartOf('one', 'two');
    log.endsBeforeStartOf('two', 'a');
    log.endsBeforeStartOf('two', 'b');
    log.runTogether('a', 'b');
  });

  scenario('fails a pod whose predecessor fails under Never, and starts nothing else', async (stage) => {
    const containers = [bare(stage, 'one', { run: 20, exit: 3 }, { init: true }), bare(stage, 'main', { run: 20 })];
    const pod = runPod(stage.scratch, { restartPolicy: 'Never', graceMs: 3_000, containers });
    assert.equal(await pod.end(), 'Failed');
    assert.equal(pod.exitOf('one'), 3);
    readTimeline(stage.scratch.log).neverStarted('main');
  });

  scenario('starts a container again after a failure under OnFailure, not after a success', async (stage) => {
    const options = { run: 30, exits: '1,2,0', counter: stage.scratch.path('count') };
    const pod = runPod(stage.scratch, {
      restartPolicy: 'OnFailure',
      graceMs: 3_000,
      containers: [bare(stage, 'main', options)],
    });
    assert.equal(await pod.end(), 'Succeeded');
    const { name, running, exits, restarts, killed } = pod.state('main');
    assert.deepEqual(
      { name, running, exits, restarts, killed },
      { name: 'main', running: false, exits: [1, 2, 0], restarts: 2, killed: false },
    );
  });

  scenario('starts a container again after every end under Always, until the pod is deleted', async (stage) => {
    const { scratch } = stage;
    const pod = runPod(scratch, {
      restartPolicy: 'Always',
      graceMs: 3_000,
      containers: [bare(stage, 'main', { runs: '20,20,0', counter: scratch.path('count') })],
    });
    await waitForEvent(scratch.log, 'main', 'Started', 3);
    assert.equal(pod.phase(), 'Running');
    await pod.delete();
    assert.deepEqual(pod.state('main').exits, [0, 0, 0]);
  });

  scenario('sends TERM to all at once on deletion, but to one with a preStop after that', async (stage) => {
    const { scratch } = stage;
    const pod = runPod(scratch, {
      restartPolicy: 'Always',
      graceMs: 5_000,
      containers: [
        bare(stage, 'late', {}, { preStopMs: 500 }),
        bare(stage, 'a', { term: 200 }),
        bare(stage, 'b', { term: 200 }),
      ],
    });
    for (const name of ['late', 'a', 'b']) await waitForEvent(scratch.log, name, 'Started');
    await pod.delete();
    const log = readTimeline(scratch.log);
    log.exitsBeforeSignalTo('a', 'late');
    log.exitsBeforeSignalTo('b', 'late');
    assert.ok(log.at('b', 'Signal').index < log.at('a', 'Exiting').index, 'a and b were asked together');
    assert.ok(log.at('a', 'Signal').index < log.at('b', 'Exiting').index, 'a and b were asked together');
    assert.deepEqual(log.signals('late'), [15]);
  });

  scenario('kills the whole namespace at the grace period, also what ignores TERM and its children', async (stage) => {
    const { scratch } = stage;
    const pod = runPod(scratch, {
      restartPolicy: 'Always',
      graceMs: 600,
      containers: [bare(stage, 'main', { ignore: 'TERM', grandchild: 60_000 })],
    });
    await waitForEvent(scratch.log, 'main', 'Started');
    const pid = await pod.current('main').pid1();
    const inside = () => processesNaming(scratch.dir).filter((it) => namespaceOf(it.pid) === namespace);
    const namespace = namespaceOf(pid);
    const all = inside();
    assert.equal(all.length, 2, 'the member and its child run');
    assert.equal(await pod.delete(), 'Failed');
    assert.equal(pod.exitOf('main'), 137);
    assert.ok(pod.state('main').killed);
    assert.ok(hasEnded(pid));
    assert.ok(all.every((it) => hasEnded(it.pid)));
    assert.deepEqual(inside(), []);
    assert.deepEqual(readTimeline(scratch.log).signals('main'), [15]);
  });

  scenario('lets everything vanish at once in a crash', async (stage) => {
    const { scratch } = stage;
    const pod = runPod(scratch, {
      restartPolicy: 'Always',
      graceMs: 3_000,
      containers: [bare(stage, 'a', {}), bare(stage, 'b', {})],
    });
    for (const name of ['a', 'b']) await waitForEvent(scratch.log, name, 'Started');
    await pod.crash();
    assert.equal(readTimeline(scratch.log).of('a', 'Exiting').length, 0);
    assert.deepEqual([pod.exitOf('a'), pod.exitOf('b')], [137, 137]);
  });
});

function namespaceOf(pid: number): string {
  try {
    return readlinkSync(`/proc/${pid}/ns/pid`);
  } catch {
    // It has ended meanwhile.
    return '';
  }
}
