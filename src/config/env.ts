/** The environment twins: `SEXTON_` and the flag's name. An empty value, as templates leave it, counts as not set. */
import { FLAGS, KEYS, type Key, variableOf } from './flags.ts';
import { type Given, variableLabel } from './given.ts';
import { closest } from './notation/nearest.ts';
import { show } from './notation/parse.ts';

export type Env = Readonly<Record<string, string | undefined>>;

export interface Environment {
  readonly given: readonly Given[];
  readonly config: string | undefined;
  /** What follows from the pod's own variables, unless it is set elsewhere. */
  readonly implied: readonly Given[];
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
}

/** The pod's uid, by the downward API: the default of `--session`. */
const POD_UID = 'SEXTON_POD_UID';

export function readEnvironment(env: Env): Environment {
  const given: Given[] = [];
  const problems: string[] = [];
  const warnings: string[] = [];
  for (const name in env) {
    // Each read of process.env calls the C library, so most names are skipped before it.
    if (!name.startsWith('SEXTON_') || isOwn(name)) continue;
    const text = env[name];
    if (text === undefined || isServiceLink(name, text)) continue;
    const key = keyOfVariable(name);
    const slip = key === undefined ? slipOf(name) : undefined;
    if (slip !== undefined) problems.push(`unknown variable ${show(name)}; did you mean ${slip}?`);
    else if (key === undefined) warnings.push(`unknown variable ${show(name)} has no effect; ${SEE_HELP}`);
    else if (text !== '') given.push({ key, text, label: variableLabel(name, text), source: name });
  }
  const podUid = env[POD_UID];
  const implied: readonly Given[] = podUid
    ? [{ key: 'session', text: podUid, label: variableLabel(POD_UID, podUid), source: POD_UID }]
    : [];
  return { given, implied, problems, warnings, config: env[CONFIG] || undefined };
}

/** Kubernetes sets these in a whole namespace for a Service called `sexton` or `sexton-..`, as Docker's links did. */
export function isServiceLink(name: string, text: string): boolean {
  if (/_SERVICE_(HOST|PORT)(_|$)/.test(name)) return true;
  if (/_PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?$/.test(name)) return true;
  return name.endsWith('_PORT') && /^(tcp|udp|sctp):\/\//.test(text);
}

const CONFIG = variableOf('config');

/** Whether the variable is sexton's without being the twin of a flag. */
function isOwn(name: string): boolean {
  return name === CONFIG || name === POD_UID || name.startsWith('SEXTON_INIT_');
}

function keyOfVariable(name: string): Key | undefined {
  return KEYS.find((key) => variableOf(FLAGS[key].name) === name);
}

/** One letter in four may be wrong, or one word missing or added. More is not refused: images have a SEXTON_VERSION. */
function slipOf(name: string): string | undefined {
  const word = name.slice('SEXTON_'.length).toLowerCase().replaceAll('_', '-');
  const names = [...KEYS.map((key) => FLAGS[key].name), 'config', 'pod-uid'];
  const meant =
    closest(word, names, 4) ?? names.find((real) => real.startsWith(`${word}-`) || word.startsWith(`${real}-`));
  return meant === undefined ? undefined : variableOf(meant);
}

const SEE_HELP = 'sexton help environment lists all';
