/**
 * A container that has lost its supervisors for ever: none can be started, or each dies or hangs right after its first
 * commit. Its command still gets its stop signal before any KILL and in time, and the container ends.
 *
 * Init does what the last commit has left behind. The bounds follow from the declared grace period, or 10 s without
 * one, and from how long init waits for a supervisor.
 */
import { maxWritingMs } from '../../src/core/lifecycle/stop/quitting.ts';
import { graceOf } from '../../src/core/pod/deadline.ts';
import { SIGKILL } from '../../src/core/signals.ts';
import type { Container } from './container.ts';
import { Judge } from './judge.ts';

/** Taken where no grace period is declared. */
const MOST_MS = 20_000;
const PATIENCE_MS = 5_000;
/** In a hold without a declared grace period, a supervisor that hangs is late only after the assumed one. */
const ASSUMED_MS = 30_000 + PATIENCE_MS;
/** One that hangs is late when its last turn has come; then init waits for half of what is left, and once more. */
const LAST_TURN_MS = 500;
/** While supervisors die within a second of each other there may be one that acts. */
const GAPS_MS = 3_000;
const STARTS = 10;
/** Init waits 11 s between ten short lives, and 30 s for what the command has left behind. */
const FAILED_MS = 50_000;
/** One that hangs while roots are left, and two that hang when all they had to do was to write the death. */
const HUNG_MS = 2 * (maxWritingMs(undefined, 0) + 10_000) + 25_000;
const SLACK_MS = 100;

export class Lost extends Judge {
  /** From now on no supervisor of it will live on. */
  lost(container: Container): void {
    this.world.count(`supervisors lost: ${container.member.loss}`);
    if (container.asked.length > 0) this.asked(container);
    if (container.command?.exit !== undefined) this.ended(container);
  }

  /** It is asked to stop, or was when it lost them. */
  asked(container: Container): void {
    const { command, lostAtMs, member, asked } = container;
    const [first] = asked;
    if (lostAtMs === undefined || first === undefined) return;
    if (command === undefined || command.exit !== undefined) return this.ended(container);
    const graceMs = member.config.gracePeriodMs;
    const isMeant = (): boolean => container.command === command && command.exit === undefined;
    if (command.bornAtMs > first.atMs) return;
    this.#after(container, stopsByMs(container, first.atMs, lostAtMs), () => {
      if (!isMeant()) return;
      this.world.judges(LAW);
      if (command.signals.length === 0)
        this.breaks(LAW, container, 'it was asked to stop, and its command knows nothing');
    });
    if (graceMs !== undefined)
      this.#after(container, Math.max(first.atMs + graceMs, lostAtMs), () => {
        if (isMeant()) this.breaks(LAW, container, 'its command lives on when the grace period is over');
      });
  }

  /** Its command has ended, or there is none that could. */
  ended(container: Container): void {
    const { lostAtMs, member, command } = container;
    if (lostAtMs === undefined) return;
    const mostMs = member.loss === 'hangs' ? HUNG_MS : FAILED_MS + STARTS * 2 * member.scenario.bootMs;
    this.#after(container, this.world.agenda.nowMs + mostMs, () => {
      // A last decision of a supervisor may have started another life.
      if (container.command !== command) return;
      const { nowMs } = this.world.agenda;
      const isAsked = container.asked.some(({ atMs }) => nowMs - atMs >= mostMs);
      if (container.memo?.state.child.is === 'unstarted' && member.loss === 'hangs' && !isAsked)
        return this.world.count('excused: between two lives a supervisor that hangs owes nothing');
      // Without a declared grace period a stop of the platform ends in the platform's KILL alone.
      if (member.loss === 'hangs' && container.memo?.state.child.is === 'roots' && isPlatformsAlone(container))
        return this.world.count('excused: what a stopped command left behind waits for the platform');
      this.world.judges(LAW);
      this.breaks(LAW, container, 'it does not end, and its command has');
    });
  }

  /** Init is about to KILL the command. */
  killing(container: Container): void {
    const { command, member } = container;
    if (member.config.ladder?.[0]?.signal === SIGKILL || command === undefined) return;
    this.world.judges(LAW);
    if (command.signals.length === 0) this.breaks(LAW, container, 'init KILLs a command that has had no stop signal');
  }

  /** Runs unless the container has ended by then. One that has stood still gets the whole time again. */
  #after(container: Container, atMs: number, does: () => void): void {
    const { agenda } = this.world;
    const sinceMs = agenda.nowMs;
    agenda.at(atMs + SLACK_MS, undefined, () => {
      const stoodMs = Math.max(container.actor.frozenUntilMs, agenda.pausedUntilMs);
      if (!container.isRunning) return;
      if (stoodMs > sinceMs) this.#after(container, Math.max(stoodMs, agenda.nowMs) + atMs - sinceMs, does);
      else does();
    });
  }
}

const LAW = 'stop without a supervisor';

function isPlatformsAlone({ memo, member: { config } }: Container): boolean {
  const { stop, climb, deadline } = memo?.state ?? {};
  const hasKill = climb?.killAtMs !== undefined || climb?.killed === true || deadline?.kills === true;
  return config.gracePeriodMs === undefined && stop !== undefined && !hasKill;
}

/** When the stop signal must have been sent. */
function stopsByMs(container: Container, askedAtMs: number, lostAtMs: number): number {
  const { member, requests, restarts, world } = container;
  const { config, loss, scenario } = member;
  const hasCrash = world.scenario.faults.some((it) => it.do === 'crash supervisor' && it.who === member.index);
  const { gracePeriodMs, role } = config;
  if (loss === 'hangs') {
    // Init waits for each that hangs, and a crash brings another one: what is left is the KILL itself.
    if (hasCrash && gracePeriodMs !== undefined) return Math.max(askedAtMs + gracePeriodMs, lostAtMs);
    const mostMs = gracePeriodMs === undefined ? ASSUMED_MS : gracePeriodMs - Math.min(LAST_TURN_MS, gracePeriodMs / 8);
    return Math.max(askedAtMs + mostMs, lostAtMs);
  }
  const share = role === 'sidecar' ? 0.75 : 0.5;
  // What was requested before has a grace period of its own, also where none is declared.
  const asks = [{ atMs: askedAtMs, graceMs: gracePeriodMs ?? MOST_MS }, ...requests, ...restarts];
  const waitsMs = asks.map(({ atMs, graceMs = graceOf(config) }) => atMs + share * graceMs);
  return Math.max(...waitsMs, lostAtMs + PATIENCE_MS) + GAPS_MS + STARTS * scenario.bootMs;
}
