/**
 * Watches the directories of one path. An event is only a hint to look. Node's own watcher has one inotify instance for
 * all of a process. It follows the directory and not its name, so a directory that replaces another gets a new watch.
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
  /** Called each time a directory cannot be watched. */
  readonly onTrouble: (dir: string, error: Error) => void;
}

export class Places {
  readonly #options: PlacesOptions;
  readonly #watched = new Map<string, Watched>();

  constructor(options: PlacesOptions) {
    this.#options = options;
  }

  /** True when a directory is watched from now on that was not before: nothing saw what happened there meanwhile. */
  watch(places: ReadonlyMap<string, Place>): boolean {
    for (const [dir, { watcher, place }] of this.#watched) {
      if (places.get(dir)?.id === place.id) continue;
      watcher.close();
      this.#watched.delete(dir);
    }
    const opened = [...places].filter(([dir, place]) => {
      const known = this.#watched.get(dir);
      if (known !== undefined) known.place = place;
      return known === undefined && this.#open(dir, place);
    });
    return opened.length > 0;
  }

  close(): void {
    this.watch(new Map());
  }

  #open(dir: string, place: Place): boolean {
    try {
      const watcher = watch(dir, { persistent: false }, (_, name) => this.#onEvent(dir, name));
      watcher.on('error', (error) => {
        watcher.close();
        if (this.#watched.get(dir)?.watcher === watcher) this.#watched.delete(dir);
        this.#options.onTrouble(dir, error as Error);
      });
      this.#watched.set(dir, { place, watcher });
      return true;
    } catch (error) {
      this.#options.onTrouble(dir, error as Error);
      return false;
    }
  }

  #onEvent(dir: string, name: string | null): void {
    const names = this.#watched.get(dir)?.place.names;
    // An event of the directory itself has its own name.
    const counts = names === 'all' || name === null || names?.has(name) || name === basename(dir);
    if (names !== undefined && counts) this.#options.onHint();
  }
}
