/**
 * The one member of a container that has no graveyard. With `--http` the member itself answers. Without, /proc shows
 * it: PID 1 is sexton-init, and the command is its child that leads a process group in init's session. A supervisor,
 * probes and hooks are in sessions of their own, as are processes that `kubectl exec` starts.
 */
import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { addressText, type HttpAddress } from '../../config/notation/address.ts';
import { formatDuration } from '../../config/notation/duration.ts';
import type { RunConfig } from '../../config/run-config.ts';
import type { Tombstone } from '../../core/format/tombstone.ts';
import { parseTombstone } from '../../core/format/tombstone-parse.ts';
import { allStats, statOf } from '../../runtime/host/process-stat.ts';

export interface Command {
  readonly pid: number;
  readonly ageMs: number;
}

export function findCommand(): Command | undefined {
  const init = statOf(1);
  const self = statOf(process.pid);
  const [first] = allStats()
    .filter(({ pid, parent, group, session, isDead }) => {
      return parent === 1 && group === pid && session === init?.session && !isDead;
    })
    .toSorted((a, b) => a.started - b.started);
  if (first === undefined || self === undefined) return undefined;
  // Against this process and not /proc/uptime, which may be that of the container.
  const ageMs = ((self.started - first.started) * 1000) / TICKS_PER_SECOND + process.uptime() * 1000;
  return { pid: first.pid, ageMs: Math.max(0, Math.round(ageMs)) };
}

/** USER_HZ, which is 100 on every architecture that sexton is built for. */
const TICKS_PER_SECOND = 100;

/** Whether only the supervisor knows how healthy the command is. */
export function hasProbes({ member: { probes, postStart, notifies } }: RunConfig): boolean {
  return notifies || probes.startup !== undefined || probes.readiness !== undefined || postStart !== undefined;
}

/** It waits for its start or a restart, or it has ended and init has not. /proc does not tell these apart. */
export const NOT_RUNNING = 'not running';

/** One line as of a table of members; what /proc cannot tell is `-` or `unknown`. */
export function soloRow(run: RunConfig, command: Command | undefined, age: string): readonly string[] {
  const { name, role, restart, gracePeriodMs } = run.member;
  return [
    name,
    role,
    command === undefined ? NOT_RUNNING : 'running',
    command === undefined ? '-' : hasProbes(run) ? 'unknown' : 'healthy',
    age,
    restart === 'never' ? '0' : '-',
    command === undefined ? '-' : String(command.pid),
    gracePeriodMs === undefined ? '-' : formatDuration(gracePeriodMs),
  ];
}

export const SOLO_HEADER = ['NAME', 'ROLE', 'PHASE', 'UP', 'AGE', 'RESTARTS', 'PID', 'GRACE'] as const;

/** Its tombstone as it would be now, by `--http`; or why it does not answer. */
export async function askMember(address: HttpAddress, name: string): Promise<Tombstone | string> {
  try {
    const parsed = parseTombstone(name, await getStatus(address));
    return parsed.ok ? parsed.tombstone : `${addressText(address)} answers what is not a status: ${parsed.why}`;
  } catch (error) {
    return `${addressText(address)} does not answer: ${(error as Error).message}`;
  }
}

function getStatus(address: HttpAddress): Promise<string> {
  const where =
    address.kind === 'unix'
      ? { socketPath: address.path }
      : { host: LOCAL.get(address.host) ?? address.host, port: address.port };
  return new Promise((resolve, reject) => {
    request({ ...where, path: '/status', agent: false, signal: AbortSignal.timeout(MAX_ANSWER_MS) }, (response) => {
      text(response).then((body) => {
        if (response.statusCode !== 200) reject(new Error(`status ${response.statusCode}: ${body.trim()}`));
        else resolve(body);
      }, reject);
    })
      .on('error', reject)
      .end();
  });
}

/** Addresses that are listened at but cannot be connected to everywhere. */
const LOCAL: ReadonlyMap<string | undefined, string> = new Map([
  [undefined, '127.0.0.1'],
  ['0.0.0.0', '127.0.0.1'],
  ['::', '::1'],
]);
const MAX_ANSWER_MS = 2_000;
