/**
 * N: startup, readiness and liveness probes in pods of real processes. A probe looks whether a file is there, so a test
 * decides when it is good; each of its runs stands in the shared log.
 */
import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { describe } from 'node:test';
import { atOnce } from '../helpers/engine.ts';
import { scenario } from '../helpers/scenario.ts';
import { readTimeline, waitForEvent } from '../helpers/timeline.ts';
import { readTombstone, waitForRunning, waitForTombstone } from '../helpers/tombstone.ts';
import { waitFor } from '../helpers/wait.ts';
import { runPod } from './kubelet.ts';
import { AMPLE_MS, after, cast } from './members.ts';

describe('probes', { concurrency: atOnce(4) }, () => {
  for (const kind of ['startup', 'liveness'] as const) {
    scenario(`N07 pre-stop runs when a ${kind} probe fails, and then the child is stopped`, async (stage) => {
      const { main, hook, probe } = cast(stage);
      const { scratch } = stage;
      const good = scratch.path('good');
      if (kind === 'liveness') writeFileSync(good, '');
      const hooks = ['--pre-stop', hook('work.hook', { run: 1 })];
      const containers = [main('work', {}, [`--${kind}`, probe(`work.${kind}`, good), ...hooks])];
      const pod = runPod(scratch, { restartPolicy: 'Never', graceMs: AMPLE_MS, containers });
      await waitForEvent(scratch.log, 'work', 'Started');
      await waitForEvent(scratch.log, `work.${kind}`, 'Probed');
      rmSync(good, { force: true });
      await pod.end();
      const log = readTimeline(scratch.log);
      log.exitsBeforeSignalTo('work.hook', 'work');
      assert.equal(log.last(`work.${kind}`, 'Probed').detail, '1');
      assert.deepEqual(log.signals('work'), [15]);
      log.notRestarted('work');
      const { Reason, StopReason } = readTombstone(scratch.graveyard, 'work') ?? {};
      assert.deepEqual([Reason, StopReason], ['stopped', kind]);
    });
  }

  scenario('N08 readiness runs during pre-stop, liveness of a main does not', async (stage) => {
    const { main, hook, probe } = cast(stage);
    const { scratch } = stage;
    const [good, go] = [scratch.path('good'), scratch.path('go')];
    writeFileSync(good, '');
    const flags = ['--readiness', probe('work.readiness', good), '--liveness', probe('work.liveness', good)];
    const containers = [main('work', {}, [...flags, '--pre-stop', hook('work.hook', { after: go, run: 1 })])];
    const pod = runPod(scratch, { restartPolicy: 'Never', graceMs: AMPLE_MS, containers });
    for (const name of ['work.readiness', 'work.liveness']) await waitForEvent(scratch.log, name, 'Probed', 2);
    const deletion = pod.delete(AMPLE_MS - 10_000);
    await waitForEvent(scratch.log, 'work.hook', 'Started');
    const runs = (name: string): number => readTimeline(scratch.log).of(name, 'Probed').length;
    // One that ran when it was ended may have been about to say so.
    await waitForEvent(scratch.log, 'work.readiness', 'Probed', runs('work.readiness') + 2);
    const before = runs('work.liveness');
    await waitForEvent(scratch.log, 'work.readiness', 'Probed', runs('work.readiness') + 3);
    assert.equal(runs('work.liveness'), before);
    // The member is no longer healthy, and still runs.
    rmSync(good);
    await waitForTombstone(scratch.graveyard, 'work', 'is not healthy', (it) => it.Healthy === undefined);
    assert.deepEqual(readTimeline(scratch.log).signals('work'), []);
    writeFileSync(go, '');
    assert.equal(await deletion, 'Succeeded');
    readTimeline(scratch.log).exitsBeforeSignalTo('work.hook', 'work');
  });

  scenario('N09 a sidecar’s liveness goes on during a main’s pre-stop, and it is restarted', async (stage) => {
    const { main, sidecar, hook, probe, running } = cast(stage);
    const { scratch } = stage;
    const [good, go, goOn] = [scratch.path('good'), scratch.path('go'), scratch.path('go-on')];
    writeFileSync(good, '');
    const ending = ['--pre-stop', hook('proxy.hook', { after: goOn, run: 1 })];
    const containers = [
      sidecar('proxy', {}, ['--liveness', probe('proxy.liveness', good), ...ending]),
      main('work', {}, ['--pre-stop', hook('work.hook', { after: go, run: 1 })]),
    ];
    const pod = runPod(scratch, { restartPolicy: 'Always', graceMs: AMPLE_MS, containers });
    await running('proxy', 'work');
    const deletion = pod.delete(AMPLE_MS - 10_000);
    await waitForEvent(scratch.log, 'work.hook', 'Started');
    await waitForTombstone(scratch.graveyard, 'proxy', 'holds', (it) => it.Phase === 'holding');
    rmSync(good);
    // Good again before the next life begins, or that would fail as well.
    await waitForEvent(scratch.log, 'proxy.hook', 'Started');
    writeFileSync(good, '');
    writeFileSync(goOn, '');
    await waitForEvent(scratch.log, 'proxy', 'Started', 2);
    // The second life is probed as well, and good.
    const runs = readTimeline(scratch.log).of('proxy.liveness', 'Probed').length;
    await waitForEvent(scratch.log, 'proxy.liveness', 'Probed', runs + 2);
    assert.deepEqual(readTimeline(scratch.log).signals('work'), [], 'the main still drains');
    writeFileSync(go, '');
    assert.equal(await deletion, 'Succeeded');
    const log = readTimeline(scratch.log);
    assert.deepEqual([log.of('proxy', 'Starting').length, log.signals('proxy')], [2, [15, 15]]);
    log.exitsBefore('work', 'proxy');
    assert.ok(log.last('work', 'Exiting').index < log.last('proxy', 'Signal').index);
  });

  scenario('N15 sidecars start one after the other, each when the startup probe of the last is good', async (stage) => {
    const { main, sidecar, probe, served, open, running } = cast(stage);
    const { scratch } = stage;
    const up = (name: string) => ['--startup', probe(`${name}.startup`, scratch.path(name), UNTIL_GOOD)];
    const containers = [
      main('work', { run: 1, ...served }, after('s2=started')),
      sidecar('s2', {}, [...up('s2'), ...after('s1=started')]),
      sidecar('s1', {}, up('s1')),
    ];
    const pod = runPod(scratch, { restartPolicy: 'Never', graceMs: AMPLE_MS, containers });
    for (const [first, next] of [
      ['s1', 's2'],
      ['s2', 'work'],
    ] as const) {
      await waitForEvent(scratch.log, first, 'Started');
      await waitForEvent(scratch.log, `${first}.startup`, 'Probed', 2);
      const waits = new RegExp(`${first}=started \\(it has not started\\)`);
      await waitFor(`${next} waits`, () => waits.test(pod.current(next).stderr()));
      readTimeline(scratch.log).neverStarted(next);
      writeFileSync(scratch.path(first), '');
    }
    await running('s1', 's2', 'work');
    open();
    assert.equal(await pod.end(), 'Succeeded');
    const log = readTimeline(scratch.log);
    for (const name of ['s1', 's2', 'work']) log.notRestarted(name);
    log.exitsBeforeSignalTo('work', 's2');
    log.exitsBeforeSignalTo('s2', 's1');
  });

  scenario('N16 N29 a failing startup probe restarts its member, and start gates wait for it', async (stage) => {
    const { main, sidecar, hook, probe, served, open, running } = cast(stage);
    const { scratch } = stage;
    const good = scratch.path('good');
    const flags = ['--startup', probe('proxy.startup', good)];
    const containers = [
      sidecar('proxy', {}, [...flags, '--pre-stop', hook('proxy.hook', { run: 1 })]),
      main('work', { run: 1, ...served }, after('proxy=started')),
    ];
    const pod = runPod(scratch, { restartPolicy: 'Never', graceMs: AMPLE_MS, containers });
    await waitForEvent(scratch.log, 'proxy', 'Starting', 3);
    readTimeline(scratch.log).neverStarted('work');
    writeFileSync(good, '');
    await running('proxy', 'work');
    open();
    assert.equal(await pod.end(), 'Succeeded');
    const log = readTimeline(scratch.log);
    log.notRestarted('work');
    assert.ok(log.last('proxy', 'Starting').index < log.at('work', 'Starting').index);
    assert.ok(log.last('work', 'Exiting').index < log.last('proxy', 'Signal').index);
    const story = log.events.filter((it) => ['proxy', 'proxy.hook'].includes(it.name));
    const words = story.map((it) => `${it.name} ${it.event}`).filter((it) => / (Starting|Exiting|Signal)$/.test(it));
    const life = ['proxy Starting', 'proxy.hook Starting', 'proxy.hook Exiting', 'proxy Signal', 'proxy Exiting'];
    assert.deepEqual(words.slice(0, 10), [...life, ...life]);
    assert.equal(pod.state('proxy').restarts, 0, 'all in one container');
  });

  scenario('N17 when liveness fails: pre-stop, restart, and the main still starts', async (stage) => {
    const { main, sidecar, hook, probe, served, open, running } = cast(stage);
    const { scratch } = stage;
    const [good, ready, goOn] = [scratch.path('good'), scratch.path('ready'), scratch.path('go-on')];
    writeFileSync(good, '');
    const probes = ['--liveness', probe('proxy.liveness', good), '--readiness', probe('proxy.readiness', ready)];
    const containers = [
      sidecar('proxy', {}, [...probes, '--pre-stop', hook('proxy.hook', { after: goOn, run: 1 })]),
      main('work', { run: 1, ...served }, after('proxy=healthy')),
    ];
    const pod = runPod(scratch, { restartPolicy: 'Never', graceMs: AMPLE_MS, containers });
    await waitForEvent(scratch.log, 'proxy', 'Started');
    await waitForRunning(scratch.graveyard, ['proxy']);
    rmSync(good);
    await waitForEvent(scratch.log, 'proxy.hook', 'Started');
    writeFileSync(good, '');
    writeFileSync(goOn, '');
    await waitForEvent(scratch.log, 'proxy', 'Started', 2);
    readTimeline(scratch.log).neverStarted('work');
    writeFileSync(ready, '');
    await running('work');
    open();
    assert.equal(await pod.end(), 'Succeeded');
    const log = readTimeline(scratch.log);
    assert.ok(log.at('proxy.hook', 'Exiting').index < log.at('proxy', 'Signal').index);
    assert.deepEqual([log.of('proxy', 'Starting').length, log.signals('proxy')], [2, [15, 15]]);
    const { Restarts, Reason } = readTombstone(scratch.graveyard, 'proxy') ?? {};
    assert.deepEqual([Restarts, Reason, pod.state('proxy').restarts], [1, 'stopped', 0]);
  });
});

/** A startup probe that fails for as long as the test likes. */
const UNTIL_GOOD = 'period=100ms,timeout=30s,failures=1000';
