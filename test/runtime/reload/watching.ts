import { execFileSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { SIGHUP } from '../../../src/core/signals.ts';
import { ReloadWatch } from '../../../src/runtime/reload/reload.ts';
import { temporaryDirectory } from '../../helpers/temporary.ts';
import { waitFor } from '../../helpers/wait.ts';

/** An ext4 with small inodes has no room for fractions of a second. */
export function coarseVolume(t: TestContext): string {
  const dir = mkdtempSync(join(tmpdir(), 'sexton-reload-'));
  const [image, mounted] = [join(dir, 'image'), join(dir, 'mounted')];
  mkdirSync(mounted);
  writeFileSync(image, '');
  truncateSync(image, 8 * 1024 * 1024);
  execFileSync('mkfs.ext4', ['-q', '-I', '128', image], { stdio: 'ignore' });
  execFileSync('mount', ['-o', 'loop', image, mounted]);
  t.after(() => {
    // Lazily, as a watch may still hold it.
    execFileSync('umount', ['-l', mounted]);
    rmSync(dir, { recursive: true });
  });
  return mounted;
}

/**
 * Watches `paths`, and after them a file of its own, the marker. A reported change of the marker shows that all files
 * before it were looked at. An earlier change that is not reported by then is never reported.
 */
export class Watching {
  readonly changes: number[] = [];
  readonly troubles: string[] = [];
  readonly #marker: string;
  readonly #watch: ReloadWatch;
  #marks = 0;

  private constructor(t: TestContext, paths: readonly string[], pollMs: number | undefined) {
    this.#marker = join(temporaryDirectory(), 'marker');
    writeFileSync(this.#marker, 'mark 0');
    const reloads = [...paths, this.#marker].map((path) => ({ path, signal: SIGHUP, validate: undefined }));
    this.#watch = new ReloadWatch({
      reloads,
      onContent: (index, _digest, isChange) => {
        if (isChange) index === paths.length ? this.#marks++ : this.changes.push(index);
      },
      onTrouble: (message) => this.troubles.push(message),
      mayTell: () => true,
      ...(pollMs !== undefined && { pollMs }),
    });
    this.#watch.start();
    t.after(() => this.#watch.close());
  }

  /** Resolves when all has been looked at once. */
  static async begin(t: TestContext, paths: readonly string[], pollMs?: number): Promise<Watching> {
    const watching = new Watching(t, paths, pollMs);
    // The marker is the last one, so its change shows that the first look at all of them is over.
    await watching.settle();
    return watching;
  }

  /** The reported changes, when there are `count` of them and no more is to come. */
  async told(count: number): Promise<readonly number[]> {
    await waitFor(`${count} changes`, () => this.changes.length >= count);
    await this.settle();
    return this.changes.splice(0);
  }

  /** Twice: what is looked at together with the marker may settle a round later. */
  async settle(): Promise<void> {
    for (let round = 0; round < 2; round++) {
      const marks = this.#marks;
      let nextMs = 0;
      let waitMs = 300;
      await waitFor('the change of the marker', () => {
        // The first content may become the baseline, so write again. Wait longer each time, as a change must settle.
        if (performance.now() > nextMs) {
          writeFileSync(this.#marker, `${marks} ${Math.random()}`);
          nextMs = performance.now() + waitMs;
          waitMs *= 2;
        }
        return this.#marks > marks;
      });
    }
  }
}

/** A ConfigMap, Secret or projected volume, updated as the kubelet's atomic writer does it. */
export class Volume {
  readonly dir: string;
  #updates = 0;

  constructor(dir: string, files: Readonly<Record<string, string>>) {
    this.dir = dir;
    mkdirSync(dir, { recursive: true });
    this.update(files);
    for (const name of new Set(Object.keys(files).map((path) => path.split('/')[0] ?? ''))) {
      symlinkSync(`..data/${name}`, join(dir, name));
    }
  }

  update(files: Readonly<Record<string, string>>): void {
    const stamp = `..2024_01_01_00_00_00.${this.#updates++}`;
    for (const [name, content] of Object.entries(files)) {
      mkdirSync(join(this.dir, stamp, name, '..'), { recursive: true });
      writeFileSync(join(this.dir, stamp, name), content);
    }
    const old = this.#updates > 1 ? readlinkSync(join(this.dir, '..data')) : undefined;
    symlinkSync(stamp, join(this.dir, '..data_tmp'));
    renameSync(join(this.dir, '..data_tmp'), join(this.dir, '..data'));
    if (old !== undefined) rmSync(join(this.dir, old), { recursive: true });
  }
}
