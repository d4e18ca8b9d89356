/**
 * The stop requests that others leave for this member in the graveyard (`stop-request.ts`). Each is reported once and
 * then removed. If the supervisor dies in between, the next one reports it again, which changes nothing.
 *
 * A request that cannot be removed (another uid's, in a sticky directory) is remembered by its name, which is random. A
 * file that is not understood stays and is logged once. A request for an earlier life of this container is removed.
 */
import {
  isMeantFor,
  MAX_REQUEST_BYTES,
  parseRequest,
  RESTART_VERSION,
  type StopRequest,
} from '../../core/format/stop-request.ts';
import { MAX_ENTRIES } from './read.ts';
import type { VolumeAccess } from './volume.ts';

export interface Ask {
  readonly graceMs: number | undefined;
  readonly among: readonly string[] | undefined;
  /** When it was asked, CLOCK_MONOTONIC milliseconds: the grace period begins then. */
  readonly atMs: number;
  readonly by: string;
  /** It is to start again. */
  readonly restart?: { readonly byRule: number | undefined };
}

/** This life of this container: a request is meant for one life. */
export interface Self {
  readonly boot: string;
  readonly host: string;
}

export interface InboxOptions {
  readonly volume: VolumeAccess;
  /** undefined: not known yet, so no request is taken. */
  readonly self: () => Self | undefined;
  readonly onAsked: (ask: Ask) => void;
  readonly onTrouble: (message: string, error: Error | undefined) => void;
}

/** Beyond these the oldest name is forgotten, and its file read again. */
const MAX_REMEMBERED = MAX_ENTRIES;
/** Any container that can write to the graveyard could fill the log otherwise. */
const MAX_COMPLAINTS = 8;

export class Inbox {
  readonly #options: InboxOptions;
  /** Files that are done with, but still there. */
  readonly #done = new Set<string>();
  #removing: Promise<void> = Promise.resolve();
  #complaints = 0;

  constructor(options: InboxOptions) {
    this.#options = options;
  }

  /** Resolves when the requests that were understood are removed. */
  settle(): Promise<void> {
    return this.#removing;
  }

  /** To be called each time the file is seen. Never rejects. */
  async take(file: string): Promise<void> {
    const { volume, self, onAsked } = this.#options;
    const me = self();
    if (me === undefined || this.#done.has(file)) return;
    const reading = await volume.readPlain(file, MAX_REQUEST_BYTES);
    if (reading.kind === 'missing') return;
    // A file that could not be read may be readable the next time.
    if (reading.kind === 'failed') return this.#complain(file, reading.why);
    this.#done.add(file);
    const [oldest] = this.#done;
    if (this.#done.size > MAX_REMEMBERED && oldest !== undefined) this.#done.delete(oldest);
    if (reading.kind === 'ignored') return this.#complain(file, reading.why);
    const parsed = parseRequest(reading.bytes.toString());
    if (!parsed.ok) return this.#complain(file, parsed.why);
    if (isMeantFor(parsed.request, me)) onAsked(askOf(parsed.request));
    // Removed one after the other, and without waiting: the stop comes first.
    this.#removing = this.#removing
      .then(() => volume.remove(file))
      .then(() => void this.#done.delete(file))
      .catch(() => {});
  }

  #complain(file: string, why: string): void {
    if (this.#complaints++ >= MAX_COMPLAINTS) return;
    this.#options.onTrouble(`ignored the stop request ${JSON.stringify(file)} in the graveyard: ${why}`, undefined);
  }
}

function askOf({ Version, GraceMs, Among, ByRule, RequestedMonotonic, By }: StopRequest): Ask {
  const ask = { graceMs: GraceMs, among: Among, atMs: RequestedMonotonic, by: By };
  return Version === RESTART_VERSION ? { ...ask, restart: { byRule: ByRule } } : ask;
}
