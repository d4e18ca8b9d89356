/** When the next commit is to come: a supervisor that hangs is noticed only by what it owes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { maxWritingMs } from '../../../src/core/lifecycle/quitting.ts';
import { SIGTERM } from '../../../src/core/signals.ts';
import { mainConfig, START } from '../helpers.ts';
import { Life, type Step } from '../life.ts';

test('a supervisor that has heard of a stop request, and has not begun to act, owes its next commit soon', () => {
  const steps: Step[] = [];
  const queued = [
    { type: 'spawned', id: 1, pid: 101 },
    { type: 'signal', signal: SIGTERM, senderPid: 0, fromTerminal: false },
  ] as const;
  new Life({ config: mainConfig(), queued, observe: (step) => steps.push(step) });
  const unbegun = steps.filter(({ after }) => !after.isAwake);
  assert.deepEqual(
    unbegun.map(({ event, wakeAtMs }) => [event.type, wakeAtMs]),
    [
      ['spawned', START + 1_000],
      ['signal', START + 1_000],
    ],
  );
});

test('a supervisor that is about to leave owes the exit when it must have written the death', () => {
  const config = mainConfig({ gracePeriodMs: 10_000 });
  const life = new Life({ config, child: { endsAfterMs: 2_000 }, peers: [] });
  life.pass(2_000);
  assert.equal(life.exits.length, 1);
  assert.equal(life.wakeAtMs, START + 2_000 + maxWritingMs(undefined, START));
});
