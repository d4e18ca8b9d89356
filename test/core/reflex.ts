/** The two ways to the end of a sidecar: the host is first, or the record of its mains is. */
import { isDeepStrictEqual } from 'node:util';
import type { MemberConfig } from '../../src/core/config.ts';
import { reduce } from '../../src/core/lifecycle/lifecycle.ts';
import { mainsGone } from '../../src/core/lifecycle/prepared/reflexes.ts';
import type { Reduction } from '../../src/core/state/draft.ts';
import type { Effect } from '../../src/core/state/events.ts';
import type { State } from '../../src/core/state/state.ts';
import { type Instant, instantAt } from '../../src/core/time.ts';

/** `mains`: the names of those that are gone for good. `signal`: what the host has sent. */
export interface EndedWith {
  readonly mains: readonly string[];
  readonly signal: number;
  readonly at: Instant;
}

/** undefined: both ways agree, except for the signal, which was sent, and for what is known of the mains. */
export function differenceOf(config: MemberConfig, state: State, ended: EndedWith): string | undefined {
  const { mains, signal, at } = ended;
  if (state.child.is !== 'alive') return 'the child does not live';
  const { id } = state.child;
  const usual = reduce(config, state, mainsGone(state, mains, at));
  const sent = { id, row: 'mains', signal: 0, as: signal, senderPid: 0, receiverPid: 0 } as const;
  const reflex = reduce(config, state, { type: 'ordered', ...sent, at });
  const isStop = (effect: Effect): boolean => effect.type === 'stop' && effect.id === id && effect.signal === signal;
  const rest = usual.effects.filter((effect) => !isStop(effect));
  if (rest.length !== usual.effects.length - 1) return `the usual way does not send ${signal}`;
  if (!isDeepStrictEqual(rest, reflex.effects)) return `effects ${text(reflex.effects)}, not ${text(rest)}`;
  const why = isDueAlike(config, reflex, usual.wakeAtMs)
    ? undefined
    : `due at ${reflex.wakeAtMs}, not ${usual.wakeAtMs}`;
  if (why !== undefined) return why;
  const [is, shouldBe] = [reflex.state, usual.state].map((after) => text({ ...after, peers: undefined }));
  return is === shouldBe ? undefined : `${is}, not ${shouldBe}`;
}

/** A tick may be missing that the usual way set before the stop and that is no longer needed. */
function isDueAlike(config: MemberConfig, reflex: Reduction, usualMs: number | undefined): boolean {
  if (usualMs === reflex.wakeAtMs) return true;
  if (usualMs === undefined || (reflex.wakeAtMs ?? Number.POSITIVE_INFINITY) < usualMs) return false;
  const tick = reduce(config, reflex.state, { type: 'ticked', at: instantAt(reflex.state.now, usualMs) });
  return tick.effects.length === 0 && isDeepStrictEqual(tick.state.chronicle, reflex.state.chronicle);
}

function text(value: unknown): string {
  return JSON.stringify(value);
}
