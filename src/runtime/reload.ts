/**
 * Watching the files whose change is told to the application.
 *
 * What counts is the content: one call for each change of it, however it came about: written in place in several
 * writes, replaced by a rename, a link that leads elsewhere, a Kubernetes volume whose `..data` was swapped. A
 * directory is all the files in it. The first content that is seen, also by a predecessor, is what later ones are
 * compared with, so a path that appears late is no change; nor is one that vanishes, or comes back as it was.
 *
 * Events only say when to look. A look compares stats; when they are different and have been the same for a while, the
 * content is read. Every few seconds it is looked without an event, as events are missing on some volumes and when
 * inotify's limits are reached. One path after the other: a volume that hangs takes no more than one thread.
 */
import type { Reload } from '../core/config.ts';
import { digest } from './reload/digest.ts';
import { Places } from './reload/places.ts';
import { type Survey, survey } from './reload/survey.ts';

export interface ReloadWatchOptions {
  readonly reloads: readonly Reload[];
  /** By index of `reloads`: the content that a predecessor has seen last. */
  readonly known?: Readonly<Record<number, string>>;
  /** `reloads[index]` has a content that was not seen before; `isChange`: in place of another. */
  readonly onContent: (index: number, digest: string, isChange: boolean) => void;
  readonly onTrouble: (message: string) => void;
  /** How often it is looked without an event. */
  readonly pollMs?: number;
}

const POLL_MS = 10_000;
/** Events come in flocks. */
const HINT_MS = 20;
/** So long the stats must stay the same. */
const SETTLE_MS = 100;
/** What never settles is read all the same. */
const MAX_SETTLING_MS = 10_000;
/**
 * Stats have the resolution of a clock tick, and of seconds on some volumes: within it two contents may have the same.
 */
const FRESH_MS = 2_000;
/** A directory that is watched anew is looked at again, but not for ever. */
const MAX_REPEATED_LOOKS = 5;

const WATCH_REMEDIES: Readonly<Record<string, string>> = {
  EMFILE: ', raise fs.inotify.max_user_instances',
  ENOSPC: ', raise fs.inotify.max_user_watches',
};

type WatchTrouble = 'watching' | 'looking' | 'too much';

interface WatchedPath {
  readonly index: number;
  readonly path: string;
  readonly places: Places;
  /** The last content; undefined: none was seen yet. */
  digest: string | undefined;
  signature: string | undefined;
  isFirstLook: boolean;
  /** Since when the stats are other than those of the content; undefined: they are the same. */
  unsettledSinceMs: number | undefined;
  /** When the stats were last seen to be others than before. */
  changedAtMs: number;
  /** The content was read so soon after it was written that its stats may not show a further change. */
  wasFresh: boolean;
  isDue: boolean;
  timer: NodeJS.Timeout | undefined;
  /** The kinds of trouble that were said. */
  readonly said: Set<WatchTrouble>;
}

export class ReloadWatch {
  readonly #options: ReloadWatchOptions;
  readonly #watched: readonly WatchedPath[];
  #isWorking = false;
  #isClosed = false;
  #poll: NodeJS.Timeout | undefined;

  constructor(options: ReloadWatchOptions) {
    this.#options = options;
    this.#watched = options.reloads.map(({ path }, index) => this.#watchedOf(path, index));
  }

  start(): void {
    this.#poll = setInterval(() => this.#lookAtAll(), this.#options.pollMs ?? POLL_MS).unref();
    this.#lookAtAll();
  }

