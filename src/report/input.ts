/**
 * Tells what a text is and reads how members stopped from it: a tombstone, pods as `kubectl get -o json|yaml` prints
 * them (their termination messages), or a log whose last line of a member carries the evidence, alone or wrapped as
 * Docker, CRI, Loki and journald do. What is none of these is passed over and counted.
 */
import { parseTombstone } from '../core/format/tombstone-parse.ts';
import { isRecord, type Origin, stopOfEvidence } from './evidence.ts';
import type { MemberStop } from './stop.ts';
import { msOf } from './time.ts';
import { stopOfTombstone } from './tombstones.ts';

export interface Read {
  readonly members: readonly MemberStop[];
  /** Lines, pods or files that had nothing of sexton's. */
  readonly passedOver: number;
}

/** YAML is parsed by a package that only this and configuration files need. */
export type YamlParser = (text: string) => unknown;

/** `nowMs` ends what goes on. */
export function readText(text: string, nowMs: number, yaml: YamlParser): Read {
  const whole = jsonOf(text);
  if (isRecord(whole)) {
    // A termination log. A tombstone has no summary.
    const member = stopOfEvidence(whole, NO_ORIGIN);
    if (member !== undefined) return { members: [member], passedOver: 0 };
    if (whole.Version !== undefined && typeof whole.Name === 'string') return readTombstone(whole.Name, text, nowMs);
    if (isKubernetes(whole)) return readObjects(whole);
  }
  return isManifest(text) ? readManifest(text, yaml) : readLines(text);
}

function readTombstone(name: string, text: string, nowMs: number): Read {
  const parsed = parseTombstone(name, text);
  const members = parsed.ok ? [stopOfTombstone(parsed.tombstone, '', { ms: nowMs })] : [];
  return { members, passedOver: 1 - members.length };
}

function isManifest(text: string): boolean {
  return /^(apiVersion|kind|items):/m.test(text.slice(0, 4096));
}

function readManifest(text: string, yaml: YamlParser): Read {
  const value = yaml(text);
  return isRecord(value) && isKubernetes(value) ? readObjects(value) : { members: [], passedOver: 1 };
}

function isKubernetes(value: Record<string, unknown>): boolean {
  return typeof value.kind === 'string' && typeof value.apiVersion === 'string';
}

function readObjects(value: Record<string, unknown>): Read {
  const objects = Array.isArray(value.items) ? value.items : [value];
  const members = objects.map(podMembers);
  return { members: members.flat(), passedOver: members.filter((of) => of.length === 0).length };
}

function podMembers(value: unknown): readonly MemberStop[] {
  if (!isRecord(value) || !isRecord(value.metadata) || !isRecord(value.status)) return [];
  const origin = originOf(value.metadata);
  const statuses = [value.status.initContainerStatuses, value.status.containerStatuses].flatMap((list) =>
    Array.isArray(list) ? list : [],
  );
  return statuses.flatMap((status) => {
    if (!isRecord(status)) return [];
    const [ended] = [status.state, status.lastState].flatMap((state) => endedOf(state) ?? []);
    if (ended === undefined) return [];
    return stopOfEvidence(jsonOf(ended.message), { ...origin, end: ended }) ?? [];
  });
}

interface Ended {
  readonly message: string;
  readonly diedMs: number | undefined;
  readonly exitCode: number | undefined;
}

function endedOf(state: unknown): Ended | undefined {
  if (!isRecord(state) || !isRecord(state.terminated)) return undefined;
  const { message, finishedAt, exitCode } = state.terminated;
  if (typeof message !== 'string') return undefined;
  const diedMs = typeof finishedAt === 'string' ? msOf(finishedAt) : undefined;
  // Read from YAML every scalar is a text.
  const code = typeof exitCode === 'string' && /^\d{1,3}$/.test(exitCode) ? Number(exitCode) : exitCode;
  return { message, diedMs, exitCode: typeof code === 'number' ? code : undefined };
}

function originOf(metadata: Record<string, unknown>): Origin {
  const [namespace, name] = [plain(metadata.namespace), plain(metadata.name)];
  const owners = Array.isArray(metadata.ownerReferences) ? metadata.ownerReferences : [];
  const owner = owners.find((it) => isRecord(it) && it.controller !== false);
  const hash = isRecord(metadata.labels) ? plain(metadata.labels['pod-template-hash']) : '';
  const by = isRecord(owner) ? plain(owner.name) : '';
  // A ReplicaSet is one revision of a Deployment: its name is the Deployment's with the hash of the template.
  const workload = hash !== '' && by.endsWith(`-${hash}`) ? by.slice(0, -hash.length - 1) : by;
  const within = (of: string) => (namespace === '' ? of : `${namespace}/${of}`);
  return { pod: within(name), workload: within(workload === '' ? name : workload) };
}

/** A name of Kubernetes has nothing but these; what has more is not one. */
function plain(value: unknown): string {
  return typeof value === 'string' && /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/.test(value) ? value : '';
}

function readLines(text: string): Read {
  const members: MemberStop[] = [];
  let passedOver = 0;
  for (const line of text.split('\n')) {
    if (line.trim() === '') continue;
    const member = memberOfLine(line);
    if (member === undefined) passedOver += 1;
    else members.push(member);
  }
  return { members, passedOver };
}

/** The quick look first: of a fleet's log nearly all lines are of something else. */
function memberOfLine(line: string): MemberStop | undefined {
  if (!line.includes('Summary') || !line.includes('Died')) return undefined;
  return unwrap(line, NO_ORIGIN, 0);
}

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
  for (const key of LINE_KEYS) {
    const inner = Object.hasOwn(value, key) ? value[key] : undefined;
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
  const within = (of: string) => (namespace === '' ? of : `${namespace}/${of}`);
  return pod === '' ? origin : { pod: within(pod), workload: within(workloadOfName(pod)) };
}

/**
 * A log has the pod's name only, which its controllers have made: a Deployment adds the hash of its template and five
 * characters of Kubernetes' own alphabet, a StatefulSet a number, a DaemonSet and a Job the five characters.
 */
function workloadOfName(pod: string): string {
  return pod.replace(/(-[bcdfghjklmnpqrstvwxz2456789]{6,10})?-([bcdfghjklmnpqrstvwxz2456789]{5}|\d{1,5})$/, '') || pod;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
