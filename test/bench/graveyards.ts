/** Graveyards of the bench: each container that gets one gets its own, empty one. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SEXTON_NAME, type Subject } from './subjects.ts';

export class Graveyards {
  readonly #dirs: string[] = [];

  /** sexton as a member of a pod; `what` is added to its name. */
  member(subject: Subject, what: string, flags: readonly string[] = []): Subject {
    const dir = mkdtempSync(join(tmpdir(), 'sexton-bench-'));
    this.#dirs.push(dir);
    const [program = '', ...rest] = subject.before;
    const before = [program, '--graveyard', dir, '--name', 'first', '--restart-policy', 'Never', ...flags, ...rest];
    return { ...subject, name: `${SEXTON_NAME}, ${what}`, before };
  }

  remove(): void {
    for (const dir of this.#dirs) rmSync(dir, { recursive: true, force: true });
  }
}
