/** What is tried: a program or script, the work that it has under way, and how it is seen what became of that. */
import { accessSync, constants, existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { Site } from './site.ts';

export interface Program {
  /** A path, or a name that is looked up in PATH. */
  readonly program: string;
  /** Debian's name, or where else it comes from. */
  readonly package: string;
}

export interface Command {
  readonly argv: readonly string[];
  /** Besides PATH and what every trial gets. */
  readonly env?: Readonly<Record<string, string>>;
  /** Lines of sh that run in the container's own mount namespace before its PID 1 is executed. */
  readonly mounts?: readonly string[];
}

interface Tried {
  /** What several rows have in common: a server, or a way to start one. */
  readonly kind: string;
  /** In the table. */
  readonly title: string;
  readonly needs: readonly Program[];
  /** Writes what the command needs, and starts what it needs besides. */
  readonly prepare: (site: Site) => Command | Promise<Command>;
  /** `runs`: whether a process of the container has that name. */
  readonly isReady: (site: Site, runs: (name: string) => boolean) => boolean | Promise<boolean>;
}

/** A stop in the middle of work. */
export interface Row extends Tried {
  /** Resolves when the work is under way. */
  readonly begin?: (site: Site) => Promise<void>;
  readonly signal?: NodeJS.Signals;
  /** How long the work takes after the signal, with the server's own stop. */
  readonly workMs: number;
  /** Until KILL from outside; `GRACE_MS` without it. */
  readonly graceMs?: number;
  readonly judge: (site: Site) => Work | Promise<Work>;
  /** What the test holds: one of the ranks, `clean` without them, and one of the exit codes. */
  readonly sexton: { readonly ranks?: readonly Rank[]; readonly codes: readonly number[] };
}

/** A signal that is no stop. */
export interface ReloadRow extends Tried {
  readonly signal: 'SIGHUP' | 'SIGUSR1';
  readonly isHeard: (site: Site) => boolean | Promise<boolean>;
  readonly sexton: Reaction;
}

export type Reaction = 'heard' | 'ignored' | 'gone';

export interface Work {
  /** How many pieces of the work are finished, and how many there were. */
  readonly whole: number;
  readonly of: number;
  /** In few words, for the table. */
  readonly text: string;
}

export interface Outcome extends Work {
  /** By KILL from outside at the end of the grace time. */
  readonly isKilled: boolean;
  readonly code: number;
  readonly ms: number;
}

export const GRACE_MS = 10_000;
/** A stop that takes this much longer than its work is late. */
const LATE_MS = 3_000;

/** From the worst to the best. */
export const RANKS = ['lost', 'cut', 'killed', 'late', 'clean'] as const;
export type Rank = (typeof RANKS)[number];

export function rankOf({ workMs }: Row, { whole, of, isKilled, ms }: Outcome): Rank {
  if (whole === 0 && of > 0) return 'lost';
  if (whole < of) return 'cut';
  if (isKilled) return 'killed';
  return ms > workMs + LATE_MS ? 'late' : 'clean';
}

export function isWorse(rank: Rank, other: Rank): boolean {
  return RANKS.indexOf(rank) < RANKS.indexOf(other);
}

/** The first program that is not installed, in the words of test/run/skips.ts. */
export function whatLacks({ needs }: Pick<Row, 'needs'>): string | false {
  const missing = needs.find(({ program }) => !isInstalled(program));
  return missing === undefined ? false : `${missing.program} is not installed (apt-get install ${missing.package})`;
}

export function isInstalled(program: string): boolean {
  if (program.includes('/')) return existsSync(program);
  return (process.env.PATH ?? '').split(delimiter).some((dir) => {
    try {
      accessSync(join(dir, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
