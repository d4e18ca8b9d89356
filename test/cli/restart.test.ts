import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { Tombstone } from '../../src/core/format/tombstone.ts';
import { reportSchema } from '../../src/report/plain.ts';
import type { Outcome } from '../helpers/outcome.ts';
import { type Stage, scenario } from '../helpers/scenario.ts';
import { readTimeline } from '../helpers/timeline.ts';
import { readTombstone, waitForRunning } from '../helpers/tombstone.ts';
import type { RunningPod } from '../pods/kubelet.ts';
import { cast } from '../pods/members.ts';
import { sextonOf, startPod } from './pod.ts';

const sexton = (stage: Stage, ...args: readonly string[]): Promise<Outcome> => sextonOf(stage, args);

function startPair(stage: Stage): Promise<RunningPod> {
  const { main, sidecar } = cast(stage);
  return startPod(stage, sidecar('proxy'), main('work'));
}

describe('sexton restart', () => {
  scenario('sexton restart stops a whole pod in order and starts it again, in the same containers', async (stage) => {
    const { graveyard } = stage.scratch;
    const pod = await startPair(stage);
    const before = ['proxy', 'work'].map((name) => readTombstone(graveyard, name)?.Incarnation);
    const { stdout, code } = await sexton(stage, 'restart', '--grace', '20s');
    assert.equal(code, 0, stdout);
    assert.match(stdout, /^restarting proxy, work within 20s$/m);
    for (const name of ['proxy', 'work']) assert.match(stdout, new RegExp(`^${name} restarted, after `, 'm'));
    const stones = ['proxy', 'work'].map((name) => readTombstone(graveyard, name));
    assert.deepEqual(
      stones.map((it) => [it?.Phase, it?.Restarts, it?.PodRestarts, it?.StopReason, it?.Incarnation]),
      before.map((incarnation) => ['running', 1, 1, undefined, incarnation?.replace(/-1$/, '-2')]),
    );
    readTimeline(stage.scratch.log).exitsBeforeSignalTo('work', 'proxy');
    await sexton(stage, 'stop');
    await pod.end();
  });

  scenario('sexton restart shows the origin and the number of restarts in status and report', async (stage) => {
    const { graveyard } = stage.scratch;
    const pod = await startPair(stage);
    const by = /uid \d+, pid \d+/.source;
    for (const times of ['once,', '2 times, the last one']) {
      assert.equal((await sexton(stage, 'restart')).code, 0);
      const { stdout } = await sexton(stage, 'status', '--wide');
      assert.match(stdout, new RegExp(`^proxy, work: restarted in place ${times} asked for \\d+s ago by ${by}$`, 'm'));
    }
    await waitForRunning(graveyard, ['proxy', 'work']);
    const members = JSON.parse((await sexton(stage, 'status', '-o', 'json')).stdout).members as Tombstone[];
    assert.deepEqual(
      members.map(({ Name, PodRestarts }) => [Name, PodRestarts]),
      [
        ['proxy', 2],
        ['work', 2],
      ],
    );
    const said = `restarted in place 2 times, the last one asked for by ${by}`;
    const report = await sexton(stage, 'report');
    // Its lines are wrapped.
    const words = report.stdout.replace(/\s+/g, ' ');
    assert.match(words, new RegExp(`^pod.*: restart in place: graceful, .*; ${said} `));
    assert.match(words, / work [·▾]*█+[ ·]* exit 0, runs again proxy \(sidecar\) [·─▾]*█+[ ·]* exit 0, runs again /);
    // The report may add "after work had ended", if the proxy heard of the restart only then.
    assert.match(words, / ended last proxy: TERM .*, asked to stop \(restart requested\) $/);
    const json = JSON.parse((await sexton(stage, 'report', '-o', 'json')).stdout);
    const isRight = new Ajv2020({ validateFormats: false }).compile(reportSchema());
    assert.ok(isRight(json), JSON.stringify(isRight.errors));
    assert.equal((json as { pods: { over: boolean }[] }).pods[0]?.over, true);
    assert.match((await sexton(stage, 'report', '-o', 'svg')).stdout, /restart in place: graceful/);
    await sexton(stage, 'stop');
    await pod.end();
    const after = (await sexton(stage, 'report')).stdout.replace(/\s+/g, ' ');
    assert.match(after, new RegExp(`^pod.*: graceful, .*; ${said} `));
  });

  scenario('refuses a request that it cannot make, and asks no member', async (stage) => {
    const pod = await startPod(stage, cast(stage).main('work'));
    for (const args of [['nobody'], ['--by-rule', '88'], ['--by-rule', '256'], ['--by-rule', '88', 'work']])
      assert.equal((await sexton(stage, 'restart', ...args)).code, 125, args.join(' '));
    assert.equal(readTombstone(stage.scratch.graveyard, 'work')?.RestartRequested, undefined);
    await sexton(stage, 'stop');
    await pod.end();
  });
});
