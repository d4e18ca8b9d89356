/** A member of a pod under measurement: sexton (or another wrapper) around `first`, whose stamps are read here. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { SEXTON } from '../helpers/paths.ts';
import { childrenOf } from '../helpers/process.ts';
import { readTombstone } from '../helpers/tombstone.ts';
import { waitFor, within } from '../helpers/wait.ts';

export interface Words {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

export interface Member {
  readonly child: ChildProcess;
  readonly ended: Promise<unknown>;
  /** When the first record of this kind was made, CLOCK_MONOTONIC nanoseconds; the kinds are those of `record.h`. */
  record(kind: string): Promise<number>;
  /** Tells the application to end. */
  order(): void;
}

/** sexton around the application. `isAsleep`: its supervisor may leave after half a second. */
export function memberWords(
  first: string,
  graveyard: string,
  { name, isAsleep, flags = [] }: { name: string; isAsleep: boolean; flags?: readonly string[] },
): Words {
  const after = ['--sleep-after', isAsleep ? '500ms' : 'never'];
  const all = ['--graveyard', graveyard, '--name', name, '--restart-policy', 'Never', ...after, ...flags];
  return { argv: [SEXTON, 'run', ...all, '--', first], env: {} };
}

/** Resolves when it runs and has been let alone for a second: asleep, if it may be. */
export async function settled(member: Member, graveyard: string, name: string, isAsleep: boolean): Promise<void> {
  await member.record('f');
  await waitFor(`${name} runs`, () => readTombstone(graveyard, name)?.Phase === 'running');
  if (isAsleep) await waitFor(`${name} sleeps`, () => childrenOf(member.child.pid ?? 0).length === 1);
  await sleep(IDLE_MS);
}

/** `procs`: of the cgroup that it starts in. */
export function startMember({ argv, env }: Words, procs?: string): Member {
  const stdio = ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] as const;
  const [program = '', ...rest] = procs === undefined ? argv : ['sh', '-c', ENTER, procs, ...argv];
  const child = spawn(program, rest, { env: { PATH: process.env.PATH ?? '', ...env }, stdio: [...stdio] });
  const [, , , reports, orders] = child.stdio as unknown as readonly Duplex[];
  let bytes = Buffer.alloc(0);
  const waiting = new Set<() => void>();
  const look = (): void => {
    for (const does of waiting) does();
  };
  reports?.on('data', (chunk: Buffer) => {
    bytes = Buffer.concat([bytes, chunk]);
    look();
  });
  orders?.on('error', () => {});
  const ended = new Promise((resolve) => child.once('exit', resolve));
  const found = (kind: string): Promise<number> =>
    new Promise((resolve, reject) => {
      const find = (): void => {
        for (let at = 0; at + RECORD_BYTES <= bytes.length; at += RECORD_BYTES)
          if (bytes[at] === kind.charCodeAt(0)) {
            waiting.delete(find);
            resolve(Number(bytes.readBigInt64LE(at + 8)));
          }
      };
      waiting.add(find);
      child.once('error', reject);
      find();
    });
  return {
    child,
    ended,
    order: () => orders?.write('x'),
    record: (kind) => within(`a record of ${argv.join(' ')}`, found(kind)),
  };
}

/** Lends a graveyard to `use`, and ends the members that were started in it. */
export async function inGraveyard<T>(
  use: (graveyard: string, start: (words: Words, procs?: string) => Member) => Promise<T>,
): Promise<T> {
  const graveyard = mkdtempSync(join(tmpdir(), 'sexton-bench-'));
  const members: Member[] = [];
  const start = (words: Words, procs?: string): Member => {
    const member = startMember(words, procs);
    members.push(member);
    return member;
  };
  try {
    return await use(graveyard, start);
  } finally {
    for (const { child } of members) child.kill('SIGKILL');
    rmSync(graveyard, { recursive: true, force: true });
  }
}

const ENTER = 'echo 0 > "$0" && exec "$@"';
const RECORD_BYTES = 24;
const IDLE_MS = 1_000;
