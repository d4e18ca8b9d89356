/**
 * Checks of settings that are right alone and wrong together, and warnings about those that are most likely a mistake.
 * One slip must not bring a second message: a check does not apply when it reads a setting that cannot be parsed.
 */
import { handleOf, MAX_SOCKET_PATH_BYTES } from '../core/format/tombstone.ts';
import { longestDrainMs } from '../core/lifecycle/stop/drain.ts';
import { ASSUMED_GRACE_MS, lastTurnMs } from '../core/pod/deadline.ts';
import type { Key } from './flags.ts';
import { formatDrain, parseDrain } from './notation/actions/drain.ts';
import { formatDuration } from './notation/duration.ts';
import { repeated, show } from './notation/parse.ts';
import { isSidecarName } from './notation/sidecars.ts';
import { formatSignal } from './notation/stop/signals.ts';
import type { Settings } from './settle.ts';

export function findProblems(settings: Settings): readonly string[] {
  return runChecks(PROBLEMS, settings);
}

/** What is allowed but most likely not meant; logged once when the member starts. */
export function findWarnings(settings: Settings): readonly string[] {
  return runChecks(WARNINGS, settings);
}

type Check = (settings: Settings) => string | undefined;

function runChecks(checks: readonly Check[], settings: Settings): readonly string[] {
  return checks.flatMap((check) => {
    let isBroken = false;
    const watched = new Proxy(settings, {
      get: (all, key: Key) => {
        isBroken ||= all[key].isBroken;
        return all[key];
      },
    });
    const problem = check(watched) ?? [];
    return isBroken ? [] : problem;
  });
}

