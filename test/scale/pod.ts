/**
 * Pods of very many members for measurements. Each member is a PID namespace with sexton as PID 1 and the fixture
 * application, and all are in one cgroup. This observes less than `helpers/container.ts`, to measure only the pod.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildFixtures } from '../helpers/fixture.ts';
import { SEXTON } from '../helpers/paths.ts';
import { childrenOf, programOf, send } from '../helpers/process.ts';
import { readTimeline, type Timeline } from '../helpers/timeline.ts';
import { readTombstone } from '../helpers/tombstone.ts';
import { waitFor, within } from '../helpers/wait.ts';
import { type Group, makeGroup } from './group.ts';

export interface Seat {
  readonly name: string;
  readonly flags: readonly string[];
  /** Arguments of the fixture application, beside its name and the log. */
  readonly application: readonly string[];
  /** The uid of the container; default: our own. */
  readonly uid?: number;
  /** A command that runs before the namespaces are made, and must exec its arguments. */
  readonly outside?: readonly string[];
  /** The member may end at any time, so its `pid1` is 0. */
  readonly isBrief?: boolean;
}

export interface Seated {
  readonly name: string;
  readonly process: ChildProcess;
  readonly ended: Promise<void>;
  /** As seen from outside the namespace. */
  readonly pid1: number;
}

export interface BigPod {
  readonly graveyard: string;
  /** The events of all applications. */
  readonly log: string;
  readonly group: Group;
  readonly members: readonly Seated[];
  timeline(): Timeline;
  member(name: string): Seated;
  /** The member's stderr so far. */
  said(name: string): string;
  start(seats: readonly Seat[]): Promise<void>;
  /** Waits until the tombstones of all members say `running`. */
  running(): Promise<void>;
  ended(limitMs: number): Promise<void>;
}

/** Makes the pod's directory and group, hands the pod over, and finally ends all members and removes both. */
export async function withBigPod<T>(use: (pod: BigPod) => Promise<T>, graveyardAt?: string): Promise<T> {
  const { member: fixture } = await buildFixtures();
  const dir = mkdtempSync(join(tmpdir(), 'sx-'));
  chmodSync(dir, 0o777);
  const graveyard = graveyardAt ?? join(dir, 'g');
  if (graveyardAt === undefined) {
    mkdirSync(graveyard);
    chmodSync(graveyard, 0o777);
  }
  const log = join(dir, 'events');
  writeFileSync(log, '');
  chmodSync(log, 0o666);
  const group = makeGroup(dir.slice(dir.lastIndexOf('/') + 1));
  const members: Seated[] = [];
  const errorsOf = (name: string): string => join(dir, `${name}.err`);
  const pod: BigPod = {
    graveyard,
    log,
    group,
    members,
    timeline: () => readTimeline(log),
    member: (name) => {
      const found = members.find((it) => it.name === name);
      if (found === undefined) throw new Error(`internal error: no member ${name}`);
      return found;
    },
    said: (name) => readFileSync(errorsOf(name), 'utf8'),
    start: async (seats) => {
      const begun = seats.map((seat) => {
        const words = [`name=${seat.name}`, `log=${log}`, ...seat.application];
        const member = ['--name', seat.name, '--graveyard', graveyard, ...seat.flags];
        return { seat, process: launch(group, seat, errorsOf(seat.name), [...member, '--', fixture, ...words]) };
      });
      for (const { seat, process } of begun) {
        const ended = once(process, 'close').then(() => {});
        const pid1 = seat.isBrief ? 0 : await waitFor(`PID 1 of ${seat.name}`, () => pid1Of(process));
        members.push({ name: seat.name, process, ended, pid1 });
      }
    },
    running: async () => {
      for (const { name } of members)
        await waitFor(`${name} runs`, () => readTombstone(graveyard, name)?.Phase === 'running', START_LIMIT_MS);
    },
    ended: async (limitMs) => {
      await within('all members end', Promise.all(members.map((it) => it.ended)), limitMs);
    },
  };
  try {
    return await use(pod);
  } finally {
    for (const { process } of members) if (process.pid !== undefined) send(process.pid, 'SIGKILL');
    await group.remove();
    rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** Mains are called `main-N`, sidecars `side-N`. */
export function seatsOf(mains: number, sidecars: number, isOwnUid = true): Seat[] {
  const names = Array.from({ length: mains }, (_, at) => `main-${at}`);
  const uidOf = (at: number): { uid?: number } => (isOwnUid ? { uid: FIRST_UID + (at % UIDS) } : {});
  const never = ['--restart-policy', 'Never'];
  return [
    ...names.map((name, at) => ({ name, flags: never, application: ['stop=USR1,TERM', 'exit=0'], ...uidOf(at) })),
    ...Array.from({ length: sidecars }, (_, at) => ({
      name: `side-${at}`,
      flags: [...never, '--role', 'sidecar', ...(mains > 50 ? [] : ['--mains', names.join(',')])],
      application: ['stop=HUP,TERM', 'exit=0'],
      ...uidOf(mains + at),
    })),
  ];
}

function launch({ procs }: Group, { uid, outside = [] }: Seat, errors: string, argv: readonly string[]): ChildProcess {
  const become = uid === undefined ? [] : ['setpriv', '--reuid', `${uid}`, '--regid', `${uid}`, '--clear-groups', '--'];
  const unshare = ['unshare', '--pid', '--fork', '--mount-proc', '--kill-child=KILL', '--', ...become];
  const fd = openSync(errors, 'w');
  try {
    return spawn('sh', ['-c', `echo 0 > ${procs} && exec "$@"`, 'sh', ...outside, ...unshare, SEXTON, 'run', ...argv], {
      env: { PATH: process.env.PATH ?? '/usr/bin:/bin' },
      stdio: ['ignore', 'ignore', fd],
    });
  } finally {
    closeSync(fd);
  }
}

function pid1Of({ pid, exitCode }: ChildProcess): number | undefined {
  if (exitCode !== null) throw new Error('a member has ended before it began');
  const [child] = pid === undefined ? [] : childrenOf(pid);
  return child !== undefined && programOf(child).endsWith('/sexton') ? child : undefined;
}

/** The kernel gives each uid 128 inotify instances by default. */
const UIDS = 16;
const FIRST_UID = 30_000;
const START_LIMIT_MS = 300_000;
