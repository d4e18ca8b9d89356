/**
 * P12: the supervisor is killed at any moment and comes back; the application, the tombstone and the exit code do not
 * notice.
 *
 * TEST_ROUNDS kills in all (60 by default, 12 in podman, 500 for the full case), in lives of about five, some at a
 * time.
 */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { AWAKE, type Container, startContainer } from '../helpers/container.ts';
import { type MemberOptions, member } from '../helpers/member.ts';
import { chance, inRounds, roundsOr, SEED } from '../helpers/rounds.ts';
import { type Stage, scenario } from '../helpers/scenario.ts';
import { killSupervisors } from '../helpers/supervisor-kills.ts';
import { readTimeline, waitForEvent } from '../helpers/timeline.ts';
import { readTombstone } from '../helpers/tombstone.ts';

const KILLS_PER_LIFE = 5;
const MINUTES = 60_000;

interface Life {
  readonly stage: Stage;
  readonly name: string;
  readonly random: () => number;
  /** Kills the supervisors of one container so often, and reports it to the test. */
  kill(container: Container, random: () => number, times?: number): Promise<void>;
}

describe('a supervisor that is killed', () => {
  scenario(
    'P12 leaves application, tombstone and exit code as they were, whenever it happens',
    async (stage) => {
      const kills = roundsOr(60, 12);
      let count = 0;
      const kill: Life['kill'] = async (container, random, times = KILLS_PER_LIFE) => {
        const hits = await killSupervisors(container, random, times);
        count += hits;
      };
      const cases = [endsByItself, isStopped, servesMain];
      // Not every attempt finds a supervisor: a life may be over before.
      const round = async (index: number): Promise<void> => {
        const play = cases[index % cases.length] ?? endsByItself;
        await play({ stage, name: `a${index}`, random: chance(SEED + index), kill });
      };
      await inRounds(kills, 4, round, () => count >= kills);
      assert.ok(count >= kills, `too few kills found a supervisor: ${count} of ${kills}`);
      stage.t.diagnostic(`P12: ${count} kills, seed ${SEED}`);
    },
    { timeoutMs: 6 * MINUTES },
  );
});

/** It runs its time and fails with a code of its own. */
async function endsByItself({ stage, name, random, kill }: Life): Promise<void> {
  const container = start(stage, name, [], { run: 2_000, exit: 7 });
  await kill(container, random);
  assert.equal((await container.exit()).status, 7, name);
  checkLife(stage, name, { signals: [], exitCode: 7, reason: 'error' });
}

/** It is asked to stop at a random moment. */
async function isStopped({ stage, name, random, kill }: Life): Promise<void> {
  const { log } = stage.scratch;
  const container = start(stage, name, [], { term: 700, exit: 7 });
  await waitForEvent(log, name, 'Started');
  const killing = kill(container, random);
  await sleep(random() * 1_000);
  await container.signal('SIGTERM');
  await killing;
  assert.equal((await container.exit()).status, 7, name);
  checkLife(stage, name, { signals: [15], exitCode: 7, reason: 'stopped' });
}

/** A sidecar whose main ends; the supervisors of both are killed. */
async function servesMain({ stage, name, random, kill }: Life): Promise<void> {
  const roster = ['--role', 'sidecar', '--mains', `${name}-main`];
  // Its time counts from when the sidecar is there: else that would not be started any more.
  const begun = stage.scratch.path(`${name}-begun`);
  const main = start(stage, `${name}-main`, [], { run: 1_500, exit: 5, after: begun });
  const sidecar = start(stage, name, roster, { term: 300, ready: begun });
  const chances = [random, chance(random() * 1e9)] as const;
  await Promise.all([kill(main, chances[0], 2), kill(sidecar, chances[1], 3)]);
  assert.deepEqual([(await main.exit()).status, (await sidecar.exit()).status], [5, 0], name);
  checkLife(stage, `${name}-main`, { signals: [], exitCode: 5, reason: 'error' });
  checkLife(stage, name, { signals: [15], exitCode: 0, reason: 'stopped' });
  readTimeline(stage.scratch.log).exitsBeforeSignalTo(`${name}-main`, name);
}

function start(stage: Stage, name: string, flags: readonly string[], options: MemberOptions): Container {
  const declared = [
    '--name',
    name,
    '--graveyard',
    stage.scratch.graveyard,
    '--restart-policy',
    'Never',
    '--session',
    'pod',
  ];
  return startContainer(stage.scratch, {
    name,
    flags: [...declared, ...AWAKE, '--grace-period', '20s', ...flags],
    command: member(stage, name, options),
  });
}

function checkLife(
  stage: Stage,
  name: string,
  expected: { signals: number[]; exitCode: number; reason: string },
): void {
  const log = readTimeline(stage.scratch.log);
  log.notRestarted(name);
  assert.deepEqual(log.signals(name), expected.signals, name);
  const { Died, ExitCode, Reason, Phase, Restarts } = readTombstone(stage.scratch.graveyard, name) ?? {};
  assert.ok(Died, `${name} has written its death`);
  assert.deepEqual(
    { ExitCode, Reason, Phase, Restarts: Restarts ?? 0 },
    { ExitCode: expected.exitCode, Reason: expected.reason, Phase: 'dead', Restarts: 0 },
    name,
  );
}
