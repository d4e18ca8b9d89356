/**
 * Reflexes: commands left with the host for the next event (`core/lifecycle/prepared/reflexes.ts`), which then need not wait for
 * this process. The commit that changes the state takes back what was left for the old one. The next follows once the
 * tombstone of the new state is written.
 */
import { dirname, join } from 'node:path';
import type { TerminationLog } from '../../config/run-config.ts';
import type { MemberConfig } from '../../core/config.ts';
import { handleOf, MAX_SOCKET_PATH_BYTES } from '../../core/format/tombstone.ts';
import {
  fill,
  type PreparedEnd,
  preparedEnds,
  preparedStop,
  type Use,
} from '../../core/lifecycle/prepared/prepared-ends.ts';
import { type EndWith, endWithMains, isIdle, isUnchanged, type Known } from '../../core/lifecycle/prepared/reflexes.ts';
import { SIGTERM } from '../../core/signals.ts';
import type { State } from '../../core/state/state.ts';
import type { Instant } from '../../core/time.ts';
import type { Clock, Timer } from '../clock.ts';
import { MAX_PREPARED_BYTES } from '../host/frames.ts';
import type { HostCommand } from '../host/host.ts';
import { isLocalFile } from '../local-volume.ts';
import type { Log } from '../log/log.ts';

export interface ReflexesOptions {
  readonly member: MemberConfig;
  /**
   * Where the tombstone is, once it says what was published last; undefined: it does not, or the host cannot be asked
   * to write it.
   */
  readonly tombstoneAt: () => Promise<string | undefined>;
  readonly log: Log;
  readonly clock: Clock;
  /** Where the host leaves the evidence; undefined: nowhere. */
  readonly terminationLog: TerminationLog | undefined;
  /** The end is to be reported in a way that the host does not know. */
  readonly needsSupervisor: boolean;
  readonly commit: (commands: readonly HostCommand[]) => void;
}

/** What follows in quick succession, as at the start, is waited for. */
const QUIET_MS = 100;

export class Reflexes {
  readonly #options: ReflexesOptions;
  #latest: Known | undefined;
  /** What the host has been left with; undefined: nothing. */
  #left: Left | undefined;
  #timer: Timer | undefined;

  /** `isResumed`: a supervisor before this one may have left something. */
  constructor(options: ReflexesOptions, isResumed: boolean) {
    this.#options = options;
    if (isResumed) this.#left = { ends: [] };
  }

  /** Called with every state; returns what has to be in the commit that goes with it. */
  follow(state: State, wakeAtMs: number | undefined): readonly HostCommand[] {
    const [before, latest] = [this.#latest, { state, wakeAtMs }];
    this.#latest = latest;
    if (before !== undefined && isUnchanged(before, latest)) return [];
    const { timers } = this.#options.clock;
    timers.clearTimeout(this.#timer);
    if (isIdle(state)) this.#timer = timers.setTimeout(() => void this.#leaveBehind(latest), QUIET_MS).unref();
    if (this.#left === undefined) return [];
    this.#left = undefined;
    return [NO_ENDS, NO_MAINS];
  }

  /** What the host has written for this end; undefined: it may have been written over since. */
  writtenBy(at: Instant, code: number): string | undefined {
    const end = this.#left?.ends.find(({ prelude, from, to }) => prelude === '' && from <= code && code <= to);
    return end === undefined ? undefined : fill(end.text, { moments: [at], code });
  }

  /** For the time asleep: the ends that were left behind, and those of a whole stop as far as there is room for them. */
  prepareStop(): readonly HostCommand[] {
    const { ends, rest } = this.#left ?? {};
    const state = this.#latest?.state;
    if (ends === undefined || rest === undefined || state === undefined) return [];
    const stop = preparedStop(this.#options.member, state, rest.use, rest.endWith);
    if (stop === undefined) return [];
    const { signal, patienceMs } = stop;
    const all = [...ends, ...stop.ends];
    const texts = all.flatMap(({ text, log, evidence }) => [text, log, evidence]);
    const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
    if (bytes > MAX_PREPARED_BYTES - MAX_PATHS_BYTES) return [];
    return [{ ...rest.command, signal, patienceMs, ends: all }];
  }

  async #leaveBehind(known: Known): Promise<void> {
    const { member, tombstoneAt, log, terminationLog: evidence, needsSupervisor, commit } = this.#options;
    const { state, wakeAtMs: untilMs } = known;
    // Where a file system may hang init is not to write.
    const isWritable = evidence === undefined || (await isLocalFile(evidence.path));
    const path = await tombstoneAt();
    const isOld = this.#latest === undefined || !isUnchanged(known, this.#latest);
    if (path === undefined || isOld || state.child.is !== 'alive') return;
    const { id } = state.child;
    const use: Use = {
      untilMs,
      needsSupervisor: needsSupervisor || !isWritable,
      lineOf: ({ level, message, details }, time) => log.lineOf(level, message, details, time),
    };
    const ends = preparedEnds(member, state, use);
    const endWith = endWithMains(member, state);
    const named = (endWith?.mains ?? []).map(({ name, hostId }) => ({
      hostId,
      path: join(dirname(path), handleOf(name)),
    }));
    const heard = named.every((main) => Buffer.byteLength(main.path) <= MAX_SOCKET_PATH_BYTES) ? endWith : undefined;
    const { needed = 0, holds = false, signal = SIGTERM } = heard ?? {};
    const mains = heard === undefined ? [] : named;
    // Under the other policies the main's container is started again.
    const endsWithLost = member.restartPolicy === 'Never';
    const command = { ...NO_ENDS, id, path, evidence, ends };
    this.#left = { ends, rest: { command, use, endWith: heard } };
    commit([command, { ...NO_MAINS, id, needed, endsWithLost, holds, lingerMs: member.lingerMs, signal, mains }]);
  }
}

interface Left {
  readonly ends: readonly PreparedEnd[];
  /** undefined: a supervisor before this one has left it. */
  readonly rest?: { readonly command: EndsCommand; readonly use: Use; readonly endWith: EndWith | undefined };
}

type EndsCommand = HostCommand & { readonly type: 'preparedEnds' };

const NONE = { id: 1, signal: SIGTERM } as const;
const NO_ENDS: EndsCommand = { ...NONE, type: 'preparedEnds', patienceMs: 0, path: '', evidence: undefined, ends: [] };
const NO_MAINS: HostCommand & { readonly type: 'endWith' } = {
  ...NONE,
  ...{ type: 'endWith', needed: 0, endsWithLost: false, holds: false, lingerMs: 0, mains: [] },
};
/** Room in the frame for all but the texts: two paths, and a few numbers for each end. */
const MAX_PATHS_BYTES = 8_500;
