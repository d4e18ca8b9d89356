/** Sidecars whose mains have finished must end in time. The bound follows from what their configuration waits for. */
import { STALE_AFTER_MS } from '../../src/core/pod/standing.ts';
import { restartsAll } from '../../src/core/restart.ts';
import { expectDecision } from './heard.ts';
import { Judge } from './judge.ts';
import { dueSinceMs, isKept, quorumHasFinished } from './truth.ts';
import type { Member } from './world.ts';

export interface Breach {
  readonly law: string;
  readonly atMs: number;
  readonly who: string;
  readonly what: string;
}

export class Dues extends Judge {
  readonly #due = new Set<Member>();
  readonly #judged = new Set<Member>();
  readonly #lost = new Set<Member>();
  #epoch = 0;

  get isSomebody(): boolean {
    return [...this.#due].some((member) => !member.isOver && !this.#judged.has(member));
  }

  /** What was due is not any more. */
  begin(): void {
    this.#epoch += 1;
    this.#due.clear();
    this.#judged.clear();
  }

  /** Its container was killed as a whole, ended without a supervisor, or could not write its death. */
  lose(member: Member): void {
    this.#lost.add(member);
  }

  has(member: Member): boolean {
    return this.#due.has(member);
  }

  look(): void {
    const { members, agenda, calmAtMs } = this.world;
    for (const member of members) {
      if (member.config.role !== 'sidecar' || member.isOver || this.#due.has(member)) continue;
      if (!quorumHasFinished(member) || isKept(member)) continue;
      this.#due.add(member);
      this.world.judges('mains end sidecars');
      const atMs = Math.max(agenda.nowMs, calmAtMs) + this.#boundMs();
      const epoch = this.#epoch;
      expectDecision(member);
      agenda.at(atMs, undefined, () => this.#judgeEnd(member, epoch));
    }
  }

  #boundMs(): number {
    const sidecars = this.world.members.filter(({ config }) => config.role === 'sidecar');
    const turnsMs = sidecars.map(({ config }) => config.lingerMs + (config.gracePeriodMs ?? 30_000) + 3_000);
    return 45_000 + turnsMs.reduce((sum, ms) => sum + ms, 0);
  }

  #judgeEnd(member: Member, epoch: number): void {
    if (epoch !== this.#epoch) return this.world.kubelet.endWhatIsLeft();
    const { kubelet, count } = this.world;
    this.#judged.add(member);
    const isThePlatforms = this.world.members.some(isThePlatformsToEnd);
    if (isThePlatforms) count('excused: a stop that only the platform ends');
    if (member.isOver || isThePlatforms) return kubelet.endWhatIsLeft();
    if (kubelet.isDeleting) return;
    // It leaves each time before it can know, which takes 10 s: it is not restarted in place, cannot be started, or
    // waits for less.
    const { session, restart, startAfter, startTimeoutMs } = member.config;
    const { policy, begins, faults, volume } = this.world.scenario;
    const hasBegun = begins && !this.world.meets('wipe');
    const doubts = session === undefined || (!hasBegun && this.world.members.some((it) => restartsAll(it.config)));
    const isHasty = startAfter.length > 0 && startTimeoutMs < STALE_AFTER_MS;
    const leavesEarly = restart === 'never' || member.hasFailedStarts || isHasty;
    const isRestless = doubts && leavesEarly && policy === 'OnFailure';
    if (isRestless) count('excused: it leaves before it knows, each time');
    // No member can tell that a lost one is gone, so a sidecar that may serve it has no end.
    const isHidden = !volume.sockets || faults.some((fault) => HIDING.has(fault.do));
    const isTraceless = isHidden && [...this.#lost].some((lost) => lost !== member && lost.isOver);
    const sinceMs = isRestless || isTraceless ? undefined : dueSinceMs(member);
    // A replaced container that ignores its signal ends with its grace period, and only then comes back.
    const replacedMs = faults.flatMap((fault) =>
      fault.do === 'replace' && fault.who === member.index ? [fault.atMs + fault.graceMs] : [],
    );
    const dueMs = Math.max(sinceMs ?? 0, this.world.calmAtMs, ...replacedMs) + this.#boundMs();
    // Any of several mains would do, but the one whose end could be known ended later.
    if (sinceMs !== undefined && dueMs > this.world.agenda.nowMs)
      return void this.world.agenda.at(dueMs, undefined, () => this.#judgeEnd(member, epoch));
    if (sinceMs !== undefined) this.breaks('mains end sidecars', member.name, 'it runs on without its mains');
    count('excused: the end of a main left no trace');
    kubelet.delete(this.world.scenario.graceMs, false);
  }
}

/** A member that waits for its turn behind such a one waits for the platform, too. */
function isThePlatformsToEnd({ isOver, config, container }: Member): boolean {
  return !isOver && config.gracePeriodMs === undefined && (container?.asked.length ?? 0) > 0;
}

/** What takes the handle of a container away, or keeps it from being made. */
const HIDING: ReadonlySet<string> = new Set(['wipe', 'starve supervisor', 'lose supervisors']);
