/**
 * A naive second opinion: how the life of one member ends, written from the rules in words and not from the core. It walks
 * through time millisecond by millisecond and asks of each: what is so now? Slow, and too simple to be wrong in the same way.
 *
 * One main and one sidecar, of which one is us; the child traps TERM or ignores it, leaves nothing behind, can be started.
 */

export interface Scene {
  readonly role: 'main' | 'sidecar';
  readonly policy: 'Never' | 'OnFailure' | 'Always';
  readonly graceMs: number | undefined;
  readonly drainMs: number;
  readonly lingerMs: number;
  /** The child ends by itself after so long, each time. */
  readonly endsAfterMs: number | undefined;
  readonly endsWith: number;
  /** After TERM it takes so long and ends with 0; `undefined`: it ignores TERM. */
  readonly termMs: number | undefined;
  /** When the main of a sidecar ends, and how. */
  readonly mainEndsAt: number | undefined;
  readonly mainEndsWith: number;
  /** When the platform asks. */
  readonly asked: readonly number[];
}

export interface End {
  /** When the container ends, and with what; `undefined`: it goes on. */
  readonly at: number | undefined;
  readonly code: number | undefined;
  readonly starts: number;
  readonly terms: number;
  readonly kills: number;
}

export function foretell(scene: Scene, untilMs: number): End {
  let aliveSince: number | undefined = 0;
  let starts = 1;
  let terms = 0;
  let kills = 0;
  let pause = 100;
  let nextStartAt: number | undefined;
  let lastCode = 0;
  let termAt: number | undefined;
  let decidedAt: number | undefined;
  const end = (at: number, code: number): End => ({ at, code, starts, terms, kills });
  const isSidecar = scene.role === 'sidecar';

  for (let now = 0; now <= untilMs; now += 1) {
    const [askedAt] = scene.asked;
    // The same signal within a second is the same request.
    const requests = scene.asked.filter((at) => at <= now && (at === askedAt || at >= (askedAt ?? 0) + 1_000)).length;
    const isAsked = requests > 0 && askedAt !== undefined;
    const deadline = isAsked ? askedAt + (scene.graceMs ?? 30_000) : undefined;
    const mainIsDead = scene.mainEndsAt !== undefined && scene.mainEndsAt <= now;
    const mainHasFinished =
      mainIsDead && (scene.policy === 'Never' || (scene.policy === 'OnFailure' && scene.mainEndsWith === 0));

    // The child ends by itself, by TERM, or not at all.
    const endsBySelf =
      aliveSince !== undefined && scene.endsAfterMs !== undefined && now >= aliveSince + scene.endsAfterMs;
    const endsByTerm = termAt !== undefined && scene.termMs !== undefined && now >= termAt + scene.termMs;
    if (aliveSince !== undefined && (endsBySelf || endsByTerm)) {
      lastCode = endsBySelf ? scene.endsWith : 0;
      const lived = now - aliveSince;
      aliveSince = undefined;
      const isWaitedFor =
        isAsked && !mainHasFinished && now < askedAt + Math.min(1_000, (scene.graceMs ?? 30_000) / 10);
      const isNeeded = (!mainIsDead || isWaitedFor) && requests < 2;
      const wants =
        isSidecar && (isAsked || scene.policy === 'Never' || (scene.policy === 'OnFailure' && lastCode === 0));
      const isTooLate = deadline !== undefined && deadline - now <= 1_000;
      const isStopping = termAt !== undefined;
      const isOver = isStopping || ((isAsked || decidedAt !== undefined) && !isNeeded);
      const code = isSidecar && (isAsked || decidedAt !== undefined) ? 0 : lastCode;
      if (!wants || isTooLate || isOver) return end(now, code);
      if (lived >= 60_000) pause = 100;
      nextStartAt = now + (deadline === undefined ? pause : Math.min(pause, Math.floor((deadline - now) / 10)));
      pause = Math.min(pause * 2, 10_000);
    }

    // The mains have finished: that is decided once.
    if (isSidecar && mainHasFinished && !isAsked && decidedAt === undefined) decidedAt = now;

    // Whether it should stop now.
    // Who sees nobody to serve, nor that all is over, waits a moment for somebody to show up.
    const moment = Math.min(1_000, (scene.graceMs ?? 30_000) / 10);
    const isUnsure = !mainHasFinished && isAsked && now < askedAt + moment;
    const held = isSidecar && isAsked && decidedAt === undefined && (!mainIsDead || isUnsure);
    const lastTurn = deadline === undefined ? undefined : deadline - Math.min(2_000, (scene.graceMs ?? 30_000) / 2);
    const isLastTurn = lastTurn !== undefined && now >= lastTurn && (scene.graceMs !== undefined || held);
    const waitsUntil = decidedAt === undefined ? (askedAt ?? 0) + scene.drainMs : decidedAt + scene.lingerMs;
    const wantsStop = isAsked || decidedAt !== undefined;
    const mayStop = requests >= 2 || isLastTurn || (!held && now >= waitsUntil);

    // Between two lives nobody waits for a drain or a linger.
    if (aliveSince === undefined && wantsStop && (!held || mayStop)) return end(now, isSidecar ? 0 : lastCode);
    if (aliveSince !== undefined && termAt === undefined && wantsStop && mayStop) {
      termAt = now;
      terms += 1;
    }

    // KILL: a little before the platform's, or when our own patience is over.
    const killAt =
      deadline === undefined || scene.graceMs === undefined ? undefined : deadline - Math.min(500, scene.graceMs / 20);
    const isOverdue = killAt !== undefined && now >= killAt;
    const selfStarted = decidedAt !== undefined && termAt !== undefined && (askedAt === undefined || termAt < askedAt);
    const isImpatient = selfStarted && now >= (termAt ?? 0) + (scene.graceMs ?? 30_000);
    if (
      aliveSince !== undefined &&
      termAt !== undefined &&
      (isOverdue || isImpatient) &&
      (scene.termMs !== 0 || termAt < now)
    ) {
      kills += 1;
      return end(now, isSidecar && decidedAt !== undefined ? 0 : 137);
    }
    if (aliveSince !== undefined && termAt === now && scene.termMs === 0) return end(now, 0);

    // Another life: in a stop after a tenth of what is left at the latest, and not when nothing is.
    const leftMs = deadline === undefined ? undefined : deadline - now;
    if (nextStartAt !== undefined && leftMs !== undefined)
      nextStartAt = Math.min(nextStartAt, now + Math.floor(leftMs / 10));
    const isStartTooLate = leftMs !== undefined && leftMs <= 1_000;
    if (nextStartAt !== undefined && aliveSince === undefined && now >= nextStartAt && !isStartTooLate) {
      aliveSince = now;
      nextStartAt = undefined;
      starts += 1;
    }
  }
  return { at: undefined, code: undefined, starts, terms, kills };
}
