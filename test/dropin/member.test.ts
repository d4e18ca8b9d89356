/** C01 and what goes beyond the replaced program: kubexit by its name and variables, a drain under tini's name. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe } from 'node:test';
import { startContainer } from '../helpers/container.ts';
import { member } from '../helpers/member.ts';
import { FIXTURE_SOURCES, NODE, ROOT } from '../helpers/paths.ts';
import { type Stage, scenario } from '../helpers/scenario.ts';
import { readTimeline, waitForEvent } from '../helpers/timeline.ts';
import { readTombstone, waitForDeath, waitForTombstone } from '../helpers/tombstone.ts';
import { contain, launch, linkAs, ours } from './peers.ts';

/** The fixture kubexit and what sexton starts by that name, with one command line and one set of variables. */
function underKubexit(stage: Stage, name: string, words: readonly string[], deaths?: string) {
  const command = [NODE, join(FIXTURE_SOURCES, 'kubexit.ts'), name, stage.scratch.graveyard, deaths ?? '-', ...words];
  return startContainer(stage.scratch, { bare: true, command, sees: [ROOT] });
}

function asKubexit(stage: Stage, name: string, words: readonly string[], deaths?: string) {
  const env = { KUBEXIT_NAME: name, KUBEXIT_GRAVEYARD: stage.scratch.graveyard, KUBEXIT_GRACE_PERIOD: '40s' };
  const command = [linkAs(stage.scratch.dir, 'kubexit'), ...words];
  return startContainer(stage.scratch, {
    bare: true,
    command,
    env: deaths === undefined ? env : { ...env, KUBEXIT_DEATH_DEPS: deaths },
  });
}

describe('members under the name of another program', { concurrency: 2 }, () => {
  for (const [title, main, sidecar] of [
    ['sexton as kubexit ends after its death dependency under kubexit', underKubexit, asKubexit],
    ['kubexit ends after its death dependency under sexton as kubexit', asKubexit, underKubexit],
  ] as const) {
    scenario(`C01 ${title}`, async (stage) => {
      const { scratch } = stage;
      const proxy = sidecar(stage, 'proxy', member(stage, 'proxy'), 'work');
      await waitForEvent(scratch.log, 'proxy', 'Started');
      const work = main(stage, 'work', member(stage, 'work', { run: 1, exit: 3 }));
      assert.equal((await work.exit()).status, 3);
      assert.equal((await proxy.exit()).status, 0);
      readTimeline(scratch.log).exitsBeforeSignalTo('work', 'proxy');
      // Theirs is YAML, ours is JSON, which is YAML too.
      for (const name of ['work', 'proxy'])
        assert.match(readFileSync(join(scratch.graveyard, name), 'utf8'), /\bDied\b/);
    });
  }

  scenario('C02 kubexit takes every word for the command, and has its usage error', async (stage) => {
    const peer = { program: linkAs(stage.scratch.dir, 'kubexit'), env: { KUBEXIT_GRAVEYARD: stage.scratch.graveyard } };
    for (const [words, code] of [
      [[], 2],
      [['--'], 2],
      [['-h'], 0],
      [['status'], 127],
      [['sh', '-c', 'exit 9'], 9],
      [['--', 'sh', '-c', 'exit 9'], 9],
    ] as const) {
      assert.deepEqual(await launch(stage, peer, words).end(), { code, signal: null }, words.join(' '));
    }
  });

  scenario('C04 a variable of sexton’s gives the command under tini a drain and a tombstone', async (stage) => {
    const { scratch } = stage;
    const env = { SEXTON_DRAIN: '10m', SEXTON_GRAVEYARD: scratch.graveyard, SEXTON_NAME: 'app' };
    const words = ['-e', '3', '--', ...member(stage, 'app', { exit: 3 })];
    const container = contain(stage, ours(stage, 'tini'), words, { env });
    await waitForEvent(scratch.log, 'app', 'Started');
    await container.signal('SIGTERM');
    await waitForTombstone(scratch.graveyard, 'app', 'drains', (it) => it.Phase === 'draining');
    assert.deepEqual(readTimeline(scratch.log).signals('app'), []);
    // Another TERM within a second would be the same request.
    await container.signal('SIGINT');
    assert.equal((await container.exit()).status, 0);
    assert.deepEqual(readTimeline(scratch.log).signals('app'), [15]);
    assert.equal((await waitForDeath(scratch.graveyard, 'app')).ExitCode, 3);
  });

  scenario('C04 the variables of kubexit mean nothing to tini: a kubexit under it has them', async (stage) => {
    const { scratch } = stage;
    const env = { KUBEXIT_NAME: 'app', KUBEXIT_GRAVEYARD: scratch.graveyard, KUBEXIT_DEATH_DEPS: 'nobody' };
    const container = contain(stage, ours(stage, 'tini'), member(stage, 'app', { run: 1, exit: 4 }), { env });
    assert.equal((await container.exit()).status, 4);
    assert.equal(readTombstone(scratch.graveyard, 'app'), undefined);
  });

  scenario('C04 a wrong variable of sexton’s is refused under tini’s name, and nothing is started', async (stage) => {
    const run = launch(stage, ours(stage, 'tini'), ['echo', 'started'], { env: { SEXTON_DRIAN: '5s' } });
    assert.deepEqual(await run.end(), { code: 125, signal: null });
    assert.match(run.stderr(), /unknown variable SEXTON_DRIAN; did you mean SEXTON_DRAIN\?/);
    assert.equal(run.stdout().length, 0);
  });
});
