/**
 * Reflexes: what is left behind at the host for the next thing that may happen (`core/lifecycle/reflexes.ts`), so that
 * it need not wait for this process. What was left is taken back in the very commit in which the state that it was made
 * from is another one; a little later, once the tombstone of the new state is written, there is the next.
 */
import { dirname, join } from 'node:path';
import type { TerminationLog } from '../config/run-config.ts';
import type { MemberConfig } from '../core/config.ts';
import { handleOf, MAX_SOCKET_PATH_BYTES } from '../core/format/tombstone.ts';
import { type CoveredEnd, coveredEnds, type Ended, fill } from '../core/lifecycle/covered-ends.ts';
import { endWithMains, isCalm, isStill, type Known } from '../core/lifecycle/reflexes.ts';
import { SIGTERM } from '../core/signals.ts';
import type { State } from '../core/state/state.ts';
import { isLocalFile } from './graveyard/unchanged.ts';
import type { HostCommand } from './host/host.ts';
import type { Log } from './log.ts';

export interface ReflexesOptions {
  readonly member: MemberConfig;
  /**
   * Where the tombstone is, once it says what was published last; undefined: it does not, or the host cannot be asked
   * to write it.
   */
  readonly tombstoneAt: () => Promise<string | undefined>;
  readonly log: Log;
  /** Where the host leaves the evidence; undefined: nowhere. */
  readonly terminationLog: TerminationLog | undefined;
  /** The end is to be told in a way that the host does not know. */
  readonly needsSupervisor: boolean;
  readonly commit: (commands: readonly HostCommand[]) => void;
}

/** What follows in quick succession, as at the start, is waited for. */
const QUIET_MS = 100;

export class Reflexes {
  readonly #options: ReflexesOptions;
  #latest: Known | undefined;
  /** What the host has been left with; undefined: nothing. */
  #ends: readonly CoveredEnd[] | undefined;
  #timer: NodeJS.Timeout | undefined;

  /** `isResumed`: a supervisor before this one may have left something. */
  constructor(options: ReflexesOptions, isResumed: boolean) {
    this.#options = options;
    if (isResumed) this.#ends = [];
  }

  /** To be told of every state; returns what has to be in the commit that goes with it. */
  follow(state: State, wakeAtMs: number | undefined): readonly HostCommand[] {
    const [before, latest] = [this.#latest, { state, wakeAtMs }];
    this.#latest = latest;
    if (before !== undefined && isStill(before, latest)) return [];
    clearTimeout(this.#timer);
    if (isCalm(state)) this.#timer = setTimeout(() => void this.#leaveBehind(latest), QUIET_MS).unref();
    if (this.#ends === undefined) return [];
    this.#ends = undefined;
    return [
      { type: 'lastWord', id: 1, path: '', evidence: undefined, ends: [] },
      { type: 'endWith', id: 1, needed: 0, endsWithLost: false, signal: SIGTERM, mains: [] },
    ];
  }

  /** What the host, which has said its last word, has written; undefined: it may have been written over since. */
  writtenBy(ended: Ended): string | undefined {
    const end = this.#ends?.find(({ from, to }) => from <= ended.code && ended.code <= to);
    return end === undefined ? undefined : fill(end.text, ended);
  }

  async #leaveBehind(known: Known): Promise<void> {
    const { member, tombstoneAt, log, terminationLog: evidence, needsSupervisor, commit } = this.#options;
    const { state, wakeAtMs } = known;
    // Where a file system may hang init is not to write.
    const isWritable = evidence === undefined || (await isLocalFile(evidence.path));
    const path = await tombstoneAt();
    const isOld = this.#latest === undefined || !isStill(known, this.#latest);
    if (path === undefined || isOld || state.child.is !== 'alive') return;
    const { id } = state.child;
    const ends = coveredEnds(member, state, {
      untilMs: wakeAtMs,
      needsSupervisor: needsSupervisor || !isWritable,
      lineOf: ({ level, message, details }, time) => log.lineOf(level, message, details, time),
    });
    const { needed = 0, signal = SIGTERM, mains = [] } = endWithMains(member, state) ?? {};
    const named = mains.map(({ name, hostId }) => ({ hostId, path: join(dirname(path), handleOf(name)) }));
    const isReachable = named.every((main) => Buffer.byteLength(main.path) <= MAX_SOCKET_PATH_BYTES);
    this.#ends = ends;
    commit([
      { type: 'lastWord', id, path, evidence, ends },
      {
        type: 'endWith',
        id,
        needed: isReachable ? needed : 0,
        // Under the other policies the main's container is started again.
        endsWithLost: member.restartPolicy === 'Never',
        signal,
        mains: isReachable ? named : [],
      },
    ]);
  }
}
