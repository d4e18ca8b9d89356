/**
 * Of the naive opinion: what probes and post-start say of one life of the child.
 */
import { type Plan, saysOk } from './plan.ts';

const KINDS = ['startup', 'readiness', 'liveness'] as const;
const fresh = () => ({ says: '', row: 0, last: '', nextAt: 0, endsAt: 0, begunAt: -1, result: false });

export class Vitals {
  readonly #plan: Plan;
  readonly #bornAt: number;
  readonly #vitals = { startup: fresh(), readiness: fresh(), liveness: fresh() };
  #post = '';
  #isStarted = false;

  constructor(plan: Plan, bornAt: number) {
    this.#plan = plan;
    this.#bornAt = bornAt;
  }

  /** What has ended by now. */
  hear(now: number): void {
    const { postStart } = this.#plan;
    const postEndsAt = this.#bornAt + (postStart?.takesMs ?? Number.POSITIVE_INFINITY);
    if (this.#post === '' && now >= postEndsAt) this.#post = postStart?.ok === true ? 'ok' : 'bad';
    for (const kind of KINDS) {
      const [probe, vital] = [this.#plan.probes[kind], this.#vitals[kind]];
      if (probe === undefined || vital.begunAt < 0 || now < vital.endsAt) continue;
      const result = vital.result ? 'up' : 'down';
      vital.row = vital.last === result ? vital.row + 1 : 1;
      vital.last = result;
      if (vital.row >= (vital.result ? probe.successes : probe.failures)) vital.says = result;
      vital.nextAt = Math.max(vital.begunAt + probe.periodMs, now);
      vital.begunAt = -1;
    }
  }

  /** Begins what is due, ends what is not wanted. */
  probe(now: number, checkServing: boolean, tell: (what: string) => void): void {
    for (const kind of KINDS) {
      const [probe, vital] = [this.#plan.probes[kind], this.#vitals[kind]];
      if (probe === undefined) continue;
      const isStarting = !this.#isUp('startup');
      const isWanted =
        kind === 'startup' ? isStarting && checkServing : !isStarting && (kind === 'readiness' || checkServing);
      if (!isWanted) vital.begunAt = -1;
      if (!isWanted || vital.begunAt >= 0 || now < Math.max(vital.nextAt, this.#bornAt + probe.delayMs)) continue;
      tell(kind);
      vital.begunAt = now;
      vital.endsAt = now + Math.min(probe.takesMs, probe.timeoutMs);
      vital.result = probe.takesMs <= probe.timeoutMs && saysOk(probe, now);
    }
  }

  /** Started once, ready again and again. */
  get isHealthy(): boolean {
    if (this.#isUp('startup')) this.#isStarted ||= this.#plan.postStart === undefined || this.#post === 'ok';
    return this.#isStarted && this.#isUp('readiness');
  }

  get failure(): 'post-start' | 'startup' | 'liveness' | undefined {
    if (this.#post === 'bad') return 'post-start';
    return (['startup', 'liveness'] as const).find((kind) => this.#vitals[kind].says === 'down');
  }

  #isUp(kind: (typeof KINDS)[number]): boolean {
    return this.#plan.probes[kind] === undefined || this.#vitals[kind].says === 'up';
  }
}