  close(): void {
    this.#isClosed = true;
    clearInterval(this.#poll);
    for (const { timer, places } of this.#watched) {
      clearTimeout(timer);
      places.close();
    }
  }

  #watchedOf(path: string, index: number): WatchedPath {
    const onTrouble = (dir: string, error: NodeJS.ErrnoException): void => {
      const remedy = WATCH_REMEDIES[error.code ?? ''] ?? '';
      this.#complain(
        index,
        'watching',
        `cannot watch ${dir}: ${error.message}; changes of ${path} are seen late${remedy}`,
      );
    };
    return {
      index,
      path,
      places: new Places({ onHint: () => this.#lookSoon(index, HINT_MS), onTrouble }),
      digest: this.#options.known?.[index],
      signature: undefined,
      isFirstLook: true,
      unsettledSinceMs: undefined,
      changedAtMs: 0,
      wasFresh: false,
      isDue: false,
      timer: undefined,
      said: new Set(),
    };
  }

  #lookAtAll(): void {
    for (const it of this.#watched) it.isDue = true;
    void this.#work();
  }

  #lookSoon(index: number, delayMs: number): void {
    const it = this.#watched[index];
    if (it === undefined || it.timer !== undefined || this.#isClosed) return;
    it.timer = setTimeout(() => {
      it.timer = undefined;
      it.isDue = true;
      void this.#work();
    }, delayMs).unref();
  }

  async #work(): Promise<void> {
    if (this.#isWorking) return;
    this.#isWorking = true;
    for (let it = this.#nextDue(); it !== undefined; it = this.#nextDue()) {
      it.isDue = false;
      try {
        await this.#look(it);
      } catch (error) {
        this.#complain(
          it.index,
          'looking',
          `cannot look at ${it.path}: ${(error as Error).message}; it is tried again`,
        );
      }
    }
    this.#isWorking = false;
  }

  #nextDue(): WatchedPath | undefined {
    return this.#isClosed ? undefined : this.#watched.find(({ isDue }) => isDue);
  }

  async #look(it: WatchedPath): Promise<void> {
    const seen = await this.#survey(it);
    const isAtStart = it.isFirstLook;
    it.isFirstLook = false;
    if (isAtStart && seen.signature === undefined)
      this.#complain(
        it.index,
        'looking',
        `${it.path} is not there yet: its first content will be no change; check --reload`,
      );
    if (seen.isCut) this.#complain(it.index, 'too much', `${it.path} has too many files: not all of them are watched`);
    const hasChanged = seen.signature !== it.signature;
    it.signature = seen.signature;
    if (seen.signature === undefined) it.unsettledSinceMs = undefined;
    if (this.#isClosed || seen.signature === undefined) return;
    const now = performance.now();
    if (hasChanged) it.changedAtMs = now;
    if (hasChanged) it.unsettledSinceMs ??= now;
    if (it.unsettledSinceMs === undefined && !it.wasFresh) return;
    // At the start the application may be reading what is there just now.
    const isPatient = !isAtStart && now - (it.unsettledSinceMs ?? now) < MAX_SETTLING_MS;
    const restMs = it.changedAtMs + SETTLE_MS - now;
    if (isPatient && restMs > 0) return this.#lookSoon(it.index, restMs);
    await this.#read(it, seen, isPatient);
  }

  async #read(it: WatchedPath, seen: Survey, isPatient: boolean): Promise<void> {
    const content = await digest(seen.files);
    const after = await survey(it.path);
    if (this.#isClosed) return;
    // Else it was written to while it was read.
    const isStable = content !== undefined && after.signature === seen.signature;
    if (!isStable) this.#lookSoon(it.index, SETTLE_MS);
    if (content === undefined || (!isStable && isPatient)) return;
    it.unsettledSinceMs = undefined;
    it.wasFresh = isFresh(seen);
    const before = it.digest;
    it.digest = content;
    if (before !== content) this.#options.onContent(it.index, content, before !== undefined);
  }

  /** With all its directories watched, so that what changes from now on is told. */
  async #survey(it: WatchedPath): Promise<Survey> {
    let seen = await survey(it.path);
    for (let turn = 0; turn < MAX_REPEATED_LOOKS && !this.#isClosed && it.places.watch(seen.places); turn++) {
      seen = await survey(it.path);
    }
    return seen;
  }

  #complain(index: number, trouble: WatchTrouble, message: string): void {
    const said = this.#watched[index]?.said;
    if (said === undefined || said.has(trouble) || this.#isClosed) return;
    said.add(trouble);
    this.#options.onTrouble(message);
  }
}

function isFresh({ files }: Survey): boolean {
  const latest = files.reduce((most, { stats }) => (stats.ctimeMs > most ? stats.ctimeMs : most), 0n);
  return Date.now() - Number(latest) < FRESH_MS;
}
