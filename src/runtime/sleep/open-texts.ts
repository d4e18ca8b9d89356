/**
 * Leaves the open texts with the host: the tombstone, the evidence and the last line of the log, all without an end. As
 * long as they fit the state, the orders have rows `end`, by which the host closes them.
 */
import type { TerminationLog } from '../../config/run-config.ts';
import type { MemberConfig } from '../../core/config.ts';
import { MAX_OPEN_BYTES } from '../../core/format/tombstone.ts';
import { openTextsOf } from '../../core/lifecycle/stop/record.ts';
import { isUndisturbed } from '../../core/mains-row.ts';
import type { State } from '../../core/state/state.ts';
import type { Clock, Timer } from '../clock.ts';
import type { TextsCommand } from '../host/host.ts';
import { isLocalFile } from '../local-volume.ts';
import { harmless, type Log } from '../log/log.ts';

export interface OpenTextsOptions {
  readonly member: MemberConfig;
  /**
   * Resolves to the path of the tombstone after the newest content was written; undefined: that failed, or the host
   * must not replace the file.
   */
  readonly tombstoneAt: () => Promise<string | undefined>;
  readonly log: Log;
  readonly clock: Clock;
  /** The file to which the host writes the evidence; undefined: there is none. */
  readonly terminationLog: TerminationLog | undefined;
  /** Hands them over, and the rows that belong to them. */
  readonly leave: (texts: TextsCommand) => void;
}

/** A state and its next tick; undefined: none is due. */
interface Known {
  readonly state: State;
  readonly wakeAtMs: number | undefined;
}

/** The texts are sent after so long without a change, because a start changes the state many times. */
const QUIET_MS = 100;

export class OpenTexts {
  readonly #options: OpenTextsOptions;
  #latest: Known | undefined;
  #timer: Timer | undefined;
  /** The host has the texts of the latest state. */
  isLeft = false;
  /** The host must not write to where the evidence belongs, as the file system may hang. */
  isBlocked = false;

  constructor(options: OpenTextsOptions) {
    this.#options = options;
  }

  /** To be called with every state. */
  follow(state: State, wakeAtMs: number | undefined): void {
    const [before, latest] = [this.#latest, { state, wakeAtMs }];
    this.#latest = latest;
    if (before !== undefined && isUnchanged(before, latest)) return;
    this.isLeft = false;
    const { timers } = this.#options.clock;
    timers.clearTimeout(this.#timer);
    if (isUndisturbed(state)) this.#timer = timers.setTimeout(() => void this.#leave(latest), QUIET_MS).unref();
  }

  /** Call this before the supervisor sleeps: on a slow disk, there was no tombstone yet when this was first tried. */
  async leaveNow(): Promise<void> {
    if (this.#latest !== undefined && !this.isLeft && isUndisturbed(this.#latest.state))
      await this.#leave(this.#latest);
  }

  async #leave(known: Known): Promise<void> {
    const { member, tombstoneAt, log, terminationLog, leave } = this.#options;
    this.isBlocked = terminationLog !== undefined && !(await isLocalFile(terminationLog.path));
    const path = await tombstoneAt();
    const isOld = this.#latest === undefined || !isUnchanged(known, this.#latest);
    const { tombstone, evidence } = openTextsOf(member, known.state);
    if (path === undefined || isOld || Buffer.byteLength(tombstone) > MAX_OPEN_BYTES) return;
    const lines = { log: log.openLine('info', 'dead'), errorLog: log.openLine('error', 'dead') };
    this.isLeft = true;
    leave({ type: 'texts', path, terminationLog, tombstone, evidence: harmless(evidence), ...lines });
  }
}

/** Whether only time has passed between the two, and nothing was due. */
function isUnchanged(before: Known, after: Known): boolean {
  if (before.wakeAtMs !== after.wakeAtMs) return false;
  const keys = Object.keys(after.state) as (keyof State)[];
  return keys.every((key) => key === 'now' || before.state[key] === after.state[key]);
}
