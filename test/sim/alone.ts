/** Whether the pod stops or one container alone: verdicts must be true, and a lone stop noticed where it can be. */
import type { MemberConfig } from '../../src/core/config.ts';
import { isRestarting } from '../../src/core/pod/restart.ts';
import type { Step } from '../core/life.ts';
import type { Container } from './container.ts';
import type { World } from './world.ts';

/** From the request until the others can have recognized it. */
const TOLD_MS = 3_000;
/** Members that do not watch each other see a change by a rescan only. */
export const SEEN_LATE_MS = 6_000;
const SEEN_SOON_MS = 1_000;

/** A member must not call a stop of the pod a lone stop. */
export function judgeVerdict(container: Container, { before, after }: Step): void {
  const { world } = container;
  const { stop } = after;
  if (stop?.alone !== true || before.stop?.alone === true) return;
  world.count('told apart: stopped alone');
  world.judges('told apart');
  const { deletedAtMs } = world.kubelet;
  const askedAtMs = stop.atMs + world.agenda.bootAtMs;
  if (deletedAtMs !== undefined && deletedAtMs <= askedAtMs)
    world.laws.breaks('told apart', container, 'stopped alone, it says, and the pod was deleted');
}

/** One container was stopped alone just now. It must not serve on for others where it can know better. */
export function watchLoneStop(container: Container): void {
  const { world } = container;
  const { agenda } = world;
  const sinceMs = agenda.nowMs;
  // In a restart of some members it keeps the deadline of the restart. The others then ignore its stop.
  if (container.brain !== undefined && isRestarting(container.brain.state))
    return world.count('excused: stopped alone in a restart in place');
  const observers = world.members.flatMap((member) => {
    const { container: other, config } = member;
    const isObserver = other !== undefined && other !== container && isUnasked(other) && goesOn(other);
    if (!isObserver || config.platformPreStopMs === undefined) return [];
    const isSoon = isPrompt(world) && isWatching(config, container.member.config);
    return [{ other, ms: TOLD_MS + config.platformPreStopMs + 2 * (isSoon ? SEEN_SOON_MS : SEEN_LATE_MS) }];
  });
  if (!isUnasked(container, 1) || world.calmAtMs > sinceMs || observers.length === 0) return;
  const inMs = Math.min(...observers.map(({ ms }) => ms));
  agenda.in(inMs, undefined, () => {
    // A supervisor that was started meanwhile had no time to report the stop, or to learn of it.
    const wasAwake = (it: Container): boolean => it.sinceBrainMs >= agenda.nowMs - sinceMs;
    const isThere = observers.some(
      ({ ms, other }) => ms === inMs && isUnasked(other) && goesOn(other) && wasAwake(other),
    );
    const isCalm = world.calmAtMs <= sinceMs && !world.kubelet.isDeleting && wasAwake(container);
    if (!isThere || !isCalm) return;
    world.count('told apart: looked at');
    world.judges('told apart');
    // A member that stopped for a reason of its own before the request keeps that reason, and its turn.
    const stop = container.brain?.state.stop;
    if (container.isRunning && stop?.waitsFor === 'turn' && stop.reason.startsWith('signal '))
      world.laws.breaks('told apart', container, 'it is stopped alone, and serves on as if the pod were');
  });
}

function isUnasked({ isRunning, brain, asked, requests, member }: Container, most = 0): boolean {
  if (!isRunning || brain === undefined || brain.state.child.is === 'gone' || member.loss !== undefined) return false;
  return asked.length <= most && requests.length === 0;
}

/** It does not stop for a reason of its own, either: a member that does cannot tell. */
function goesOn({ brain }: Container): boolean {
  return brain?.state.stop === undefined;
}

/** Changes in the graveyard are reported at once, and no member is deaf to them. */
export function isPrompt(world: World): boolean {
  return world.scenario.volume.events === 'prompt' && !world.meets('deafen');
}

/** They look at each other at once: a sidecar and one of its mains. */
function isWatching(observer: MemberConfig, stopped: MemberConfig): boolean {
  if (observer.role === stopped.role) return false;
  const [sidecar, main] = observer.role === 'sidecar' ? [observer, stopped] : [stopped, observer];
  return sidecar.mains.length === 0 || sidecar.mains.includes(main.name);
}
