/**
 * The memo: the core's state, and the configuration, as init keeps them for the next supervisor. The peers are not in
 * it, they are read again.
 */
import type { KeptConfig } from '../config/run-config.ts';
import { trimHistory } from '../core/format/tombstone.ts';
import type { State } from '../core/state/state.ts';
import { MAX_MEMO_BYTES } from './host/frames.ts';

export interface Memo {
  readonly state: State;
  /** The host holds the liveness socket. */
  readonly isHeld: boolean;
  /** OOM kills seen so far in this container; undefined: that cannot be read. */
  readonly oomKills?: number | undefined;
  /** The last content that was seen of each `config.reload`; a change while there is no supervisor is one, too. */
  readonly digests?: Digests;
  readonly rest?: Rest;
  /** undefined: it is too long. */
  readonly config?: KeptConfig | undefined;
}

export type Digests = Readonly<Record<number, string>>;

export interface Rest {
  /** When supervisors were woken, CLOCK_MONOTONIC milliseconds: the last few. */
  readonly wakes: readonly number[];
  /** By name, whose handles were held when the last one fell asleep: the first half of its `Incarnation`. */
  readonly held: Readonly<Record<string, string>>;
}

export const RESTED: Rest = { wakes: [], held: {} };

/**
 * Never larger than init takes: a refused memo would end every supervisor. The history, and what was logged once, are
 * cut first.
 */
export function writeMemo(memo: Memo): string {
  const whole = memoText(memo);
  if (Buffer.byteLength(whole) <= MAX_MEMO_BYTES) return whole;
  const { state } = memo;
  const chronicle = { ...state.chronicle, history: trimHistory(state.chronicle.history, FEW_ENTRIES) };
  return memoText({ ...memo, state: { ...state, chronicle, said: state.said.slice(-FEW_ENTRIES) } });
}

/** `undefined` when the format is not known here: then only the events that are not acknowledged are left. */
export function readMemo(memo: string, hostId: string): Memo | undefined {
  try {
    const { format, state, ...others } = JSON.parse(memo) as Memo & { format: number };
    if (format !== FORMAT || state.hostId !== hostId) return undefined;
    return { ...others, state: { ...state, peers: undefined, ...ASLEEP } };
  } catch {
    return undefined;
  }
}

function memoText({ state, ...others }: Memo): string {
  return JSON.stringify({ format: FORMAT, ...others, state: { ...state, peers: undefined } });
}

/** A supervisor that meets another format knows nothing of a child that lives, which is then lost. */
const FORMAT = 1;
const FEW_ENTRIES = 16;
/** The next supervisor decides nothing before it has heard what happened meanwhile. */
const ASLEEP = { hasCaughtUp: false } as const;
