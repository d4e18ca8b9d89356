/** The two ways to the end of a sidecar: the host is first, or the record of its mains is. */
import { isDeepStrictEqual } from 'node:util';
import type { MemberConfig } from '../../src/core/config.ts';
import { ladderOf } from '../../src/core/ladder.ts';
import { reduce } from '../../src/core/lifecycle/lifecycle.ts';
import { SIGTERM } from '../../src/core/signals.ts';
import type { Reduction } from '../../src/core/state/draft.ts';
import type { Effect, Event } from '../../src/core/state/events.ts';
import type { Peer } from '../../src/core/state/peer.ts';
import type { State } from '../../src/core/state/state.ts';
import { type Instant, instantAt, rfc3339 } from '../../src/core/time.ts';

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
  const ordered = reduce(config, state, { type: 'ordered', ...sent, at });
  const isStop = (effect: Effect): boolean => effect.type === 'stop' && effect.id === id && effect.signal === signal;
  const rest = usual.effects.filter((effect) => !isStop(effect));
  if (rest.length !== usual.effects.length - 1) return `the usual way does not send ${signal}`;
  if (!isDeepStrictEqual(rest, ordered.effects)) return `effects ${text(ordered.effects)}, not ${text(rest)}`;
  const why = isDueAlike(config, ordered, usual.wakeAtMs)
    ? undefined
    : `due at ${ordered.wakeAtMs}, not ${usual.wakeAtMs}`;
  if (why !== undefined) return why;
  const [is, shouldBe] = [ordered.state, usual.state].map((after) => text({ ...after, peers: undefined }));
  return is === shouldBe ? undefined : `${is}, not ${shouldBe}`;
}

/** A tick may be missing that the usual way set before the stop and that is no longer needed. */
function isDueAlike(config: MemberConfig, ordered: Reduction, usualMs: number | undefined): boolean {
  if (usualMs === ordered.wakeAtMs) return true;
  if (usualMs === undefined || (ordered.wakeAtMs ?? Number.POSITIVE_INFINITY) < usualMs) return false;
  const tick = reduce(config, ordered.state, { type: 'ticked', at: instantAt(ordered.state.now, usualMs) });
  return tick.effects.length === 0 && isDeepStrictEqual(tick.state.chronicle, ordered.state.chronicle);
}

function text(value: unknown): string {
  return JSON.stringify(value);
}

/** Whether the rules only hold a stop request, and send the first rung once these mains have ended in either way. */
export function holdsByTheRules(config: MemberConfig, state: State, mains: readonly string[]): boolean {
  const at = instantAt(state.now, Math.floor(state.now.mono) + 1);
  const asked = reduce(config, state, { type: 'signal', at, signal: SIGTERM, senderPid: 0, fromTerminal: false });
  if (asked.effects.some(({ type }) => type !== 'log')) return false;
  return [true, false].every((isFinal) => {
    const { effects } = reduce(config, asked.state, mainsGone(asked.state, mains, instantAt(at, at.mono + 1), isFinal));
    const [deed, ...more] = effects.filter(({ type }) => type !== 'log');
    const [{ signal }] = ladderOf(config, SIGTERM);
    return deed?.type === 'stop' && deed.signal === signal && more.length === 0;
  });
}

/** The graveyard once these mains are gone. */
function mainsGone(
  state: State,
  names: readonly string[],
  at: Instant = state.now,
  isFinal = true,
): Event & { readonly type: 'peersSeen' } {
  const peers = Object.entries(state.peers ?? {}).map(([name, peer]) =>
    names.includes(name) ? goneOf(peer, at, isFinal) : peer,
  );
  return { type: 'peersSeen', at, peers };
}

function goneOf({ tombstone, vanished }: Peer, at: Instant, isFinal: boolean): Peer & { readonly sinceMs: number } {
  const died = {
    Died: rfc3339(at.wall),
    DiedMonotonic: Math.round(at.mono),
    ExitCode: 0,
    Reason: 'completed',
  } as const;
  const dead = { ...tombstone, Phase: 'dead', ...died, Final: isFinal } as const;
  return { tombstone: dead, liveness: 'none', foundAtStart: false, vanished, sinceMs: at.mono };
}
