/**
 * From a Pod as the API server has it to how its containers stopped. The termination message of a container has
 * sexton's evidence. For a container without one the kubelet's record stands: when it ran, to the second, its exit code
 * and the kubelet's reason. What is not of its type is taken for absent.
 */
import { msOf } from '../core/format/evidence.ts';
import { cleanText } from '../core/format/tombstone.ts';
import { isRecord, recordOf } from '../text/record.ts';
import { type Origin, stopOfEvidence } from './evidence.ts';
import { type Absence, endMsOf, type MemberStop, type PlatformRecord, type Span } from './stop.ts';
import { endText } from './words.ts';

/** Empty: no container of it has ended, or it is no pod. */
export function membersOfPod(pod: unknown): readonly MemberStop[] {
  if (!isPod(pod) || !isRecord(pod.metadata) || !isRecord(pod.status)) return [];
  const platform = platformOf(pod.spec, pod.metadata, pod.status);
  const origin = originOf(pod.metadata);
  const members = containersOf(pod.spec, pod.status).flatMap((one) => memberOf(one, origin, platform) ?? []);
  const hasStop = members.some((member) => endMsOf(member) !== undefined || member.reason === 'lost');
  // Where no evidence says it, the uid is the session that a log of this pod has as a rule.
  const { session = plain(pod.metadata.uid) || undefined } = members.find((member) => member.session) ?? {};
  return hasStop || platform.why !== undefined ? members.map((member) => ({ ...member, session })) : [];
}

/** Why this pod, or other object, has no stop to draw. */
export function whyNoStop(object: unknown): string {
  const { kind, metadata } = recordOf(object);
  const { namespace, name } = recordOf(metadata);
  const named = within(plain(namespace), plain(name));
  const what = `${typeof kind === 'string' ? cleanText(kind, MAX_REASON) : 'object'}${named === '' ? '' : ` ${named}`}`;
  return isPod(object) ? `none of the containers of ${what} has ended` : `${what} is no pod`;
}

/** In a list of the API itself the items have no kind. */
function isPod(value: unknown): value is Record<string, unknown> {
  return isRecord(value) && (value.kind === undefined || value.kind === 'Pod');
}

interface Container extends Readonly<Record<'state' | 'lastState', unknown>> {
  readonly name: string;
  readonly isSidecar: boolean;
}

/** An init container that is no sidecar has ended before the pod's stop, and counts only by what sexton says of it. */
function containersOf(spec: unknown, status: Record<string, unknown>): readonly Container[] {
  const declared = recordsIn(recordOf(spec).initContainers);
  const sidecars = new Set(declared.filter(({ restartPolicy }) => restartPolicy === 'Always').map(({ name }) => name));
  const init = recordsIn(status.initContainerStatuses).filter(
    ({ name, state }) => sidecars.has(name) || typeof endOf(state)?.message === 'string',
  );
  return [...init, ...recordsIn(status.containerStatuses)].map(({ name, state, lastState }) => {
    return { name: plain(name), isSidecar: sidecars.has(name), state, lastState };
  });
}

interface End extends Readonly<Record<'startedMs' | 'diedMs' | 'exitCode', number | undefined>> {
  readonly message: unknown;
  readonly reason: string;
}

function endOf(state: unknown): End | undefined {
  const { terminated } = recordOf(state);
  if (!isRecord(terminated)) return undefined;
  const { message, startedAt, finishedAt, exitCode, reason } = terminated;
  return {
    message,
    startedMs: timeOf(startedAt),
    diedMs: timeOf(finishedAt),
    exitCode: countOf(exitCode),
    reason: typeof reason === 'string' ? cleanText(reason, MAX_REASON) : '',
  };
}

/** undefined: it has not started yet. */
function memberOf(container: Container, origin: Origin, platform: PlatformRecord): MemberStop | undefined {
  const { state, lastState } = container;
  const runsSinceMs = timeOf(recordOf(recordOf(state).running).startedAt);
  const [now, before] = [endOf(state), endOf(lastState)];
  // Without a time of the request, only the current life is known to have ended by what ended the pod.
  const earlierPlatform = { ...platform, isDisrupted: platform.isDisrupted && platform.askedMs !== undefined };
  const lives = [
    now && lifeOf(now, container, origin, platform),
    before && lifeOf(before, container, origin, earlierPlatform),
  ];
  const [last, earlier] = lives.flatMap((life) => (life === undefined ? [] : [{ ...life, platform }]));
  if (last === undefined)
    return runsSinceMs === undefined ? undefined : aliveSince(runsSinceMs, container, origin, platform);
  if (now === undefined && runsSinceMs !== undefined) return againFrom(last, runsSinceMs);
  const absence = earlier && absenceBetween(earlier, last);
  if (earlier === undefined || absence === undefined) return last;
  const { fromMs, untilMs } = absence;
  const spans: readonly Span[] = [...earlier.spans, { activity: 'wait', fromMs, untilMs }, ...last.spans];
  return { ...last, spans, absences: [absence, ...(last.absences ?? [])] };
}