const PROBLEMS: readonly Check[] = [
  ({ role, graveyard }) => {
    if (role.value !== 'sidecar' || graveyard.value !== undefined) return undefined;
    return `${role.label}: a sidecar needs a graveyard; give --graveyard DIR, a volume that it shares with its mains`;
  },
  ({ startAfter, graveyard }) => {
    const { members = [] } = startAfter.value ?? {};
    if (members.length === 0 || graveyard.value !== undefined) return undefined;
    const sidecar = members.find(({ name }) => isSidecarName(name))?.name;
    const instead = sidecar === undefined ? '' : `; where ${sidecar} runs without sexton write ${sidecar}=ready`;
    return `${startAfter.label}: needs a graveyard; give --graveyard DIR, a volume that it shares with them${instead}`;
  },
  ({ startAfter, name }) => {
    if (!startAfter.value?.members.some((gate) => gate.name === name.value)) return undefined;
    return `${startAfter.label}: ${name.value} is this member itself; leave it out, or give another --name`;
  },
  ({ mains, name, role }) => {
    if (role.value !== 'sidecar' || !mains.value?.some((main) => main === name.value)) return undefined;
    return `${mains.label}: ${name.value} is this sidecar itself; leave it out, or give another --name`;
  },
  ({ startAfter, mains, role }) => {
    const ended = startAfter.value?.members.find(
      (gate) => gate.condition === 'completed' && mains.value?.includes(gate.name),
    );
    if (role.value !== 'sidecar' || ended === undefined) return undefined;
    return `${startAfter.label}: ${ended.name} is also a main, whose end stops this sidecar; write ${ended.name}=started`;
  },
  ({ graveyard, name }) => {
    if (graveyard.value === undefined || name.value === undefined) return undefined;
    const bytes = Buffer.byteLength(`${graveyard.value}/${handleOf(name.value)}`);
    if (bytes <= MAX_SOCKET_PATH_BYTES) return undefined;
    return `${graveyard.label}: the path of this member's socket in it has ${bytes} bytes, at most ${MAX_SOCKET_PATH_BYTES} are possible; use a shorter one`;
  },
  ({ drain, gracePeriod }) => {
    if (!reaches(longestOf(drain), gracePeriod.value)) return undefined;
    const isAtLeast = reaches(shortestOf(drain), gracePeriod.value);
    const total = isAtLeast ? '' : `may take ${formatDuration(longestOf(drain))}, `;
    const remedy = isAtLeast ? 'drain' : 'max=';
    return `${drain.label}: ${total}must be shorter than ${gracePeriod.label}, or no time is left to stop; write a shorter ${remedy}`;
  },
  (settings) => sleepProblem(settings, longestOf(settings.drain), settings.gracePeriod, 'or no time is left to stop'),
  ({ drain, gracePeriod, stop, preStop }) => {
    const rungsMs = rungsMsOf(stop);
    const { beforeMs, labels } = beforeRungs(drain, preStop);
    if (rungsMs === 0 || gracePeriod.value === undefined || reaches(beforeMs, gracePeriod.value)) return undefined;
    if (rungsMs + beforeMs <= gracePeriod.value) return undefined;
    const withOthers = labels.length === 0 ? '' : ` with ${labels.join(' and ')}`;
    const total = formatDuration(rungsMs + beforeMs);
    return `${stop.label}: takes ${total}${withOthers}, longer than ${gracePeriod.label}; shorten the rungs or raise both grace periods`;
  },
  ({ restartPodOn, liveness, notify }) => {
    if (restartPodOn.value?.liveness !== true || liveness.value !== undefined) return undefined;
    if (notify.value?.watchdogMs !== undefined) return undefined;
    return `${restartPodOn.label}: there is no liveness probe; give --liveness, or leave liveness out`;
  },
  ({ reload }) => {
    const twice = repeated((reload.value ?? []).map(({ path }) => path));
    return twice === undefined ? undefined : `--reload: ${show(twice)} is named twice; name it once`;
  },
  ({ graceFloor, gracePeriod }) => {
    if (graceFloor.value === gracePeriod.value || !reaches(graceFloor.value, gracePeriod.value)) return undefined;
    return `${graceFloor.label}: must not be longer than ${gracePeriod.label}; write a shorter one, or leave it out`;
  },
  ({ drain, graceFloor }) => {
    if (!reaches(shortestOf(drain), graceFloor.value)) return undefined;
    return `${drain.label}: must be shorter than ${graceFloor.label}, by which it always ends; write a shorter drain`;
  },
  (settings) => {
    // A sidecar's hook also runs when its mains have finished, where no floor applies.
    if (settings.role.value === 'sidecar') return undefined;
    return sleepProblem(settings, shortestOf(settings.drain) ?? 0, settings.graceFloor, 'by which it always ends');
  },
  ({ idleWhen, drain, gracePeriod }) => {
    if (idleWhen.value === undefined || drain.value?.kind === 'adaptive') return undefined;
    if (drain.isGiven)
      return `${drain.label}: does not wait for --idle-when; write min=1s,quiet=2s,max=15s, or leave it out`;
    if (gracePeriod.value !== undefined) return undefined;
    return `${idleWhen.label}: nothing says how long the application may be busy; give --grace-period, or --drain with max=`;
  },
  ({ idleWhen, drain }) => {
    const ms = Math.max(idleWhen.value?.forMs ?? 0, idleWhen.value?.staleMs ?? 0);
    const mostMs = longestOf(drain);
    if (idleWhen.value === undefined || drain.value?.kind !== 'adaptive' || ms < mostMs) return undefined;
    return `${idleWhen.label}: for= or stale= of ${formatDuration(ms)} is not over when the drain of ${formatDuration(mostMs)} is; make it shorter`;
  },
  ({ idleWhen, notify }) => {
    if (idleWhen.value?.action.kind !== 'notify' || notify.value?.from !== 'off') return undefined;
    return `${idleWhen.label}: the command has no socket to say so with --notify off; give --notify command`;
  },
  ({ drain, idleWhen }) => {
    if (drain.value?.kind !== 'adaptive' || drain.value.quietMs > 0 || idleWhen.value !== undefined) return undefined;
    return `${drain.label}: quiet=off leaves nothing to wait for; give --idle-when, or a time for quiet`;
  },
  ({ hold, gracePeriod }) => {
    if (hold.value?.kind !== 'for' || !reaches(hold.value.ms, gracePeriod.value)) return undefined;
    return `${hold.label}: must be shorter than ${gracePeriod.label}, or it never ends in time; write a shorter hold, or always`;
  },
  ({ signals, stop, stopSignals }) => {
    const dropped = stopSignals.value?.find((signal) => signals.value?.[signal] === 'drop');
    if (dropped === undefined || stop.value?.rungs[0] !== undefined) return undefined;
    const name = formatSignal(dropped);
    return `${signals.label}: drops ${name}, which is a stop request; take ${name} out of --stop-signals, or give --stop`;
  },
];

