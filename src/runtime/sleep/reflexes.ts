/**
 * Reflexes: commands left with the host for the next event, which then need not wait for this process. They are the
 * prepared ends (`core/prepared-ends.ts`), and the end with the mains (`core/lifecycle/prepared/reflexes.ts`). The commit
 * that changes the state takes back what was left for the old one. The next follows once the new tombstone is written.
 */
import { dirname, join } from 'node:path';
import type { TerminationLog } from '../../config/run-config.ts';
import type { MemberConfig } from '../../core/config.ts';
import { handleOf, MAX_OPEN_BYTES, MAX_SOCKET_PATH_BYTES } from '../../core/format/tombstone.ts';
import { endWithMains, isIdle, isUnchanged, type Known } from '../../core/lifecycle/prepared/reflexes.ts';
import { openTextsOf } from '../../core/lifecycle/stop/record.ts';
import { preparedEnds } from '../../core/prepared-ends.ts';
import { SIGTERM } from '../../core/signals.ts';
import type { State } from '../../core/state/state.ts';
import type { Clock, Timer } from '../clock.ts';
import type { HostCommand } from '../host/host.ts';
import { isLocalFile } from '../local-volume.ts';
import { harmless, type Log } from '../log/log.ts';

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
  /** The host has been left with something. */
  #isLeft: boolean;
  #timer: Timer | undefined;

  /** `isResumed`: a supervisor before this one may have left something. */
  constructor(options: ReflexesOptions, isResumed: boolean) {
    this.#options = options;
    this.#isLeft = isResumed;
  }

  /** Called with every state; returns what has to be in the commit that goes with it. */
  follow(state: State, wakeAtMs: number | undefined): readonly HostCommand[] {
    const [before, latest] = [this.#latest, { state, wakeAtMs }];
    this.#latest = latest;
    if (before !== undefined && isUnchanged(before, latest)) return [];
    const { timers } = this.#options.clock;
    timers.clearTimeout(this.#timer);
    if (isIdle(state)) this.#timer = timers.setTimeout(() => void this.#leaveBehind(latest), QUIET_MS).unref();
    if (!this.#isLeft) return [];
    this.#isLeft = false;
    return [NO_ENDS, NO_MAINS];
  }

  async #leaveBehind(known: Known): Promise<void> {
    const { member, tombstoneAt, log, terminationLog, commit } = this.#options;
    const { state, wakeAtMs: untilMs } = known;
    // Where a file system may hang init is not to write.
    const isWritable = terminationLog === undefined || (await isLocalFile(terminationLog.path));
    const path = await tombstoneAt();
    const isOld = this.#latest === undefined || !isUnchanged(known, this.#latest);
    if (path === undefined || isOld || state.child.is !== 'alive') return;
    const { id } = state.child;
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
    const needsSupervisor = this.#options.needsSupervisor || !isWritable;
    const { tombstone, evidence } = openTextsOf(member, state);
    const isTooLong = Buffer.byteLength(tombstone) > MAX_OPEN_BYTES;
    const prepared = preparedEnds(member, state, { untilMs, needsSupervisor, endWith: heard });
    const lines = { log: log.openLine('info', 'dead'), errorLog: log.openLine('error', 'dead') };
    this.#isLeft = true;
    commit([
      { type: 'texts', path, terminationLog, tombstone, evidence: harmless(evidence), ...lines },
      { type: 'preparedEnds', id, ...prepared, ...(isTooLong && { ends: [] }) },
      { ...NO_MAINS, id, needed, endsWithLost, holds, lingerMs: member.lingerMs, signal, mains },
    ]);
  }
}

const NONE = { id: 1, signal: SIGTERM } as const;
const NO_ENDS: HostCommand = { ...NONE, type: 'preparedEnds', patienceMs: 0, ends: [] };
const NO_MAINS: HostCommand & { readonly type: 'endWith' } = {
  ...NONE,
  ...{ type: 'endWith', needed: 0, endsWithLost: false, holds: false, lingerMs: 0, mains: [] },
};
