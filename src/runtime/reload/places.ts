/**
 * The directories that are watched for one path. An event is only a hint to look. inotify is used through Node's own
 * watcher, which has one instance for all of a process; it follows the directory and not its name, so a directory that
 * another has taken the place of is watched anew.
 */
import { type FSWatcher, watch } from 'node:fs';
import { basename } from 'node:path';
import type { Place } from './survey.ts';

interface Watched {
  place: Place;
  readonly watcher: FSWatcher;
}

export interface PlacesOptions {
  readonly onHint: () => void;
  /** Told each time a directory cannot be watched. */
  readonly onTrouble: (dir: string, error: Error) => void;
}

export class Places {
  readonly #options: PlacesOptions;
  readonly #watched = new Map<string, Watched>();

  constructor(options: PlacesOptions) {
    this.#options = options;
  }

  /** Whether one is watched from now on that was not before: what happened there meanwhile was not seen. */
  watch(places: ReadonlyMap<string, Place>): boolean {
    let isNew = false;
    for (const [dir, { watcher, place }] of this.#watched) {
      if (places.get(dir)?.id === place.id) continue;
      watcher.close();
      this.#watched.delete(dir);
    }
    for (const [dir, place] of places) {
      const known = this.#watched.get(dir);
      if (known !== undefined) known.place = place;
      else if (this.#open(dir, place)) isNew = true;
    }
    return isNew;
  }

  close(): void {
    this.watch(new Map());
  }

  #open(dir: string, place: Place): boolean {
    try {
      const watcher = watch(dir, { persistent: false }, (_, name) => this.#hear(dir, name));
      watcher.on('error', (error) => this.#drop(dir, watcher, error as Error));
      this.#watched.set(dir, { place, watcher });
      return true;
    } catch (error) {
      this.#options.onTrouble(dir, error as Error);
      return false;
    }
  }

  #hear(dir: string, name: string | null): void {
    const names = this.#watched.get(dir)?.place.names;
    if (names === undefined) return;
    // What happens to the directory itself is told with its own name.
    if (names === 'all' || name === null || names.has(name) || name === basename(dir)) this.#options.onHint();
  }

  #drop(dir: string, watcher: FSWatcher, error: Error): void {
    watcher.close();
    if (this.#watched.get(dir)?.watcher === watcher) this.#watched.delete(dir);
    this.#options.onTrouble(dir, error);
  }
}