/** Silent where the drain alone is too long: another check reports that. */
function sleepProblem(
  { drain, preStop }: Settings,
  drainMs: number,
  limit: Settings['gracePeriod'],
  why: string,
): string | undefined {
  const { sleepMs } = beforeRungs(drain, preStop);
  const totalMs = drainMs + sleepMs;
  if (sleepMs === 0 || reaches(drainMs, limit.value) || !reaches(totalMs, limit.value)) return undefined;
  const total = drainMs === 0 ? '' : `takes ${formatDuration(totalMs)} with ${drain.label}, `;
  return `${preStop.label}: ${total}must be shorter than ${limit.label}, ${why}; write a shorter sleep`;
}

/** Programs that several containers of one pod are likely to run, so their names do not tell members apart. */
const COMMON_PROGRAMS =
  /^(sh|bash|ash|dash|zsh|env|node|python[0-9-]*|ruby|perl|php|java|dotnet|bun|deno|npm|npx|yarn)$/;

const WARNINGS: readonly Check[] = [
  ({ restartPolicy, role, graveyard, quit }) => {
    const isAlone = role.value === 'main' && graveyard.value === undefined && !quit.isGiven;
    if (restartPolicy.isGiven || isAlone) return undefined;
    return "--restart-policy is not declared, Never is assumed; declare the pod's restartPolicy";
  },
  ...(['mains', 'when', 'hold', 'linger'] as const).map(onlyForSidecars),
  ({ quit, role }) => {
    if (!quit.isGiven || role.value !== 'sidecar') return undefined;
    return `${quit.label}: has no effect on a sidecar, only a main makes quit calls; give it to the main`;
  },
  ({ quit, role, restartPolicy, drain }) => {
    // An adaptive drain does not count the connections to a sidecar that is named here.
    if (!quit.isGiven || role.value === 'sidecar' || drain.value?.kind === 'adaptive') return undefined;
    if (restartPolicy.value !== 'Always') return undefined;
    return `${quit.label}: has no effect under ${restartPolicy.label}, where no end is final; leave it out, or declare the policy that the pod has`;
  },
  ...(['startTimeout', 'startTimeoutAction'] as const).map((key) => onlyWith(key, 'startAfter', '--start-after')),
  onlyWith('readyzOnDrain', 'http', '--http'),
  onlyWith('platformPreStop', 'graveyard', 'a graveyard'),
  ...(['drain', 'idleWhen', 'preStop'] as const).map(onlyInStops),
  ({ drain, gracePeriod }) => {
    if (gracePeriod.isGiven || longestOf(drain) < ASSUMED_GRACE_MS) return undefined;
    const assumed = formatDuration(ASSUMED_GRACE_MS);
    return `${drain.label}: a pod has ${assumed} unless it declares more; declare its grace period with --grace-period`;
  },
  ({ signals, stop, stopSignals }) => {
    const idle = stop.value?.rungs[0] && stopSignals.value?.find((signal) => signals.value?.[signal] !== undefined);
    if (idle === undefined) return undefined;
    return `${signals.label}: its translation of ${formatSignal(idle)} has no effect, ${stop.label} begins with its own signal`;
  },
  ({ stop }) => {
    if (stop.value?.rungs.at(-1)?.forMs === undefined) return undefined;
    return `${stop.label}: nothing follows the last rung, so its time has no effect; add ,KILL to end the command then`;
  },
  ({ name, graveyard }) => {
    if (name.isGiven || graveyard.value === undefined || !COMMON_PROGRAMS.test(name.value ?? '')) return undefined;
    return `--name is not declared, ${name.value} is taken from the command; two members of one name overwrite each other`;
  },
];

