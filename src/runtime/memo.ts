/**
 * The memo: the core's state as init keeps it for the next supervisor. The peers are not in it, they are read again.
 */
import type { State } from '../core/state.ts';

export interface Memo {
  readonly state: State;
  /** The host holds the liveness socket. */
  readonly isHeld: boolean;
  /** OOM kills seen so far in this container; undefined: that cannot be read. */
  readonly oomKills?: number | undefined;
  /** The last content that was seen of each `config.reload`; a change while there is no supervisor is one, too. */
  readonly digests?: Digests;
}

export type Digests = Readonly<Record<number, string>>;

export function writeMemo({ state, isHeld, oomKills, digests }: Memo): string {
  return JSON.stringify({ format: FORMAT, isHeld, oomKills, digests, state: { ...state, peers: undefined } });
}

/** `undefined` when another version of sexton wrote it: then the events that are not acknowledged have to do. */
export function readMemo(memo: string, hostId: string): Memo | undefined {
  try {
    const { format, isHeld, oomKills, digests = {}, state } = JSON.parse(memo) as Memo & { format: number };
    return format === FORMAT && state.hostId === hostId
      ? { isHeld, oomKills, digests, state: { ...NOTHING, ...state, ...ASLEEP } }
      : undefined;
  } catch {
    return undefined;
  }
}

const FORMAT = 1;
/** JSON leaves out what is undefined. */
const NOTHING = {
  promptFor: undefined,
  stop: undefined,
  climb: undefined,
  failing: undefined,
  deadline: undefined,
  peers: undefined,
} as const;
/** Of the next supervisor: it has to hear first what happened meanwhile. */
const ASLEEP = { isAwake: false } as const;
