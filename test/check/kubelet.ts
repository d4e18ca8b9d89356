/**
 * How the kubelet stops the containers of a deleted pod: killContainer and terminationOrdering
 * (pkg/kubelet/kuberuntime). Like the kubelet, it counts the time of hooks and turns in whole seconds, rounded down.
 */

export interface Actual {
  readonly name: string;
  readonly isNative: boolean;
  readonly hookMs: number | undefined;
  /** From its TERM to its own exit, given when the others have ended; Infinity: never. */
  readonly lastsMs: (termMs: number, endOf: (name: string) => number | undefined) => number | undefined;
}

export interface Outcome {
  readonly termMs: number;
  readonly endMs: number;
  readonly isKilled: boolean;
}

const LEAST_SECONDS = 2;
const STEP_MS = 1;

export function playStop(graceMs: number, containers: readonly Actual[]): ReadonlyMap<string, Outcome> {
  const lives = containers.map((container) => ({
    container,
    phase: 'hook' as 'hook' | 'turn' | 'term' | 'over',
    leftSeconds: Math.floor(graceMs / 1_000),
    hookEndsMs: Math.min(container.hookMs ?? 0, graceMs),
    turnSinceMs: 0,
    termMs: 0,
    killMs: Number.POSITIVE_INFINITY,
    endMs: 0,
    isKilled: false,
  }));
  type Life = (typeof lives)[number];
  const natives = lives.filter(({ container }) => container.isNative);
  const endOf = (name: string): number | undefined => {
    const life = lives.find(({ container }) => container.name === name);
    return life?.phase === 'over' ? life.endMs : undefined;
  };
  const hasTurn = (life: Life): boolean => {
    const later = natives.slice(natives.indexOf(life) + 1);
    return lives.every((one) => one.phase === 'over' || (one.container.isNative && !later.includes(one)));
  };
  const endsMs = (life: Life): number => {
    const lasts = life.container.lastsMs(life.termMs, endOf);
    return lasts === undefined ? Number.POSITIVE_INFINITY : life.termMs + lasts;
  };
  let nowMs = 0;
  for (;;) {
    for (let again = true; again; ) {
      again = false;
      for (const life of lives) {
        if (life.phase === 'hook' && nowMs >= life.hookEndsMs) {
          life.leftSeconds -= Math.floor(life.hookEndsMs / 1_000);
          life.turnSinceMs = nowMs;
          life.phase = 'turn';
          again = true;
        } else if (life.phase === 'turn') {
          const isOver = nowMs - life.turnSinceMs >= life.leftSeconds * 1_000;
          if (life.container.isNative && !isOver && !hasTurn(life)) continue;
          life.leftSeconds -= Math.floor((nowMs - life.turnSinceMs) / 1_000);
          life.termMs = nowMs;
          life.killMs = nowMs + Math.max(LEAST_SECONDS, life.leftSeconds) * 1_000;
          life.phase = 'term';
          again = true;
        } else if (life.phase === 'term' && (nowMs >= endsMs(life) || nowMs >= life.killMs)) {
          life.isKilled = nowMs < endsMs(life);
          life.endMs = nowMs;
          life.phase = 'over';
          again = true;
        }
      }
    }
    if (lives.every(({ phase }) => phase === 'over')) break;
    const next = lives.flatMap((life) => {
      if (life.phase === 'hook') return [life.hookEndsMs];
      if (life.phase === 'turn') return [life.turnSinceMs + life.leftSeconds * 1_000];
      return life.phase === 'term' ? [endsMs(life), life.killMs] : [];
    });
    nowMs = Math.max(nowMs + STEP_MS, Math.min(...next.filter((ms) => ms > nowMs)));
    if (!Number.isFinite(nowMs)) throw new Error('internal error: the pod never ends');
  }
  return new Map(lives.map(({ container, termMs, endMs, isKilled }) => [container.name, { termMs, endMs, isKilled }]));
}
