/**
 * Watches the files whose change is reported to the application.
 *
 * What counts is the content: each change of it gives one call. A file may be written in place, replaced by a rename,
 * or reached by another link, as when Kubernetes swaps `..data` of a volume. A directory is all the files in it. The
 * first content, even one that a predecessor has seen, is what later ones are compared with. So a path that appears
 * late is no change, nor is one that vanishes or comes back as it was.
 *
 * Events only say when to look. A look compares stats, and reads the content once new stats have stayed the same for a
 * while. Looks also come every few seconds, as some volumes give no events and inotify has limits. They take one path
 * after the other, so that a volume that hangs takes no more than one thread.
 */
import type { Reload } from '../../core/config.ts';
import { digest } from './digest.ts';
import { Places } from './places.ts';
import { type Survey, survey } from './survey.ts';

export interface ReloadWatchOptions {
  readonly reloads: readonly Reload[];
  /** By index of `reloads`: the content that a predecessor has seen last. */
  readonly known?: Readonly<Record<number, string>>;
  /** `reloads[index]` has a content that was not seen before; `isChange`: in place of another. */
  readonly onContent: (index: number, digest: string, isChange: boolean) => void;
  readonly onTrouble: (message: string) => void;
  /** Whether the application is up. Until then its changes wait. */
  readonly mayTell: () => boolean;
  /** How often it looks without an event. */
  readonly pollMs?: number;
}

const POLL_MS = 10_000;
/** Events come in flocks. */
const HINT_MS = 20;
/** The stats must stay the same for so long. */
const SETTLE_MS = 100;
/** How often it asks whether the application is up. */
const ASKING_MS = 200;
/** A file that never settles is read all the same. */
const MAX_SETTLING_MS = 10_000;
/**
 * Stats have the resolution of a clock tick, and of seconds on some volumes: within it two contents may have the same.
 */
const FRESH_MS = 2_000;
/** A directory with a new watch is looked at again, up to this many times. */
const MAX_REPEATED_LOOKS = 5;

const WATCH_REMEDIES: Readonly<Record<string, string>> = {
  EMFILE: ', raise fs.inotify.max_user_instances',
  ENOSPC: ', raise fs.inotify.max_user_watches',
};

type Trouble = 'watching' | 'looking' | 'too much';

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
  readonly reported: Set<Trouble>;
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
    this.#poll = setInterval(() => void this.#lookAt(this.#watched), this.#options.pollMs ?? POLL_MS).unref();
    void this.#lookAt(this.#watched);
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
    const onHint = (): void => this.#lookSoon(watched, HINT_MS);
    const onTrouble = (dir: string, { code = '', message }: NodeJS.ErrnoException): void => {
      const remedy = WATCH_REMEDIES[code] ?? '';
      this.#report(watched, 'watching', `cannot watch ${dir}: ${message}; changes of ${path} are seen late${remedy}`);
    };
    const watched: WatchedPath = {
      index,
      path,
      places: new Places({ onHint, onTrouble }),
      digest: this.#options.known?.[index],
      signature: undefined,
      isFirstLook: true,
      unsettledSinceMs: undefined,
      changedAtMs: 0,
      wasFresh: false,
      isDue: false,
      timer: undefined,
      reported: new Set(),
    };
    return watched;
  }

  #lookSoon(it: WatchedPath, delayMs: number): void {
    if (it.timer !== undefined || this.#isClosed) return;
    it.timer = setTimeout(() => {
      it.timer = undefined;
      void this.#lookAt([it]);
    }, delayMs).unref();
  }

  async #lookAt(paths: readonly WatchedPath[]): Promise<void> {
    for (const it of paths) it.isDue = true;
    if (this.#isWorking) return;
    this.#isWorking = true;
    for (let it = this.#nextDue(); it !== undefined; it = this.#nextDue()) {
      it.isDue = false;
      try {
        await this.#look(it);
      } catch (error) {
        this.#report(it, 'looking', `cannot look at ${it.path}: ${(error as Error).message}; it is tried again`);
      }
    }
    this.#isWorking = false;
  }

  #nextDue(): WatchedPath | undefined {
    return this.#isClosed ? undefined : this.#watched.find(({ isDue }) => isDue);
  }

  async #look(it: WatchedPath): Promise<void> {
    const { path } = it;
    const seen = await this.#survey(it);
    const isAtStart = it.isFirstLook;
    it.isFirstLook = false;
    if (isAtStart && seen.signature === undefined)
      this.#report(it, 'looking', `${path} is not there yet: its first content will be no change; check --reload`);
    if (seen.isCut) this.#report(it, 'too much', `${path} has too many files: not all of them are watched`);
    const hasChanged = seen.signature !== it.signature;
    it.signature = seen.signature;
    if (seen.signature === undefined) it.unsettledSinceMs = undefined;
    if (this.#isClosed || seen.signature === undefined) return;
    const now = performance.now();
    if (hasChanged) it.changedAtMs = now;
    if (hasChanged) it.unsettledSinceMs ??= now;
    if (it.unsettledSinceMs === undefined && !it.wasFresh) return;
    if (!isAtStart && !this.#options.mayTell()) return this.#lookSoon(it, ASKING_MS);
    // At the start the application may be reading what is there just now.
    const isPatient = !isAtStart && now - (it.unsettledSinceMs ?? now) < MAX_SETTLING_MS;
    const restMs = it.changedAtMs + SETTLE_MS - now;
    if (isPatient && restMs > 0) return this.#lookSoon(it, restMs);
    await this.#read(it, seen, isPatient);
  }

  async #read(it: WatchedPath, seen: Survey, isPatient: boolean): Promise<void> {
    const content = await digest(seen.files);
    const after = await survey(it.path);
    if (this.#isClosed) return;
    // Otherwise the file was written to while it was read.
    const isStable = content !== undefined && after.signature === seen.signature;
    if (!isStable) this.#lookSoon(it, SETTLE_MS);
    if (content === undefined || (!isStable && isPatient)) return;
    it.unsettledSinceMs = undefined;
    it.wasFresh = seen.files.some(({ stats }) => Date.now() - Number(stats.ctimeMs) < FRESH_MS);
    const before = it.digest;
    it.digest = content;
    if (before !== content) this.#options.onContent(it.index, content, before !== undefined);
  }

  /** Watches all directories of the path as well, so that each later change gives an event. */
  async #survey({ path, places }: WatchedPath): Promise<Survey> {
    let seen = await survey(path);
    for (let turn = 0; turn < MAX_REPEATED_LOOKS && !this.#isClosed && places.watch(seen.places); turn++)
      seen = await survey(path);
    return seen;
  }

  #report({ reported }: WatchedPath, trouble: Trouble, message: string): void {
    if (reported.has(trouble) || this.#isClosed) return;
    reported.add(trouble);
    this.#options.onTrouble(message);
  }
}