/** Draws the last life as a stop that ends in another start. */
function againFrom(last: MemberStop, againMs: number): MemberStop {
  const { diedMs = againMs, ...member } = last;
  return { ...member, again: { endedMs: diedMs, againMs: Math.max(diedMs, againMs) } };
}

/** undefined: their times contradict each other. */
function absenceBetween(earlier: MemberStop, { spans: [first] }: MemberStop): Absence | undefined {
  const { diedMs } = earlier;
  if (diedMs === undefined || first === undefined || first.fromMs < diedMs) return undefined;
  return { fromMs: diedMs, untilMs: first.fromMs, how: endText(earlier) };
}

/** By sexton's evidence, or by the kubelet's record alone. */
function lifeOf(end: End, container: Container, origin: Origin, platform: PlatformRecord): MemberStop {
  const { startedMs, diedMs, exitCode, reason } = end;
  const forcedBy = forcerOf(end, platform);
  // The kubelet cuts all messages of a pod to 12 KiB, perhaps in the blanks before the last brace.
  const said = jsonOf(end.message) ?? jsonOf(`${end.message}}`);
  const told = stopOfEvidence(said, { ...origin, end: { diedMs, exitCode, forcedBy } });
  if (told !== undefined) return told;
  const { askedMs, why } = platform;
  if (diedMs === undefined) return { ...blank(container, origin, platform), reason: 'lost' };
  const wasAsked = why !== undefined && (askedMs === undefined || diedMs + CUT_MS > askedMs);
  const requestedMs = wasAsked && askedMs !== undefined ? Math.min(askedMs, diedMs) : undefined;
  const untilMs = requestedMs ?? diedMs;
  const hasRun = startedMs !== undefined && startedMs <= untilMs;
  const spans: readonly Span[] = [
    ...(hasRun ? [{ activity: 'run' as const, fromMs: startedMs, untilMs }] : []),
    ...(requestedMs === undefined ? [] : [{ activity: 'stop' as const, fromMs: requestedMs, untilMs: diedMs }]),
  ];
  const stop = { spans, requestedMs, stopReason: wasAsked ? why : undefined, diedMs, forcedBy };
  const outcome = reason === LOST ? { reason: 'lost' as const } : { exitCode };
  return { ...blank(container, origin, platform), ...stop, ...outcome };
}

/** Its last span goes on. */
function aliveSince(fromMs: number, container: Container, origin: Origin, platform: PlatformRecord): MemberStop {
  const { why, askedMs } = platform;
  const atMs = why === undefined || askedMs === undefined ? undefined : Math.max(fromMs, askedMs);
  const spans: readonly Span[] = [
    { activity: 'run', fromMs, untilMs: atMs ?? fromMs },
    ...(atMs === undefined ? [] : [{ activity: 'stop' as const, fromMs: atMs, untilMs: atMs }]),
  ];
  return { ...blank(container, origin, platform), spans, requestedMs: atMs, stopReason: why };
}

function blank({ name, isSidecar }: Container, { pod, workload }: Origin, platform: PlatformRecord): MemberStop {
  const known = { pod, workload, name, role: isSidecar ? ('sidecar' as const) : undefined, platform };
  return { ...known, spans: [], marks: [], restarts: 0, startAfter: [], isOfKubelet: true };
}

/** The kubelet cuts its times to whole seconds. */
const CUT_MS = 1_000;
/** What the kubelet writes of a container that it finds no more. */
const LOST = 'ContainerStatusUnknown';
/** 128 and the number of SIGKILL. */
const KILLED = 137;

/** Undefined: it was no KILL. An earlier one than the kubelet's was due has an unknown sender. */
function forcerOf({ reason, exitCode, diedMs = 0 }: End, platform: PlatformRecord): string | undefined {
  if (reason === 'OOMKilled') return 'OOM killer';
  if (exitCode !== KILLED || reason === LOST) return undefined;
  const { askedMs, graceMs, isDisrupted } = platform;
  const isDeletion = askedMs !== undefined && graceMs !== undefined;
  const dueMs = isDeletion ? askedMs + graceMs : isDisrupted ? (askedMs ?? 0) : Number.POSITIVE_INFINITY;
  return diedMs + CUT_MS > dueMs ? 'the kubelet' : 'an unknown sender';
}

