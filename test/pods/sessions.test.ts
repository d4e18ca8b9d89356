/**
 * K, J: pods one after the other on the same volume, as under Compose and podman, or on a node's disk after a reboot.
 * What is left of a life neither stops the next one, nor blocks it, nor shortens its stop.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe } from 'node:test';
import type { Tombstone } from '../../src/core/format/tombstone.ts';
import { atOnce } from '../helpers/engine.ts';
import { type ScenarioOptions, type Stage, scenario } from '../helpers/scenario.ts';
import { readTimeline, waitForEvent } from '../helpers/timeline.ts';
import { readTombstone, waitForTombstone } from '../helpers/tombstone.ts';
import { waitFor } from '../helpers/wait.ts';
import { ageGraveyard, type Pod, type RunningPod, runPod } from './kubelet.ts';
import { AMPLE_MS, cast } from './members.ts';

type Session = string | false;

/** Podman runs a crash and an end, a sidecar first and a main first. The other cases differ by the volume alone. */
const onlyHere = (isInPodman: boolean): ScenarioOptions =>
  isInPodman ? {} : { notInPodman: 'it differs from another case by its volume alone' };

/** What happens to the volume between two lives. */
const BETWEEN: Readonly<Record<string, (graveyard: string) => void>> = {
  nothing: () => {},
  'a reboot': ageGraveyard,
  'a clock set back by 70 years': (graveyard) => rewrite(graveyard, (text) => text.replaceAll(/"20\d\d-/g, '"2099-')),
};

function rewrite(graveyard: string, change: (text: string) => string): void {
  for (const name of readdirSync(graveyard).filter((it) => !it.startsWith('.'))) {
    const file = join(graveyard, name);
    writeFileSync(file, change(readFileSync(file, 'utf8')));
  }
}

function podOf(session: Session, containers: Pod['containers']): Pod {
  return { restartPolicy: 'Never', graceMs: AMPLE_MS, session, containers };
}

/** A main and a sidecar; they end of themselves, or lose power while they run. */
async function firstLife({ scratch, ...stage }: Stage, session: Session, isCrash: boolean): Promise<void> {
  const { main, sidecar, running } = cast({ scratch, ...stage });
  const gate = scratch.path('first');
  const pod = runPod(scratch, podOf(session, [main('work', { after: gate, run: 1 }), sidecar('proxy')]));
  await running('work', 'proxy');
  if (isCrash) await pod.crash();
  else {
    writeFileSync(gate, '');
    assert.equal(await pod.end(), 'Succeeded');
  }
  for (const name of ['work', 'proxy']) {
    assert.equal(readTombstone(scratch.graveyard, name)?.Died === undefined, isCrash, `${name} in its first life`);
  }
  // The barriers of the next life count from here on.
  writeFileSync(scratch.log, '');
}

interface Second {
  /** Both run. */
  readonly pods: readonly RunningPod[];
  end(): Promise<void>;
}

/** `first`: the member that runs before the other one is started. */
async function secondLife(stage: Stage, session: Session, first: 'proxy' | 'work'): Promise<Second> {
  const { scratch } = stage;
  const { main, sidecar } = cast(stage);
  const gate = scratch.path('second');
  const all = { work: main('work', { after: gate, run: 1 }), proxy: sidecar('proxy') };
  const pods: RunningPod[] = [];
  for (const name of [first, first === 'work' ? 'proxy' : 'work'] as const) {
    const before = readTombstone(scratch.graveyard, name)?.Incarnation;
    pods.push(runPod(scratch, podOf(session, [all[name]])));
    await waitForEvent(scratch.log, name, 'Started');
    await waitForTombstone(scratch.graveyard, name, 'runs again', (it) => isBornAgain(it, before));
  }
  return {
    pods,
    end: async () => {
      writeFileSync(gate, '');
      for (const pod of pods) assert.equal(await pod.end(), 'Succeeded');
      const log = readTimeline(scratch.log);
      log.exitsBeforeSignalTo('work', 'proxy');
      assert.deepEqual([log.signals('work'), log.signals('proxy')], [[], [15]]);
      for (const name of ['work', 'proxy']) log.notRestarted(name);
      assert.equal(readTombstone(scratch.graveyard, 'work')?.Reason, 'completed');
      assert.equal(readTombstone(scratch.graveyard, 'proxy')?.StopReason, 'mains finished');
    },
  };
}

function isBornAgain({ Incarnation, Phase, Died }: Tombstone, before: string | undefined): boolean {
  return Incarnation !== before && Phase === 'running' && Died === undefined;
}

describe('two lives on one volume', { concurrency: atOnce(3) }, () => {
  // A sidecar that comes first sees at once that what it finds is not its pod's.
  for (const [sessions, what, isCrash] of [
    [['one', 'two'], 'nothing', false],
    [['one', 'two'], 'nothing', true],
    [['one', 'two'], 'a clock set back by 70 years', false],
    [['one', 'one'], 'a reboot', false],
    [['one', 'one'], 'a reboot', true],
    [[false, false], 'a reboot', true],
  ] as const) {
    const how = `${isCrash ? 'a crash' : 'an end'}, ${what}, ${describeSessions(sessions)}`;
    scenario(
      `K06 after ${how}: the dead neither stop nor hold up a sidecar`,
      async (stage) => {
        await firstLife(stage, sessions[0], isCrash);
        BETWEEN[what]?.(stage.scratch.graveyard);
        await (await secondLife(stage, sessions[1], 'proxy')).end();
      },
      onlyHere(what === 'a reboot' && isCrash && sessions[0] === 'one'),
    );
  }

  // Where nothing distinguishes two lives, only a main that is there again counts.
  for (const [sessions, what, isCrash] of [
    [[false, false], 'nothing', false],
    [[false, false], 'a clock set back by 70 years', true],
    [['one', 'one'], 'nothing', true],
    [['one', 'one'], 'a clock set back by 70 years', false],
    [['one', false], 'nothing', false],
  ] as const) {
    const how = `${isCrash ? 'a crash' : 'an end'}, ${what}, ${describeSessions(sessions)}`;
    scenario(
      `K06 after ${how}: a sidecar serves the new main to its end`,
      async (stage) => {
        await firstLife(stage, sessions[0], isCrash);
        BETWEEN[what]?.(stage.scratch.graveyard);
        await (await secondLife(stage, sessions[1], 'work')).end();
      },
      onlyHere(what === 'nothing' && sessions[0] === false),
    );
  }

  scenario('a main that does not come back after a crash is lost to a sidecar of the same session', async (stage) => {
    await firstLife(stage, 'one', true);
    const { sidecar } = cast(stage);
    assert.equal(await runPod(stage.scratch, podOf('one', [sidecar('proxy')])).end(), 'Succeeded');
    assert.equal(readTombstone(stage.scratch.graveyard, 'proxy')?.StopReason, 'mains finished');
    assert.equal(readTombstone(stage.scratch.graveyard, 'work')?.Died, undefined);
  });

  scenario('a pod in the graveyard of a living one says so, and goes on there once that one is gone', async (stage) => {
    const { scratch } = stage;
    const { main, sidecar, running } = cast(stage);
    const start = (session: string): RunningPod => {
      const work = main('work', { after: scratch.path(session), run: 1 });
      return runPod(scratch, podOf(session, [work, sidecar('proxy')]));
    };
    const first = start('first');
    await running('work', 'proxy');
    const second = start('second');
    const said =
      /a live member of another pod is called (work|proxy) in .*: give each pod a graveyard of its own; no tombstone is written until then/;
    for (const name of ['work', 'proxy'])
      await waitFor(`${name} says so`, () => said.test(second.current(name).stderr()));
    writeFileSync(scratch.path('first'), '');
    assert.equal(await first.end(), 'Succeeded');
    await waitForTombstone(scratch.graveyard, 'work', 'is that of the second', (it) => it.Session === 'second');
    writeFileSync(scratch.path('second'), '');
    assert.equal(await second.end(), 'Succeeded');
  });
});

function describeSessions([first, second]: readonly [Session, Session]): string {
  if (first === second) return first === false ? 'no session declared' : 'the same session';
  return second === false ? 'the first with a session, the second without' : 'another session';
}
