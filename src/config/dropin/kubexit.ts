/**
 * Drop-in for kubexit: its variables keep their meaning unless sexton's own setting is given. Also reads the marker
 * that OpenKruise's users put on sidecars.
 */
import { type Env, type Environment, isServiceLink } from '../env.ts';
import type { Key } from '../flags.ts';
import { type Given, variableLabel } from '../given.ts';
import { formatDuration, parseGoDuration } from '../notation/duration.ts';
import { didYouMean, nearest } from '../notation/nearest.ts';
import { good, type Parse } from '../notation/parse.ts';

export function readForeign(env: Env, taken: ReadonlySet<Key>): Omit<Environment, 'config'> {
  const given: Given[] = [];
  const implied: Given[] = [];
  const problems: string[] = [];
  for (const [name, key, convert = good] of VARIABLES) {
    const text = env[name];
    if (!text || taken.has(key)) continue;
    const label = variableLabel(name, text);
    const converted = convert(text);
    if (converted.ok) given.push({ key, text: converted.value, label, source: name });
    else problems.push(`${label}: ${converted.why}`);
  }
  // kubexit stops at the first death among its dependencies.
  if (given.some(({ key }) => key === 'mains')) imply('KUBEXIT_DEATH_DEPS', 'when', 'any');
  if (env.KUBEXIT_DEATH_DEPS) imply('KUBEXIT_DEATH_DEPS', 'role', 'sidecar');
  else if (env[KRUISE]?.toLowerCase() === 'true') imply(KRUISE, 'role', 'sidecar');
  if (given.some(({ key }) => key === 'startAfter')) imply("kubexit's default", 'startTimeout', '30s');
  if (VARIABLES.some(([name]) => env[name])) imply("kubexit's default", 'graveyard', '/graveyard');
  return { given, implied, problems, warnings: unknownVariables(env) };

  function imply(source: string, key: Key, text: string): void {
    implied.push({ key, text, label: `${key} ${text} (${source})`, source });
  }
}

const KRUISE = 'KRUISE_TERMINATE_SIDECAR_WHEN_JOB_EXIT';

const PREFIX = 'KUBEXIT_';

const VARIABLES: readonly (readonly [name: string, key: Key, convert?: (text: string) => Parse<string>])[] = [
  ['KUBEXIT_NAME', 'name'],
  ['KUBEXIT_GRAVEYARD', 'graveyard'],
  ['KUBEXIT_GRACE_PERIOD', 'gracePeriod', ourDuration],
  ['KUBEXIT_BIRTH_DEPS', 'startAfter', birthGates],
  ['KUBEXIT_BIRTH_TIMEOUT', 'startTimeout', ourDuration],
  ['KUBEXIT_DEATH_DEPS', 'mains'],
];
const KNOWN = VARIABLES.map(([name]) => name);

function ourDuration(text: string): Parse<string> {
  const time = parseGoDuration(text);
  return time.ok ? good(formatDuration(time.value)) : time;
}

/** kubexit asks the API server and logs by these; here nothing needs them. */
const NEEDLESS = ['KUBEXIT_POD_NAME', 'KUBEXIT_NAMESPACE', 'KUBEXIT_VERBOSE_LEVEL'];

/**
 * kubexit starts its child when the pod's status calls every one of these containers ready, not merely born. A member
 * of sexton is healthy by the kubelet's rule: its readiness probe has succeeded, or it has none and has started. A
 * tombstone of kubexit tells nothing but the birth, with which the gate opens.
 */
function birthGates(text: string): Parse<string> {
  return good(text.replaceAll(/(?=,|$)/g, '=healthy'));
}

/** kubexit ignores what it does not know, so these may stand in a manifest that works: a warning, not a refusal. */
function unknownVariables(env: Env): readonly string[] {
  const warnings: string[] = [];
  for (const name in env) {
    if (!name.startsWith(PREFIX) || [...KNOWN, ...NEEDLESS].includes(name)) continue;
    if (isServiceLink(name, env[name] ?? '')) continue;
    const names = KNOWN.map((known) => known.slice(PREFIX.length));
    const near = nearest(name.slice(PREFIX.length), names);
    const remedy = didYouMean(near && `${PREFIX}${near}`, 'remove it');
    warnings.push(`unknown variable ${name} of kubexit has no effect; ${remedy}`);
  }
  return warnings;
}
