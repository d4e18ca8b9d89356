/**
 * Start gates: `proxy=started,migrate=completed?,istio=ready`. A question mark: absent is fine. `started`, `healthy`
 * and `completed` are of members; `ready` is of sidecars that run without sexton, by name or by URL. What follows the
 * last `=` is the condition.
 */
import type { GateCondition, ReadyAction, StartGate } from '../../core/config.ts';
import { formatAction, parseCall } from './actions/action.ts';
import { didYouMean, nearest } from './nearest.ts';
import { bad, eachOf, good, type Parse, repeated, show } from './parse.ts';
import { callOf, isSidecarName, parseSidecar, SIDECAR_NAMES } from './sidecars.ts';
import { parseName } from './values.ts';

export interface Gates {
  readonly members: readonly StartGate[];
  readonly ready: readonly ReadyAction[];
}

export function parseGates(text: string): Parse<Gates> {
  const gates = eachOf(text, parseOne);
  if (!gates.ok) return gates;
  const members = gates.value.filter((gate) => 'condition' in gate);
  const ready = gates.value.filter((gate) => 'call' in gate);
  const twice = repeated([...members, ...ready].map((gate) => gate.name));
  return twice === undefined ? good({ members, ready }) : bad(`${twice} is named twice; name it once`);
}

export function formatGates({ members, ready }: Gates): string {
  return [
    ...members.map(({ name, condition, optional }) => `${name}=${condition}${optional ? '?' : ''}`),
    ...ready.map(({ name, optional }) => `${name}=ready${optional ? '?' : ''}`),
  ].join(',');
}

function parseOne(text: string): Parse<StartGate | ReadyAction> {
  const [, left, right] = /^([^=:]*)\?=([^=:]*?)\??$/s.exec(text) ?? [];
  if (left !== undefined) {
    const meant = `${left}=${right}?`;
    const gate = parseOne(meant);
    return gate.ok ? bad(`${show(text)} is not a start gate; write ${meant}`) : gate;
  }
  const [, name, optional] = /^(.*)=ready(\?)?$/s.exec(text) ?? [];
  return name !== undefined && isOfReady(name) ? parseReady(name, optional !== undefined) : parseGate(text);
}

/** A plain name that is not a known sidecar's is a member's, for which `ready` is no condition. */
function isOfReady(name: string): boolean {
  return name.includes(':') || isSidecarName(name);
}

function parseReady(name: string, optional: boolean): Parse<ReadyAction> {
  if (name.includes('://')) return parseReadyUrl(name, optional);
  const parsed = parseSidecar(name);
  if (!parsed.ok) return parsed;
  const { sidecar, port = sidecar.ready.port } = parsed.value;
  const call = callOf('GET', port, sidecar.ready.path, sidecar);
  return good({ kind: 'ready', name, call, optional, hint: sidecar.ready.hint });
}

function parseReadyUrl(text: string, optional: boolean): Parse<ReadyAction> {
  const call = parseCall(text, 'a readiness URL', [], 'http://127.0.0.1:15021/healthz/ready=ready');
  if (!call.ok) return call;
  return good({ kind: 'ready', name: formatAction(call.value), call: call.value, optional, hint: undefined });
}

function parseGate(text: string): Parse<StartGate> {
  const [nameText = '', conditionText, ...more] = text.split('=');
  if (text.includes(':')) return bad(memberProblem(text));
  const name = parseName(nameText.replace(/\?$/, ''));
  if (!name.ok) return bad(`${show(nameText)} is not a name: ${name.why}`);
  if (conditionText === undefined || more.length > 0) {
    return bad(`${show(text)} is not a start gate; write ${conditionsOf(name.value)}`);
  }
  const optional = conditionText.endsWith('?');
  const word = optional ? conditionText.slice(0, -1) : conditionText;
  const condition = CONDITIONS.find((one) => one === word);
  if (condition !== undefined) return good({ name: name.value, condition, optional });
  if (word === 'ready') {
    const near = nearest(name.value, SIDECAR_NAMES);
    if (near !== undefined) return bad(`unknown sidecar ${name.value}; did you mean ${near}=ready?`);
    const known = SIDECAR_NAMES.join(', ');
    return bad(`ready is for sidecars without sexton (${known}, or a URL); for the member ${name.value} write healthy`);
  }
  const near = CONDITION_ALIASES.get(word.toLowerCase()) ?? nearest(word, CONDITIONS);
  return bad(`${show(word)} is not a condition; ${didYouMean(near, `write ${conditionsOf(name.value)}`)}`);
}

/** The message for a text with a colon that does not end with `=ready`. */
function memberProblem(text: string): string {
  const [, name = text, condition] = /^(.*)=(.*?)\??$/s.exec(text) ?? [];
  const isUrl = text.includes('://');
  if (condition === undefined && !isUrl && !/:\d/.test(text))
    return `${show(text)} is not a start gate; write ${show(text.replace(':', '='))}`;
  const isMembers = CONDITIONS.some((one) => one === condition);
  const why = isMembers ? `${condition} is for members, which have no port and no URL` : 'it is not a start gate';
  if (isUrl || parseSidecar(name).ok)
    return `${show(text)}: ${why}; write ${show(`${isUrl && !isMembers ? text : name}=ready`)}`;
  const withoutPort = text.replace(/:[^=]*/, '');
  const gate = parseGate(withoutPort);
  return gate.ok ? `${show(text)}: ${why}; write ${withoutPort}` : gate.why;
}

const CONDITIONS: readonly GateCondition[] = ['started', 'healthy', 'completed'];

/** The same conditions by the names of Compose. */
const CONDITION_ALIASES: ReadonlyMap<string, GateCondition> = new Map([
  ['service_started', 'started'],
  ['service_healthy', 'healthy'],
  ['service_completed_successfully', 'completed'],
]);

function conditionsOf(name: string): string {
  const known = `${name}=started, ${name}=healthy or ${name}=completed`;
  return isSidecarName(name) ? `${name}=ready, or of a member ${known}` : known;
}
