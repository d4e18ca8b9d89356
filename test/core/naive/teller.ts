/**
 * A second naive opinion, on lives with probes, hooks, restarts and several ways to be stopped; written from the rules
 * in words and not from the core. It walks through time millisecond by millisecond and writes down what is done.
 *
 * One member, of one main ("work") that is somebody else if it is a sidecar; its child traps TERM or ignores it, and
 * leaves nothing behind.
 */
import {
  type Deadline,
  earlierOf,
  isKillTime,
  isLastTurn,
  isMainDead,
  isMainFinished,
  wantsAnother,
} from './moments.ts';
import type { Plan } from './plan.ts';
import { PreStop } from './pre-stop.ts';
import { Vitals } from './vitals.ts';

/** `when what` of all that is done, in order. */
export function tell(plan: Plan, untilMs: number): readonly string[] {
  const teller = new Teller(plan);
  for (let now = 0; now <= untilMs && !teller.isGone; now += 1) teller.turn(now);
  return teller.told;
}

class Teller {
  readonly told: string[] = [];
  isGone = false;
  readonly #plan: Plan;
  readonly #graceMs: number;
  #now = 0;
  #bornAt = -1;
  #diesAt = Number.POSITIVE_INFINITY;
  #diesWith = 0;
  #rebirthAt = 0;
  #hadLife = false;
  #lastStatus = 0;
  #pauseMs = 100;
  #vitals: Vitals | undefined;
  #pre: PreStop;
  #failing: { killAt: number; since: number } | undefined;
  #ladder: { isStop: boolean; killAt: number; killed: boolean } | undefined;
  #stop: { at: number; requests: number; isFinished: boolean; isSelf: boolean; isAtPreStop: boolean } | undefined;
  #isHeldNow = false;
  #deadline: Deadline | undefined;
  #platformAt = Number.NEGATIVE_INFINITY;
  #isHealthy = false;

  constructor(plan: Plan) {
    this.#plan = plan;
    this.#graceMs = plan.graceMs ?? 30_000;
    this.#pre = new PreStop(plan.preStop);
  }

  turn(now: number): void {
    this.#now = now;
    this.#settle();
    const { asked, sextonStops, mainEndsAt } = this.#plan;
    if (asked.includes(now)) this.#hearPlatform();
    for (const { at, graceMs } of sextonStops) if (at === now) this.#hearSexton(graceMs);
    if (asked.includes(now) || mainEndsAt === now || sextonStops.some(({ at }) => at === now)) this.#settle();
  }

  #settle(): void {
    for (let before = -1; before < this.told.length && !this.isGone; ) {
      before = this.told.length;
      if (this.#bornAt >= 0 && this.#now >= this.#diesAt) this.#die();
      if (!this.isGone) this.#decide();
      if (!this.isGone) this.#beBorn();
      this.#hearActions();
      this.#beHealthy();
      this.#judge();
      if (!this.isGone) this.#goOnStopping();
      this.#goOnFailing();
      if (this.#bornAt >= 0) this.#vitals?.probe(this.#now, this.#checkServing, (what) => this.#tell(what));
      this.#killInTime();
    }
  }

  #tell(what: string): void {
    this.told.push(`${this.#now} ${what}`);
  }