function onlyForSidecars(key: Key): Check {
  return ({ [key]: { isGiven, label }, role }) => {
    if (!isGiven || role.value === 'sidecar') return undefined;
    return `${label}: has no effect on a main; give --role sidecar or leave it out`;
  };
}

function onlyWith(key: Key, other: Key, what: string): Check {
  return ({ [key]: { isGiven, label }, [other]: { value } }) => {
    // kubexit's default is not given, and comes only with gates.
    if (!isGiven || value !== undefined) return undefined;
    return `${label}: has no effect without ${what}; leave it out`;
  };
}

/** A restart in place is a stop, too, and a failed life ends by its pre-stop hook. */
function onlyInStops(key: 'drain' | 'idleWhen' | 'preStop'): Check {
  return (settings) => {
    const { [key]: setting, stopSignals, graveyard, restartPodOn, notify } = settings;
    if (!setting.isGiven || stopSignals.value?.length !== 0 || graveyard.value !== undefined) return undefined;
    const canFail =
      notify.value?.watchdogMs !== undefined ||
      (['startup', 'liveness', 'postStart'] as const).some((it) => settings[it].value !== undefined);
    if (restartPodOn.value?.liveness || (key === 'preStop' && canFail)) return undefined;
    return `${setting.label}: has no effect with ${stopSignals.label} where there is no graveyard; leave it out`;
  };
}

/** How much of the grace period is spent before the first rung. The time of a hook is known only if it is a sleep. */
export function beforeRungs(drain: Settings['drain'], preStop: Settings['preStop']) {
  const drainMs = longestOf(drain);
  const sleepMs = preStop.value?.kind === 'sleep' ? preStop.value.ms : 0;
  const labels = [...(drainMs > 0 ? [drain.label] : []), ...(sleepMs > 0 ? [preStop.label] : [])];
  return { beforeMs: drainMs + sleepMs, sleepMs, labels };
}

/** Without a drain of its own an idle check gets all of the grace period but the ladder's share. */
export function withIdleDrain(settings: Settings): Settings {
  const { idleWhen, drain, gracePeriod, preStop, stop } = settings;
  if (idleWhen.value === undefined || drain.isGiven || gracePeriod.value === undefined) return settings;
  const turnMs = lastTurnMs({ sinceMs: 0, atMs: gracePeriod.value });
  const restMs = Math.min(turnMs, gracePeriod.value - rungsMsOf(stop)) - beforeRungs(drain, preStop).sleepMs;
  const maxMs = Math.max(1, Math.floor(restMs));
  const value = parseDrain(`max=${formatDuration(maxMs)}`);
  if (!value.ok) throw new Error(`internal error: the drain of --idle-when: ${value.why}`);
  const label = `--drain ${formatDrain(value.value)} of --idle-when`;
  return { ...settings, drain: { ...drain, value: value.value, label, source: '--idle-when' } };
}

function rungsMsOf({ value }: Settings['stop']): number {
  return (value?.rungs ?? []).reduce((sum, { forMs = 0 }) => sum + forMs, 0);
}

function longestOf({ value }: Settings['drain']): number {
  return longestDrainMs({ drain: value });
}

function shortestOf({ value }: Settings['drain']): number | undefined {
  return value?.kind === 'adaptive' ? Math.max(value.minMs, value.quietMs) : value?.ms;
}

function reaches(a: number | undefined, b: number | undefined): boolean {
  return a !== undefined && b !== undefined && a >= b;
}