function platformOf(spec: unknown, metadata: Record<string, unknown>, status: Record<string, unknown>): PlatformRecord {
  const { deletionTimestamp, deletionGracePeriodSeconds } = metadata;
  const disruption = recordsIn(status.conditions).find(
    (one) => one.type === 'DisruptionTarget' && /^true$/i.test(String(one.status)),
  );
  const givenMs = secondsOf(deletionGracePeriodSeconds);
  const declaredMs = secondsOf(recordOf(spec).terminationGracePeriodSeconds);
  // The kubelet deletes a pod whose containers have ended once more, without grace: a finalizer shows that.
  const dueMs = givenMs === 0 ? undefined : timeOf(deletionTimestamp);
  const graceMs = dueMs === undefined ? undefined : givenMs;
  const askedMs = dueMs === undefined ? timeOf(disruption?.lastTransitionTime) : dueMs - (graceMs ?? 0);
  const instead = declaredMs === undefined || declaredMs === graceMs ? '' : ` instead of ${declaredMs / 1_000} s`;
  const grace = dueMs === undefined ? '' : ` with a grace period of ${(graceMs ?? 0) / 1_000} s${instead}`;
  const cause = causeOf(status) ?? causeOf({ reason: disruption?.reason });
  const causes = [cause, deletionTimestamp === undefined ? undefined : `deleted${grace}`];
  const why = causes.filter((one) => one !== undefined).join(', ');
  return { ...(why !== '' && { why }), askedMs, graceMs, isDisrupted: cause !== undefined };
}

/** Reasons of the condition `DisruptionTarget` and of a pod's status, in words. */
const CAUSES: Readonly<Record<string, string>> = {
  PreemptionByScheduler: 'preempted by a pod of higher priority',
  EvictionByEvictionAPI: 'evicted by a request',
  DeletionByTaintManager: 'evicted by a taint of its node',
  DeletionByPodGC: 'deleted as an orphan',
  TerminationByKubelet: 'ended by the kubelet',
  Evicted: 'evicted by the kubelet',
  DeadlineExceeded: 'its active deadline was exceeded',
  NodeShutdown: 'its node was shut down',
  Preempting: 'preempted by a critical pod',
};

function causeOf({ reason, message }: Record<string, unknown>): string | undefined {
  if (typeof reason !== 'string' || reason === '') return undefined;
  const cause = Object.hasOwn(CAUSES, reason) ? CAUSES[reason] : cleanText(reason, MAX_REASON);
  const isExplained = reason === 'Evicted' && typeof message === 'string' && message !== '';
  return isExplained ? `${cause} (${cleanText(message.trim(), MAX_MESSAGE)})` : cause;
}

const MAX_MESSAGE = 80;
const MAX_REASON = 64;

function originOf({ ownerReferences, labels, name, namespace }: Record<string, unknown>): Origin {
  const owner = recordsIn(ownerReferences).find(({ controller }) => controller !== false);
  const hash = plain(recordOf(labels)['pod-template-hash']);
  const [pod, by] = [plain(name), plain(owner?.name)];
  // A ReplicaSet is one revision of a Deployment: its name is the Deployment's with the hash of the template.
  const workload = hash !== '' && by.endsWith(`-${hash}`) ? by.slice(0, -hash.length - 1) : by;
  return { pod: within(plain(namespace), pod), workload: within(plain(namespace), workload || pod) };
}

export function within(namespace: string, name: string): string {
  return namespace === '' ? name : `${namespace}/${name}`;
}

/** A name of Kubernetes has nothing but these; what has more is not one. */
export function plain(value: unknown): string {
  return typeof value === 'string' && /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/.test(value) ? value : '';
}

function recordsIn(list: unknown): readonly Record<string, unknown>[] {
  return Array.isArray(list) ? list.filter(isRecord) : [];
}

function timeOf(value: unknown): number | undefined {
  return typeof value === 'string' ? msOf(value) : undefined;
}

/** In YAML every scalar is a text. */
function countOf(value: unknown): number | undefined {
  const count = typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : value;
  return typeof count === 'number' && count >= 0 && count < MAX_COUNT ? count : undefined;
}

/** 31 days in seconds. */
const MAX_COUNT = 2_678_400;

function secondsOf(value: unknown): number | undefined {
  const count = countOf(value);
  return count === undefined ? undefined : count * 1_000;
}

export function jsonOf(text: unknown): unknown {
  try {
    return typeof text === 'string' ? JSON.parse(text) : undefined;
  } catch {
    return undefined;
  }
}