  #hearPlatform(): void {
    const hard = this.#plan.graceMs !== undefined;
    // The same signal is the same request within a second, and always where a grace period is declared.
    const isKnown = this.#platformAt >= 0;
    if (isKnown && (hard || this.#now < this.#platformAt + 1_000)) return;
    if ((this.#stop?.requests ?? 0) === 0) this.#platformAt = this.#now;
    if ((this.#stop?.requests ?? 0) === 0) this.#move(this.#graceMs, hard);
    if (this.#stop === undefined) this.#wish({ requests: 1 });
    else this.#stop = { ...this.#stop, requests: this.#stop.requests + 1, isSelf: false };
  }

  #hearSexton(graceMs: number | undefined): void {
    if (this.#stop === undefined || graceMs !== undefined) this.#move(graceMs ?? this.#graceMs, true);
    if (this.#stop === undefined) this.#wish({});
  }

  #wish(change: { requests?: number; isSelf?: boolean; isFinished?: boolean }): void {
    this.#stop = { at: this.#now, requests: 0, isFinished: false, isSelf: false, isAtPreStop: false, ...change };
  }

  #move(graceMs: number, hard: boolean): void {
    this.#deadline = earlierOf(this.#deadline, { at: this.#now + graceMs, since: this.#now, hard });
  }

  /** A sidecar holds for its main, and a moment for one that may be about to show itself. */
  get #isHeld(): boolean {
    if (this.#plan.role === 'main' || this.#stop === undefined || this.#stop.isSelf) return false;
    const moment = Math.min(1_000, this.#graceMs / 10);
    return (
      !isMainDead(this.#plan, this.#now) ||
      (!isMainFinished(this.#plan, this.#now) && this.#now < this.#stop.at + moment)
    );
  }
  /** It serves and nobody is about to end it. */
  get #checkServing(): boolean {
    if (this.#bornAt < 0 || this.#ladder !== undefined || this.#failing !== undefined) return false;
    if (this.#stop === undefined) return true;
    return this.#plan.role === 'sidecar' && this.#stop.requests < 2 && !this.#stop.isAtPreStop && this.#isHeld;
  }

  #decide(): void {
    if (this.#plan.role === 'sidecar' && this.#stop === undefined && isMainFinished(this.#plan, this.#now))
      this.#wish({ isSelf: true, isFinished: true });
  }

  #beBorn(): void {
    if (this.#bornAt >= 0) return;
    if (this.#hadLife && this.#stop !== undefined) {
      const isTime = isLastTurn(this.#deadline, this.#now);
      if (this.#plan.role === 'main' || this.#stop.requests >= 2 || !this.#isHeld || isTime)
        return this.#end(this.#lastStatus, false);
    }
    if (this.#deadline !== undefined) {
      const leftMs = this.#deadline.at - this.#now;
      if (leftMs <= 1_000) return;
      this.#rebirthAt = Math.min(this.#rebirthAt, this.#now + Math.floor(leftMs / 10));
    }
    if (this.#now < this.#rebirthAt) return;
    this.#tell('spawn');
    this.#hadLife = true;
    this.#bornAt = this.#now;
    this.#diesAt = this.#now + (this.#plan.endsAfterMs ?? Number.POSITIVE_INFINITY);
    this.#diesWith = this.#plan.endsWith;
    this.#vitals = new Vitals(this.#plan, this.#now);
    this.#pre = new PreStop(this.#plan.preStop);
    if (this.#plan.postStart !== undefined) this.#tell('post-start');
  }

  #die(): void {
    const status = this.#diesWith;
    const wasKilled = this.#ladder?.killed === true && status === 137;
    const wants = wantsAnother(this.#plan, status, this.#failing !== undefined, this.#stop !== undefined);
    const stop = this.#stop;
    const isOver =
      stop !== undefined &&
      (this.#ladder?.isStop === true || this.#plan.role === 'main' || stop.requests >= 2 || !this.#isHeld);
    const leftMs = this.#deadline === undefined ? Number.POSITIVE_INFINITY : this.#deadline.at - this.#now;
    if (!wants || isOver || leftMs <= 1_000) return this.#end(status, wasKilled);
    if (this.#now - this.#bornAt >= 60_000) this.#pauseMs = 100;
    this.#rebirthAt = this.#now + Math.min(this.#pauseMs, Math.floor(leftMs / 10));
    this.#pauseMs = Math.min(10_000, this.#pauseMs * 2);
    this.#lastStatus = status;
    this.#bornAt = -1;
    this.#failing = undefined;
    this.#ladder = undefined;
    this.#beHealthy();
  }

  #end(status: number, wasKilled: boolean): void {
    const isSpared = this.#plan.role === 'sidecar' && this.#stop !== undefined;
    const isOverdue = wasKilled && this.#stop?.isFinished === false;
    this.#bornAt = -1;
    this.#beHealthy();
    this.#tell(`exit ${isSpared && !isOverdue ? 0 : status}`);
    this.isGone = true;
  }

  #hearActions(): void {
    if (this.#bornAt < 0) return;
    this.#pre.hear(this.#now);
    this.#vitals?.hear(this.#now);
  }

  #beHealthy(): void {
    const isHealthy = this.#bornAt >= 0 && this.#vitals?.isHealthy === true;
    if (isHealthy !== this.#isHealthy) this.#tell(isHealthy ? 'healthy' : 'unhealthy');
    this.#isHealthy = isHealthy;
  }

  /** A life that has failed is to end. */
  #judge(): void {
    if (!this.#checkServing) return;
    const why = this.#vitals?.failure;
    if (why === undefined) return;
    const ownMs = why === 'post-start' ? undefined : this.#plan.probes[why]?.graceMs;
    this.#failing = { since: this.#now, killAt: this.#now + (ownMs ?? this.#graceMs) };
  }

  #goOnStopping(): void {
    const stop = this.#stop;
    this.#isHeldNow = false;
    if (stop === undefined || this.#ladder?.isStop === true || this.#bornAt < 0) return;
    if (!stop.isAtPreStop && stop.requests < 2) {
      const isHeld = this.#isHeld;
      const isTime = (this.#deadline?.hard === true || isHeld) && isLastTurn(this.#deadline, this.#now);
      this.#isHeldNow = isHeld && !isTime;
      const earliest = stop.at + (stop.isFinished ? this.#plan.lingerMs : this.#plan.drainMs);
      if (!isTime && (isHeld || this.#now < earliest)) return;
    }
    if (this.#ladder !== undefined) {
      this.#ladder.isStop = true;
      return;
    }
    const since = this.#pre.begunAt ?? this.#now;
    const own = stop.isSelf ? { since, at: since + this.#graceMs } : undefined;
    const budget = this.#deadline?.hard === true ? this.#deadline : own;
    if (stop.requests < 2 && !this.#pre.isOver(budget, this.#now, (what) => this.#tell(what))) {
      stop.isAtPreStop = true;
      return;
    }
    this.#climb(true, own?.at ?? Number.POSITIVE_INFINITY);
  }

  #goOnFailing(): void {
    if (this.#failing === undefined || this.#ladder !== undefined || this.#bornAt < 0) return;
    if (this.#stop !== undefined && !this.#isHeldNow) return;
    const { since, killAt } = this.#failing;
    if (this.#pre.isOver({ since, at: killAt }, this.#now, (what) => this.#tell(what))) this.#climb(false, killAt);
  }

  #climb(isStop: boolean, killAt: number): void {
    this.#ladder = { isStop, killAt, killed: false };
    this.#tell('TERM');
    if (this.#plan.termMs !== undefined) this.#dieBy(this.#now + this.#plan.termMs, this.#plan.termCode);
  }

  #killInTime(): void {
    if (this.#ladder === undefined || this.#ladder.killed || this.#bornAt < 0) return;
    if (!isKillTime(this.#deadline, this.#now) && this.#now < this.#ladder.killAt) return;
    this.#ladder.killed = true;
    this.#tell('KILL');
    this.#dieBy(this.#now, 137);
  }

  #dieBy(at: number, status: number): void {
    if (this.#diesAt <= at) return;
    this.#diesAt = at;
    this.#diesWith = status;
  }
}
