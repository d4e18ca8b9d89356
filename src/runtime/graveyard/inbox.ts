/**
 * The stop requests that others leave for this member in the graveyard (`stop-request.ts`). Each is handed up once and
 * removed after that, so that a supervisor that dies in between has its successor hear of it again; to be asked twice
 * changes nothing.
 *
 * One that cannot be removed (another uid's, in a sticky directory) is remembered by its name, which is random. What is
 * not understood is left where it is and said once. What was meant for an earlier life of this container is removed.
 */
import { unlink } from 'node:fs/promises';
import { join } from 'node:path';
import {
  isMeantFor,
  MAX_REQUEST_BYTES,
  parseRequest,
  RESTART_VERSION,
  type StopRequest,
} from '../../core/format/stop-request.ts';
import { inDirectory } from './directory.ts';
import { MAX_ENTRIES, readPlainFile } from './read.ts';

export interface Ask {
  readonly graceMs: number | undefined;
  readonly among: readonly string[] | undefined;
  /** When it was asked, CLOCK_MONOTONIC milliseconds: the grace runs from then on. */
  readonly atMs: number;
  /** Who asked, for the record. */
  readonly by: string;
  /** It is to start again. */
  readonly restart?: { readonly byRule: number | undefined };
}

/** Who we are: a request is meant for one life of a container. */
export interface Self {
  readonly boot: string;
  readonly host: string;
}

export interface InboxOptions {
  readonly dir: string;
  /** undefined: not known yet, nothing is taken. */
  readonly self: () => Self | undefined;
  readonly onAsked: (ask: Ask) => void;
  readonly onTrouble: (message: string, error: Error | undefined) => void;
}

/** Beyond, the oldest are forgotten and looked at again. */
const MAX_REMEMBERED = MAX_ENTRIES;

export class Inbox {
  readonly #options: InboxOptions;
  /** Done with, but still there. */
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

  /** Reads the request in this file, each time the file is seen. Never rejects. */
  async take(file: string): Promise<void> {
    const self = this.#options.self();
    if (self === undefined || this.#done.has(file)) return;
    const reading = await readPlainFile(join(this.#options.dir, file), MAX_REQUEST_BYTES);
    switch (reading.kind) {
      case 'missing':
        return;
      case 'ignored':
        return this.#ignore(file, reading.why);
      case 'failed':
        // It may be readable the next time.
        return this.#complain(file, reading.why);
      case 'bytes': {
        const parsed = parseRequest(reading.bytes.toString());
        if (!parsed.ok) return this.#ignore(file, parsed.why);
        if (isMeantFor(parsed.request, self)) this.#options.onAsked(askOf(parsed.request));
        return this.#remove(file);
      }
      default:
        reading satisfies never;
    }
  }

  /** One after the other, and nobody waits for it: what was asked for goes first. */
  #remove(file: string): void {
    // Before the removal, which another look may come into.
    this.#remember(file);
    this.#removing = this.#removing
      .then(() => inDirectory(this.#options.dir, (here) => unlink(join(here, file))))
      .then(
        () => void this.#done.delete(file),
        () => {},
      );
  }

  #ignore(file: string, why: string): void {
    this.#remember(file);
    this.#complain(file, why);
  }

  #remember(file: string): void {
    this.#done.add(file);
    for (const oldest of this.#done) {
      if (this.#done.size <= MAX_REMEMBERED) break;
      this.#done.delete(oldest);
    }
  }

  #complain(file: string, why: string): void {
    if (this.#complaints++ >= MAX_COMPLAINTS) return;
    this.#options.onTrouble(`ignored the stop request ${JSON.stringify(file)} in the graveyard: ${why}`, undefined);
  }
}

/** Any container that can write to the graveyard could fill the log otherwise. */
const MAX_COMPLAINTS = 8;

function askOf({ Version, GraceMs, Among, ByRule, RequestedMonotonic, By }: StopRequest): Ask {
  const ask = { graceMs: GraceMs, among: Among, atMs: RequestedMonotonic, by: By };
  return Version === RESTART_VERSION ? { ...ask, restart: { byRule: ByRule } } : ask;
}
