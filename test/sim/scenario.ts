/**
 * One run as data: a pod, how its applications behave, what its volume is like, and which faults hit it when. `draw.ts`
 * makes it from a seed and `shrink.ts` makes it smaller. A run depends on nothing else but the seed. Times are
 * milliseconds since the pod was started.
 */
import type { MemberConfig, RestartPolicy } from '../../src/core/config.ts';
import type { ChildScript } from '../core/host.ts';
import type { ProcessScript } from './processes.ts';

export interface Scenario {
  readonly seed: number;
  readonly policy: RestartPolicy;
  /** The pod's grace period, also where it is not declared to the members. */
  readonly graceMs: number;
  /** The first back-off of the kubelet. */
  readonly backoffMs: number;
  /** Its first init container runs `sexton begin`. */
  readonly begins: boolean;
  readonly volume: VolumeScenario;
  readonly members: readonly MemberScenario[];
  readonly faults: readonly Fault[];
  readonly race: Race | undefined;
  /** A pod that has not ended by itself is deleted then. */
  readonly lastMs: number;
}

export interface VolumeScenario {
  readonly sockets: boolean;
  readonly events: 'prompt' | 'slow' | 'lossy' | 'none';
  /** What a write, a read, a listing may take. */
  readonly latencyMs: number;
  /** Kept in memory: a reboot empties it. */
  readonly inMemory: boolean;
  readonly stale: readonly Stale[];
}

/** What the first process of a command does, and what it starts. */
export type Life = Pick<ChildScript, 'errno' | 'actions'> & ProcessScript;

export interface Stale {
  readonly name: string;
  readonly is: 'dead' | 'alive' | 'garbage' | 'empty' | 'half' | 'kubexit';
  readonly of: 'another session' | 'another boot' | 'an earlier life';
}

export interface MemberScenario {
  readonly config: MemberConfig;
  readonly startMs: number;
  /** How long a supervisor takes to start. */
  readonly bootMs: number;
  /** Init starts the command itself, before there is a supervisor. */
  readonly startsAtOnce: boolean;
  /** Its wall clock is off by so much. */
  readonly skewMs: number;
  /** The kubelet's own hook before TERM takes so long. */
  readonly kubeletHookMs: number;
  /** One life of the command after the other, over all containers; the last one again and again. */
  readonly lives: readonly Life[];
  readonly signalTo: 'tree' | 'group' | 'first';
}

export const CRASH_POINTS = ['between', 'before the commit', 'before the write', 'after'] as const;
export type CrashPoint = (typeof CRASH_POINTS)[number];

/** `among`: of these only. `byRule`: a restart that the rule for this code asks for. */
export interface Request {
  readonly graceMs: number | undefined;
  readonly among: readonly string[] | undefined;
  readonly byRule?: number | undefined;
}

/** What becomes of each supervisor from then on. One that starts meets it right after its first commit. */
export const LOSSES = ['cannot be started', 'dies', 'hangs'] as const;
export type Loss = (typeof LOSSES)[number];

export type Fault = { readonly atMs: number } & (
  | { readonly do: 'crash supervisor'; readonly who: number; readonly point: CrashPoint; readonly afterEvents: number }
  | { readonly do: 'starve supervisor' | 'hang supervisor' | 'freeze'; readonly who: number; readonly forMs: number }
  | { readonly do: 'lose supervisors'; readonly who: number; readonly how: Loss }
  | { readonly do: 'kill container' | 'kill command'; readonly who: number; readonly oom: boolean }
  | { readonly do: 'pause' | 'wipe'; readonly forMs: number }
  | { readonly do: 'volume'; readonly how: VolumeTrouble; readonly forMs: number }
  | { readonly do: 'deafen'; readonly who: number }
  | { readonly do: 'turn clock'; readonly who: number; readonly byMs: number }
  | { readonly do: 'litter'; readonly name: string; readonly what: 'garbage' | 'empty' | 'kubexit' | 'leftover' }
  | { readonly do: 'replace'; readonly who: number; readonly graceMs: number }
  | { readonly do: 'signal'; readonly who: number; readonly signal: number }
  | ({ readonly do: 'sexton stop' | 'sexton restart' } & Request)
  | { readonly do: 'delete'; readonly graceMs: number; readonly evicts: boolean }
  | { readonly do: 'reboot'; readonly downMs: number }
  /** By the rule of a container that is no member. */
  | { readonly do: 'restart all' }
);

/**
 * What comes when a container of this member is at this point for the first time from then on. `prepared end`: init has
 * written it, and the supervisor does not know yet. `sleep`: init is about to let the supervisor go.
 */
export type Race = { readonly fromMs: number; readonly who: number } & (
  | ({ readonly at: 'prepared end'; readonly what: 'sexton stop' | 'sexton restart' } & Request)
  | { readonly at: 'sleep'; readonly what: 'signal'; readonly signal: number }
  | { readonly at: 'sleep'; readonly what: 'end'; readonly code: number }
  | { readonly at: 'sleep'; readonly what: 'KILL' }
  | { readonly at: 'return'; readonly what: 'delete' }
);

export type VolumeTrouble = 'full' | 'read-only' | 'denied' | 'slow';

/** How long a fault lasts. */
export function lengthOf(fault: Fault): number {
  if ('forMs' in fault) return fault.forMs;
  return fault.do === 'reboot' ? fault.downMs : 0;
}
