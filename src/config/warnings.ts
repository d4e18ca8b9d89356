/**
 * Warnings about settings that are allowed but most likely a mistake. Each is logged once when the member starts.
 */

import { longestDrainMs } from '../core/lifecycle/drain.ts';
import { ASSUMED_GRACE_MS } from '../core/pod/deadline.ts';
import { type Check, runChecks } from './checks.ts';
import { FLAGS, type Key } from './flags.ts';
import { formatDuration } from './notation/duration.ts';
import { formatSignal } from './notation/signals.ts';
import type { Settings } from './settle.ts';

export function findWarnings(settings: Settings): readonly string[] {
  return runChecks(WARNINGS, settings);
}

/** Programs that several containers of one pod are likely to run, so their names do not tell members apart. */
const COMMON_PROGRAMS =
  /^(sh|bash|ash|dash|zsh|env|node|python[0-9-]*|ruby|perl|php|java|dotnet|bun|deno|npm|npx|yarn)$/;

const WARNINGS: readonly Check[] = [
  ({ restartPolicy, role, graveyard }) => {
    if (restartPolicy.isGiven || (role.value === 'main' && graveyard.value === undefined)) return undefined;
    return "--restart-policy is not declared, Never is assumed; declare the pod's restartPolicy";
  },
  ...(['mains', 'when', 'hold', 'linger'] as const).map(onlyForSidecars),
  ({ quit, role }) => {
    if (!quit.isGiven || role.value !== 'sidecar') return undefined;
    return `${quit.label}: has no effect on a sidecar, only a main makes quit calls; give it to the main`;
  },
  ...(['startTimeout', 'startTimeoutAction'] as const).map(onlyWithStartAfter),
  ({ drain, gracePeriod }) => {
    if (gracePeriod.isGiven || longestDrainMs({ drain: drain.value }) < ASSUMED_GRACE_MS) return undefined;
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

function onlyWithStartAfter(key: Key): Check {
  return ({ [key]: { isGiven, label }, startAfter }) => {
    // kubexit's default is not given, and comes only with gates.
    if (!isGiven || startAfter.value !== undefined) return undefined;
    return `${label}: has no effect without --${FLAGS.startAfter.name}; leave it out`;
  };
}
