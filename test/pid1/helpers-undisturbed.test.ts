/**
 * P12 with probes and hooks: the supervisor is killed at any moment while they run. The hook is run once and its end is
 * heard, the stop keeps its deadline, probes go on, and nothing is restarted.
 *
 * TEST_ROUNDS lives (12 by default, 4 in podman), TEST_SEED for the same ones again.
 */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { startContainer } from '../helpers/container.ts';
import { type MemberOptions, member } from '../helpers/member.ts';
import { argumentsOf, childrenOf } from '../helpers/process.ts';
import { chance, inRounds, roundsOr, SEED } from '../helpers/rounds.ts';
import { type Stage, scenario } from '../helpers/scenario.ts';
import { killSupervisors } from '../helpers/supervisor-kills.ts';
import { readTimeline, waitForEvent } from '../helpers/timeline.ts';
import { readTombstone, waitForTombstone } from '../helpers/tombstone.ts';
import { waitFor } from '../helpers/wait.ts';

const MINUTES = 60_000;
const GRACE_MS = 25_000;
const KILLS = 3;

describe('a supervisor that is killed while probes and hooks run', () => {
  scenario(
    'P12 N33 kills of the supervisor leave hooks, probes and the deadline as they were',
    async (stage) => {
      const rounds = roundsOr(12, 4);
      let hits = 0;
      await inRounds(rounds, 3, async (index) => {
        const count = await live(stage, `a${index}`, chance(SEED + index));
        hits += count;
      });
      stage.t.diagnostic(`P12: ${rounds} lives, ${hits} kills, seed ${SEED}`);
      assert.ok(hits > 2 * rounds, `${hits} kills in ${rounds} lives`);
    },
    { timeoutMs: 6 * MINUTES },
  );
});

/** Resolves to how many supervisors it killed. */
async function live(stage: Stage, name: string, random: () => number): Promise<number> {
  const { log } = stage.scratch;
  // Each life has its own graveyard, as members of one graveyard share the earliest deadline.
  const graveyard = stage.scratch.path(`graveyard-${name}`);
  const command = (part: string, options: MemberOptions) => member(stage, `${name}.${part}`, options).join(' ');
  const probe = `exec:${command('probe', { run: 1 })},period=300ms,timeout=30s`;
  const flags = [
    ...['--name', name, '--graveyard', graveyard, '--restart-policy', 'Never', '--grace-period', `${GRACE_MS}ms`],
    ...[
      '--restart',
      'always',
      '--liveness',
      probe,
      '--readiness',
      `exec:${command('slow', { run: 400 })},period=500ms,timeout=30s`,
    ],
    ...[
      '--post-start',
      `exec:${command('begin', { run: 400 })}`,
      '--pre-stop',
      `exec:${command('bye', { run: 1_200 })}`,
    ],
  ];
  const container = startContainer(stage.scratch, {
    name,
    flags,
    command: member(stage, name, { term: 100, exit: 7 }),
  });

  const early = await killSupervisors(container, random, KILLS);
  await waitForTombstone(graveyard, name, 'is healthy', (it) => it.Healthy !== undefined);
  const before = readTimeline(log).of(`${name}.probe`, 'Starting').length;
  await waitForEvent(log, `${name}.probe`, 'Starting', before + 2);
  const pid1 = await container.pid1();
  const helpers = () => childrenOf(pid1).filter((pid) => argumentsOf(pid).some((it) => it.startsWith(`name=${name}.`)));
  // Those that were begun before a kill end as well; between two probes there is none.
  await waitFor('no command of a probe or hook is left', () => helpers().length === 0);

  await sleep(random() * 300);
  await container.signal('SIGTERM');
  const killing = killSupervisors(container, random, KILLS);
  const { Deadline } = await waitForTombstone(graveyard, name, 'has a deadline', (it) => it.Deadline !== undefined);
  const late = await killing;
  assert.equal((await container.exit()).status, 7, name);

  const timeline = readTimeline(log);
  timeline.notRestarted(name);
  for (const part of ['begin', 'bye'])
    assert.deepEqual(
      ['Starting', 'Exiting'].map((event) => timeline.of(`${name}.${part}`, event).length),
      [1, 1],
      `${name}.${part}`,
    );
  timeline.exitsBeforeSignalTo(`${name}.bye`, name);
  assert.deepEqual(timeline.signals(name), [15], name);
  const tombstone = readTombstone(graveyard, name);
  assert.equal(tombstone?.Deadline, Deadline, name);
  assert.deepEqual([tombstone?.Reason, tombstone?.ExitCode, tombstone?.Restarts ?? 0], ['stopped', 7, 0], name);
  const ends = (tombstone?.History ?? []).filter((it) => it.Event === 'hook ended');
  assert.deepEqual(
    ends.map(({ Hook, Result }) => [Hook, Result]),
    [
      ['post-start', 'success'],
      ['pre-stop', 'success'],
    ],
    name,
  );
  return early + late;
}
