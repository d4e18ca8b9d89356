/** What members hear of, and how soon: the end of their mains where nothing else happens, and requests to stop. */
import { restartsAll, restartsIfKilled } from '../../src/core/restart.ts';
import { isPrompt } from './alone.ts';
import type { Container } from './container.ts';
import { Judge } from './judge.ts';
import { SETTLING_MS } from './on-record.ts';
import type { Fault } from './scenario.ts';
import { isOf, isRecorded, mainsOf } from './truth.ts';
import type { Member, World } from './world.ts';

/** By an event and the attempts of two seconds at a lost handle; a rescan would come later. */
const SOON_MS = 3_500;
/** They concern one container, and keep nothing from the others. */
const HARMLESS: ReadonlySet<Fault['do']> = new Set(['kill container', 'kill command', 'signal']);

/** The mains of this sidecar have finished just now. */
export function expectDecision(member: Member): void {
  const { world, container } = member;
  const { agenda, scenario } = world;
  const sinceMs = agenda.nowMs;
  const { session, when, startAfter } = member.config;
  const isPlain = session !== undefined && when === 'all' && scenario.volume.sockets && startAfter.length === 0;
  // Where a rule restarts all, a death that was found at the start is doubted.
  const mayDoubt = world.members.some(({ config }) => restartsAll(config));
  if (container === undefined || mayDoubt || !isPlain || !isPrompt(world) || !isUndisturbed(world, sinceMs)) return;
  if (!mainsOf(member).every((main) => canHear(container, main))) return;
  world.count('hears of the end of its mains');
  agenda.in(SOON_MS + 4 * member.scenario.bootMs, undefined, () => {
    const { state, isRunning, isStoppedByInit } = container;
    // Where init has acted on it by a row, the supervisor sleeps on.
    if (!isRunning || isStoppedByInit || !isUndisturbed(world, agenda.nowMs)) return;
    if (world.kubelet.restartedAllAtMs >= sinceMs) return;
    if (state?.child.is === 'alive' && state.stop === undefined && state.failing === undefined)
      world.laws.breaks('mains end sidecars', member.name, 'it hears late of the end of its mains');
  });
}

/** It knows this life of the main, which has recorded its end, or whose handle it held. */
function canHear(by: Container, main: Member): boolean {
  const { config, container } = main;
  const seen = by.state?.peers?.[config.name];
  if (container === undefined || seen === undefined || !isOf(container, seen.tombstone)) return false;
  const isMissed = by.world.scenario.policy === 'Never' && seen.liveness === 'held' && !restartsIfKilled(config);
  return isRecorded(main) || isMissed;
}

function isUndisturbed({ scenario }: World, nowMs: number): boolean {
  const { faults, volume, race } = scenario;
  const isOver = ({ atMs, ...fault }: Fault): boolean =>
    HARMLESS.has(fault.do) || atMs > nowMs || ('forMs' in fault && atMs + fault.forMs + SETTLING_MS < nowMs);
  return volume.stale.length === 0 && race === undefined && faults.every(isOver);
}

/** `sexton stop` has left a request for each of these. */
export class Requests extends Judge {
  #waiting = 0;

  get isSomebodyDue(): boolean {
    return this.#waiting > 0;
  }

  left(containers: readonly Container[]): void {
    // With the directory the request is gone.
    if (this.world.meets('wipe')) return;
    for (const container of containers) this.#await(container);
  }

  #await(container: Container): void {
    const { agenda, calmAtMs } = this.world;
    this.#waiting += 1;
    agenda.at(Math.max(agenda.nowMs, calmAtMs) + SETTLING_MS, undefined, () => {
      this.#waiting -= 1;
      const isCalm = agenda.nowMs - this.world.calmAtMs >= SETTLING_MS;
      if (container.isRunning && !isCalm) return this.#await(container);
      this.#judge(container);
      this.world.kubelet.endWhatIsLeft();
    });
  }

  #judge(container: Container): void {
    const { isRunning, wasAlone, member, state } = container;
    if (wasAlone || member.loss !== undefined) return;
    this.world.judges(LAW);
    if (!isRunning || this.world.kubelet.isDeleting) return;
    const isStopping = state?.stop !== undefined || state?.child.is === 'gone';
    if (!isStopping) this.breaks(LAW, member.name, 'it goes on, and was asked to stop');
  }
}

const LAW = 'requests are heard';
