/** What holds of every single step, whatever came before it. */
import assert from 'node:assert/strict';
import type { MemberConfig } from '../../src/core/config.ts';
import { killAtMs } from '../../src/core/pod/deadline.ts';
import { SIGKILL } from '../../src/core/signals.ts';
import type { Step } from './life.ts';

export function isSoundStep(config: MemberConfig, step: Step): void {
  endsOnce(step);
  killsInTime(config, step);
  startsRightly(config, step);
  runsRightly(step);
  keepsTheDeadline(step);
}

function endsOnce({ before, event, effects }: Step): void {
  const ends = effects.filter(({ type }) => type === 'exit').length;
  assert.ok(ends <= 1, 'two ends');
  if (before.child.is !== 'gone' || event.type === 'booted') return;
  const isQuitting = before.tasks.length > 0;
  for (const { type } of effects)
    assert.ok(type === 'log' || (isQuitting && ['exit', 'endTask'].includes(type)), `${type} after the end`);
}

/** KILL comes once, and not before a rung, the deadline, an own budget or a third interrupt says so. */
function killsInTime(config: MemberConfig, { before, event, after, effects }: Step): void {
  const kills = effects.filter(
    ({ type, ...effect }) => type !== 'log' && 'signal' in effect && effect.signal === SIGKILL,
  );
  if (kills.length === 0) return;
  const { climb, deadline, now, stop } = after;
  assert.ok(kills.length === 1 && before.climb?.killed !== true, 'KILL a second time');
  const isRung = config.ladder?.[climb?.rung ?? -1]?.signal === SIGKILL;
  const isOverdue = deadline?.kills === true && now.mono >= killAtMs(deadline);
  const isOwnEnd = climb?.killAtMs !== undefined && now.mono >= climb.killAtMs;
  const isImpatient = event.type === 'signal' && event.fromTerminal && (stop?.requests ?? 0) >= 3;
  assert.ok(isRung || isOverdue || isOwnEnd || isImpatient, 'KILL too early');
}

/** A stop beats every restart, and nothing is started with 1 s or less left. */
function startsRightly(config: MemberConfig, { before, event, after, effects }: Step): void {
  const starts = effects.filter(({ type }) => type === 'spawn').length;
  if (starts === 0) return;
  assert.ok(
    // A start that a stop request has overtaken is repeated where others need it.
    starts === 1 && (event.type === 'spawnFailed' || ['unstarted', 'backoff', 'roots'].includes(before.child.is)),
    `a start while ${before.child.is}`,
  );
  assert.ok(after.stop === undefined || config.role === 'sidecar', 'a start after the stop request of a main');
  assert.ok((after.stop?.requests ?? 0) < 2, 'a start after a second stop request');
  assert.ok(after.climb?.why !== 'stop' && after.stop?.waitsFor !== 'pre-stop', 'a start in a stop');
  const leftMs = after.deadline === undefined ? Number.POSITIVE_INFINITY : after.deadline.atMs - after.now.mono;
  assert.ok(before.child.is === 'unstarted' || leftMs > 1_000, 'a start with no time left');
  const isGated = before.child.is === 'unstarted' && config.startTimeoutAction === 'fail';
  const areReady = [...config.startReady.keys()].every((index) => after.looks[index]?.ok);
  assert.ok(areReady || !isGated, 'a start before all are ready');
}

/** Actions need a living child, looks an unborn one, quit calls a member that is over. Pre-stop runs once. */
function runsRightly({ before, event, after, effects }: Step): void {
  const isAlive = after.child.is === 'alive' || before.child.is === 'alive';
  for (const effect of effects) {
    if (effect.type !== 'startTask') continue;
    const isBegunAgain = event.type === 'booted';
    const isLooking = effect.action.kind === 'ready' && before.child.is === 'unstarted';
    assert.ok(isAlive || isLooking || effect.action.kind === 'quit' || isBegunAgain, 'an action without a child');
    const isPreStop = after.tasks.some(({ id, key }) => id === effect.id && key === 'preStop');
    const isSameLife = before.child.is === 'alive' && !isBegunAgain;
    assert.ok(!(isPreStop && isSameLife && before.hooks.preStop !== undefined), 'pre-stop a second time');
    assert.ok(
      !(isPreStop && isSameLife && before.tasks.some(({ key }) => key === 'preStop')),
      'pre-stop twice at once',
    );
  }
  const isOver = after.child.is === 'backoff' || after.child.is === 'gone' || after.child.is === 'spawning';
  const left = after.tasks.filter(({ key }) => !key.startsWith('quit '));
  if (isOver) assert.deepEqual(left, [], 'an action outlives its child');
  const keys = after.tasks.map(({ key }) => key);
  assert.equal(new Set(keys).size, keys.length, 'an action twice at a time');
}

/** It never moves later and never goes away; one that is merely assumed gives way to one that counts. */
function keepsTheDeadline({ before, after }: Step): void {
  // The deadline of a restart is over when its stop is.
  if (before.deadline === undefined || after.podRestarts > before.podRestarts) return;
  assert.ok(after.deadline !== undefined, 'the deadline is forgotten');
  const mayMove = !before.deadline.kills && after.deadline.kills;
  assert.ok(mayMove || after.deadline.atMs <= before.deadline.atMs, 'the deadline moves later');
  assert.ok(after.deadline.kills || !before.deadline.kills, 'the deadline counts no more');
}
