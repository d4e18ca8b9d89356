/**
 * Recognizes what a text is and reads from it how members stopped. It may be a tombstone, pods as `kubectl get -o
 * json|yaml` prints them (their termination messages), or a log. In a log the last line of a member carries the
 * evidence, alone or wrapped as Docker, CRI, Loki and journald do. Everything else is passed over.
 */
import { parseTombstone } from '../core/format/tombstone-parse.ts';
import { isRecord } from '../text/record.ts';
import { type Origin, stopOfEvidence } from './evidence.ts';
import { jsonOf, membersOfPod, plain, whyNoStop, within } from './kubelet.ts';
import type { MemberStop } from './stop.ts';
import { stopOfTombstone } from './tombstones.ts';

export interface Read {
  readonly members: readonly MemberStop[];
  readonly why?: string | undefined;
}

/** `nowMs` ends what goes on. `yaml` parses by a package that only this and configuration files need. */
export function readText(text: string, nowMs: number, yaml: (text: string) => unknown): Read {
  const whole = jsonOf(text);
  if (isRecord(whole)) {
    // A termination log. A tombstone has no summary.
    const member = stopOfEvidence(whole, NO_ORIGIN);
    if (member !== undefined) return { members: [member] };
    if (whole.Version !== undefined && typeof whole.Name === 'string') return readTombstone(whole.Name, text, nowMs);
    const object = kubernetesIn(whole);
    if (object !== undefined) return readObjects(object);
  }
  if (MANIFEST.test(text.slice(0, 4096))) {
    const object = kubernetesIn(yaml(text));
    return object === undefined ? { members: [], why: 'its YAML is broken' } : readObjects(object);
  }
  const read = readLines(text);
  return read.members.length > 0 ? read : { why: whyNothing(text, whole), ...read };
}

const MANIFEST = /^(apiVersion|kind|items):/m;

/** Why a text in which no line has sexton's evidence has nothing to draw. */
function whyNothing(text: string, whole: unknown): string {
  const begin = text.trimStart();
  if (begin === '') return 'it is empty';
  if (whole !== undefined) return 'its JSON is no pod, no tombstone and no evidence';
  return /^[{[]/.test(begin) && jsonOf(begin.split('\n', 1)[0]) === undefined
    ? 'its JSON is broken or cut off'
    : 'no line of it has the evidence that sexton writes at the end';
}

function readTombstone(name: string, text: string, nowMs: number): Read {
  const parsed = parseTombstone(name, text);
  return { members: parsed.ok ? [stopOfTombstone(parsed.tombstone, { ms: nowMs })] : [] };
}

/** The object, or that of an event of `kubectl get --watch --output-watch-events`. */
function kubernetesIn(value: unknown): Record<string, unknown> | undefined {
  if (!isRecord(value)) return undefined;
  const object = isRecord(value.object) ? value.object : value;
  return typeof object.kind === 'string' && typeof object.apiVersion === 'string' ? object : undefined;
}

function readObjects(value: Record<string, unknown>): Read {
  const objects = Array.isArray(value.items) ? value.items : [value];
  if (objects.length === 0) return { members: [], why: 'a list of no pods' };
  const members = objects.map(membersOfPod);
  const empty = objects.find((_, index) => members[index]?.length === 0);
  return { members: members.flat(), ...(empty !== undefined && { why: whyNoStop(empty) }) };
}

/** The output of `kubectl get --watch`: pods, each in one line or, indented, between two braces. */
function readLines(text: string): Read {
  const members: MemberStop[] = [];
  let why: string | undefined;
  let document: string[] | undefined;
  for (const line of text.split('\n')) {
    if (line === '{') document = [];
    document?.push(line);
    if (line.trim() === '' || (document !== undefined && line !== '}')) continue;
    const read = readLine(document?.join('\n') ?? line);
    document = undefined;
    members.push(...read.members);
    why = read.why ?? why;
  }
  return { members, ...(why !== undefined && { why }) };
}

function readLine(line: string): Read {
  const object = IS_OBJECT.test(line) ? kubernetesIn(jsonOf(line)) : undefined;
  if (object !== undefined) return readObjects(object);
  // In a fleet's log nearly all lines are of something else, so a quick look comes first.
  const member = line.includes('Summary') && line.includes('Died') ? unwrap(line, NO_ORIGIN, 0) : undefined;
  return { members: member === undefined ? [] : [member] };
}

const IS_OBJECT = /^\{.*"kind": ?"(Pod|PodList|List)"/s;
const NO_ORIGIN: Origin = { pod: '', workload: '' };
/** A wrapped line inside a wrapped line, as a collector makes of what Docker wrote. */
const MAX_WRAPS = 4;
/** Where Docker, Loki, journald and collectors keep the line itself. */
const LINE_KEYS = ['log', 'line', 'MESSAGE', 'message', 'msg', 'body', '_raw'] as const;

function unwrap(text: string, origin: Origin, depth: number): MemberStop | undefined {
  if (depth > MAX_WRAPS) return undefined;
  const start = text.indexOf('{');
  // CRI and `kubectl logs --timestamps` put the time, the stream and a tag before the line, `--prefix` the pod.
  const value = start < 0 ? undefined : jsonOf(text.slice(start));
  if (!isRecord(value)) return undefined;
  const here = originOfLine(text.slice(0, start), value, origin);
  const member = stopOfEvidence(value.evidence, here) ?? stopOfEvidence(value, here);
  if (member !== undefined) return member;
  for (const inner of LINE_KEYS.map((key) => (Object.hasOwn(value, key) ? value[key] : undefined))) {
    const found = typeof inner === 'string' ? unwrap(inner, here, depth + 1) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

function originOfLine(prefix: string, value: Record<string, unknown>, origin: Origin): Origin {
  if (origin.pod !== '') return origin;
  const [, prefixed = ''] = /^\[pod\/([a-z0-9][-a-z0-9.]*)\/[^\]]*\]/.exec(prefix) ?? [];
  const kubernetes = isRecord(value.kubernetes) ? value.kubernetes : isRecord(value.labels) ? value.labels : {};
  const pod = plain(prefixed) || plain(kubernetes.pod_name) || plain(kubernetes.pod);
  const namespace = plain(kubernetes.namespace_name) || plain(kubernetes.namespace);
  return pod === '' ? origin : { pod: within(namespace, pod), workload: within(namespace, workloadOfName(pod)) };
}

/**
 * A log has only the pod's name, which its controllers have generated. A Deployment adds the hash of its template and
 * five characters of Kubernetes' own alphabet. A DaemonSet and a Job add only the five characters, a StatefulSet a
 * number.
 */
function workloadOfName(pod: string): string {
  return pod.replace(/(-[bcdfghjklmnpqrstvwxz2456789]{6,10})?-([bcdfghjklmnpqrstvwxz2456789]{5}|\d{1,5})$/, '') || pod;
}
