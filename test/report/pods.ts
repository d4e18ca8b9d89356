import { formatTombstone, type HistoryEntry, type Tombstone } from '../../src/core/format/tombstone.ts';

export const BEGAN_MS = Date.UTC(2026, 0, 2, 3, 4, 5);

export function at(ms: number): string {
  return `${new Date(BEGAN_MS + ms).toISOString().slice(0, -1)}000000Z`;
}

function told(ms: number, Event: string, more: Readonly<Record<string, string | number>> = {}): HistoryEntry {
  return { At: at(ms), Event, ...more };
}

const BASE = { Version: 1, Session: 'web-0', Boot: 'b', Restarts: 0, Final: true, RestartPolicy: 'Never' } as const;

export const MAIN: Tombstone = {
  ...BASE,
  Name: 'main',
  Role: 'main',
  Phase: 'dead',
  Born: at(-5_000),
  Started: at(-5_000),
  StopRequested: at(0),
  StopReason: 'signal TERM',
  Deadline: 130_000,
  Died: at(4_000),
  DiedMonotonic: 104_000,
  ExitCode: 0,
  Reason: 'stopped',
  History: [
    told(-5_000, 'phase', { Phase: 'starting' }),
    told(-5_000, 'started', { Pid: 7, Incarnation: 1 }),
    told(-4_900, 'phase', { Phase: 'running' }),
    told(0, 'signal received', { Signal: 'SIGTERM', Sender: 0 }),
    told(0, 'phase', { Phase: 'draining' }),
    told(500, 'signal sent', { Signal: 'SIGUSR1' }),
    told(2_000, 'hook', { Hook: 'pre-stop' }),
    told(3_000, 'hook ended', { Hook: 'pre-stop', Result: 'success' }),
    told(3_000, 'signal sent', { Signal: 'SIGTERM' }),
    told(3_000, 'phase', { Phase: 'stopping' }),
    told(4_000, 'exited', { ExitCode: 0 }),
    told(4_000, 'phase', { Phase: 'dead' }),
  ],
};

export const PROXY: Tombstone = {
  ...BASE,
  Name: 'proxy',
  Role: 'sidecar',
  Phase: 'dead',
  Born: at(-6_000),
  Started: at(-6_000),
  StopRequested: at(10),
  StopReason: 'signal TERM',
  Died: at(6_500),
  DiedMonotonic: 106_500,
  ExitCode: 137,
  Signal: 'SIGKILL',
  Reason: 'killed',
  History: [
    told(10, 'signal received', { Signal: 'SIGTERM', Sender: 0 }),
    told(10, 'phase', { Phase: 'holding' }),
    told(4_010, 'signal sent', { Signal: 'SIGTERM' }),
    told(4_010, 'phase', { Phase: 'stopping' }),
    told(6_010, 'signal sent', { Signal: 'SIGKILL' }),
    told(6_500, 'exited', { Signal: 'SIGKILL', By: 'sexton' }),
    told(6_500, 'phase', { Phase: 'dead' }),
  ],
};

export const FILES: readonly string[] = [MAIN, PROXY].map(formatTombstone);

/** As sexton writes it to the termination log. */
export const EVIDENCE = {
  Summary: 'stopped in 4.0 s (signal TERM): drain 3.0 s (312 connections), TERM 1.0 s, exit code 0, not forced',
  Name: 'main',
  Reason: 'stopped',
  ExitCode: 0,
  StopReason: 'signal TERM',
  StopMs: 4_000,
  GraceMs: 30_000,
  GraceLeftMs: 26_000,
  Phases: [
    { Phase: 'drain', Ms: 3_000 },
    { Phase: 'ladder', Signal: 'SIGTERM', Ms: 999 },
  ],
  Connections: { New: 312, Ignored: 2, Ended: 'quiet' },
  Restarts: 0,
  OomKills: 0,
  Born: at(-5_000),
  StopRequested: at(0),
  Died: at(4_000),
} as const;

/** A Pod as the API server prints it, of one replica of a Deployment. */
export function podOf(name: string, messages: Readonly<Record<string, object>>, exitCode = 0): object {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace: 'shop',
      labels: { 'pod-template-hash': '6d4cf56db6' },
      ownerReferences: [{ kind: 'ReplicaSet', name: 'web-6d4cf56db6', controller: true }],
    },
    status: {
      containerStatuses: Object.entries(messages).map(([container, message]) => ({
        name: container,
        state: { terminated: { exitCode, finishedAt: at(4_000), message: `${JSON.stringify(message)}\n` } },
      })),
    },
  };
}
