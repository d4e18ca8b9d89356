/**
 * When the containers of a pod get TERM, end or are killed after the pod's deletion. It follows from the kubelet's
 * rules and what is known of each container. Pure arithmetic on intervals; times are milliseconds since the deletion.
 *
 * The kubelet's rules (pkg/kubelet/kuberuntime/kuberuntime_container.go, killContainer):
 *  * every container is stopped at the same time: first its preStop hook, for at most the grace period;
 *  * then it gets TERM, with what is left of the grace period, but at least 2 s; then KILL. The hook
 *    counts in whole seconds;
 *  * a native sidecar waits between its hook and its TERM, for as long as grace is left, until all containers and all
 *    native sidecars that were started after it have ended.
 */
import { lastTurnMs } from '../../core/pod/deadline.ts';
import { between, earliest, exactly, type Interval, isWhole, latest, plus, ZERO } from './interval.ts';

export interface ContainerPlan {
  readonly name: string;
  /** An init container with restartPolicy Always. */
  readonly isNative: boolean;
  /** Its preStop hook; undefined: none. */
  readonly hook: Interval | undefined;
  /** Its hook may end the container itself, before TERM. */
  readonly mayEndInHook: boolean;
  /** From TERM to the stop signal of its own program: a drain and a pre-stop hook inside of the container. */
  readonly drain: Interval;
  readonly waitsFor: readonly string[];
  /** From their end on it serves so much longer. */
  readonly linger: Interval;
  /** Nothing before the stop signal of its program lasts longer than this after TERM. */
  readonly waitsAtMostMs: number;
  /** Members whose deadline may end its waiting, too, once they are asked to stop. */
  readonly deadlines: readonly { readonly of: string; readonly graceMs: number }[];
  /** From the stop signal of its program to its exit. */
  readonly response: Interval;
  /** It kills its own program so long after TERM. */
  readonly ownKillMs: number;
  /** Its ladder ends in KILL, and nothing says that its program ends before. */
  readonly mayKillLast: boolean;
}

export interface PodPlan {
  readonly graceMs: number;
  /** Native sidecars in the order of their start. */
  readonly containers: readonly ContainerPlan[];
}

export type Verdict = 'never' | 'maybe' | 'always';

export interface ContainerStop {
  readonly name: string;
  readonly plan: ContainerPlan;
  readonly hookEnd: Interval;
  readonly term: Interval;
  /** When its own program gets its stop signal. */
  readonly told: Interval;
  readonly end: Interval;
  /** When the kubelet kills it if it has not ended. */
  readonly killAt: Interval;
  readonly killed: Verdict;
  /** It may kill its own program before that. */
  readonly mayKillItself: boolean;
}

export interface Timeline {
  readonly graceMs: number;
  readonly containers: readonly ContainerStop[];
  readonly end: Interval;
}

/** The kubelet's own figure: what a container gets between TERM and KILL however little is left. */
const LEAST_MS = 2_000;

/** What the kubelet leaves of the grace period behind a hook; 0: there is none. */
export function graceBehind(graceMs: number, hookMs: number): number {
  return hookMs === 0 ? graceMs : Math.max(LEAST_MS, graceMs - hookMs);
}

export function timelineOf({ graceMs, containers }: PodPlan): Timeline {
  const known = new Map<string, ContainerStop>();
  const underWay = new Set<string>();
  const natives = containers.filter(({ isNative }) => isNative);
  const mains = containers.filter(({ isNative }) => !isNative);
  const stops = containers.map(stopOf);
  return { graceMs, containers: stops, end: latest(stops.map(({ end }) => end)) };

  function stopOf(plan: ContainerPlan): ContainerStop {
    const before = known.get(plan.name);
    if (before !== undefined) return before;
    underWay.add(plan.name);
    const stop = computed(plan);
    underWay.delete(plan.name);
    known.set(plan.name, stop);
    return stop;
  }

  function computed(plan: ContainerPlan): ContainerStop {
    const hook = hookOf(plan);
    const term = plan.isNative ? termOfNative(plan, hook) : hook;
    // It gives whole seconds of the grace period, so what a hook takes of a second comes on top.
    const partMs = lostMs(plan, hook, term);
    const killAt = plus(latest([exactly(graceMs), plus(term, exactly(LEAST_MS))]), between(0, partMs));
    const awaited = plan.waitsFor.flatMap((name) => containers.find((one) => one.name === name) ?? []);
    const waited = endsOf(awaited).map((end) => plus(end, plan.linger));
    const ready = earliest([
      latest([...waited, plus(term, plan.drain)]),
      plus(term, exactly(plan.waitsAtMostMs)),
      between(earliestTurn(plan, term.minMs), Number.POSITIVE_INFINITY),
    ]);
    const responded = plus(ready, plan.response);
    const ownKill = plus(term, exactly(plan.ownKillMs));
    const ended = earliest([responded, ownKill]);
    const natural = plan.mayEndInHook ? { ...ended, minMs: 0 } : ended;
    const end = earliest([natural, killAt]);
    const killed: Verdict = natural.minMs > killAt.maxMs ? 'always' : natural.maxMs < killAt.minMs ? 'never' : 'maybe';
    const told = earliest([ready, end]);
    const reachesOwn = Number.isFinite(plan.ownKillMs) && responded.maxMs >= ownKill.minMs;
    const mayKillItself = plan.mayKillLast || reachesOwn;
    return { name: plan.name, plan, hookEnd: hook, term, told, end, killAt, killed, mayKillItself };
  }

  /** What takes the grace period and more takes no more than that: the kubelet waits no longer for a hook. */
  function hookOf({ hook = ZERO }: ContainerPlan): Interval {
    return earliest([hook, exactly(graceMs)]);
  }

  function termOfNative(plan: ContainerPlan, hook: Interval): Interval {
    const after = natives.slice(natives.indexOf(plan) + 1);
    const turn = latest(endsOf([...mains, ...after]));
    // It waits for as many whole seconds as the hook has left.
    const longestMs = graceMs + (isWhole(hook) ? 0 : 999);
    return latest([hook, earliest([turn, between(graceMs, longestMs)])]);
  }

  /** When a deadline of others may end its waiting: it hears of them where they are asked, which it may not. */
  function earliestTurn({ deadlines }: ContainerPlan, termMs: number): number {
    const turns = deadlines.map(({ of, graceMs: theirsMs }) => {
      const peer = containers.find(({ name }) => name === of);
      const atMs = (peer === undefined ? 0 : hookOf(peer).minMs) + theirsMs;
      return lastTurnMs({ sinceMs: termMs, atMs });
    });
    return Math.max(termMs, Math.min(...turns, Number.POSITIVE_INFINITY));
  }

  /** Two containers that wait for each other do not wait. */
  function endsOf(plans: readonly ContainerPlan[]): readonly Interval[] {
    return plans.filter(({ name }) => !underWay.has(name)).map((one) => stopOf(one).end);
  }
}

/** What of the time of a hook, and of a turn behind it, is not counted: parts of seconds, each for itself. */
function lostMs({ isNative }: ContainerPlan, hook: Interval, term: Interval): number {
  if (!isNative) return isWhole(hook) ? 0 : 999;
  // The two parts add up to a whole second where the turn ends with one.
  if (isWhole(term)) return isWhole(hook) ? 0 : 1_000;
  return isWhole(hook) ? 999 : 2 * 999;
}
