/**
 * How the members of a pod stopped: what every format of a report is drawn from. Sources (`tombstones.ts`,
 * `evidence.ts`) make it, renderers read it; neither knows the other.
 *
 * Times are milliseconds since 1970, UTC, with fractions. All text is printable: it went through `cleanText`.
 */
import type { Role } from '../core/config.ts';
import type { Connections } from '../core/format/evidence.ts';
import type { DeathReason } from '../core/format/tombstone.ts';
import { ASSUMED_GRACE_MS } from '../core/pod/deadline.ts';
import { MAINS_FINISHED } from '../core/state/state.ts';
import type { Activity, Prediction } from './bars.ts';

export interface Span {
  readonly activity: Activity;
  /** Of `stop`, `kill` and `rest`: the signal that was sent at its beginning, `TERM`. */
  readonly signal?: string;
  readonly fromMs: number;
  readonly untilMs: number;
}

/** Something that happened in an instant. */
export interface Mark {
  readonly atMs: number;
  readonly text: string;
  /** A signal that was received or sent. */
  readonly isSignal: boolean;
}

export interface MemberStop {
  /** Tells pods apart: namespace and name, or the session; empty where nothing tells. */
  readonly pod: string;
  /** What the pod is a replica of, by its controller's name; else the pod. */
  readonly workload: string;
  readonly name: string;
  readonly role: Role | undefined;
  /** In order, without gaps or overlaps, from the first known moment to the end. */
  readonly spans: readonly Span[];
  readonly marks: readonly Mark[];
  readonly requestedMs: number | undefined;
  /** `signal TERM`, `mains finished`. */
  readonly stopReason: string | undefined;
  /** undefined: it lives. */
  readonly diedMs: number | undefined;
  /** When the platform's KILL was due. */
  readonly deadlineMs: number | undefined;
  /** The declared grace period. */
  readonly graceMs: number | undefined;
  readonly reason: DeathReason | undefined;
  /** The command's. */
  readonly exitCode: number | undefined;
  /** That ended the command, `SIGTERM`. */
  readonly signal: string | undefined;
  /** What ended it by KILL. */
  readonly forcedBy: string | undefined;
  readonly restarts: number;
  /** The OOM kills of its lives in this container; absent: the source does not tell. */
  readonly oomKills?: number;
  /** Of the pod, with this member; absent: there was none, or the source does not tell. */
  readonly inPlace?: InPlace;
  /** It runs again: the end of its command, and its next start. */
  readonly again?: { readonly endedMs: number; readonly againMs: number };
  /** Between two lives that belong to the report; in order. */
  readonly absences?: readonly Absence[];
  /** Its stop is of its container, and not of the pod. */
  readonly isAlone?: true;
  /** Another stop signal ended what it waited for. */
  readonly hurried?: { readonly atMs: number; readonly signal: string };
  /** Absent: the source is no pod. */
  readonly platform?: PlatformRecord;
  /** Only the kubelet tells of it: its times are cut to seconds, and its signals are not known. */
  readonly isOfKubelet?: true;
  readonly connections: Connections | undefined;
  /** Members that it needs; they serve on until it has ended. */
  readonly startAfter: readonly string[];
  /** At its end: by how much the wall clock was ahead of the monotonic clock of this boot. */
  readonly clock?: { readonly boot: string; readonly aheadMs: number };
}

/** Restarts in place: the containers stay, the commands of the members stop in order and start again. */
export interface InPlace {
  readonly times: number;
  /** Who asked for the last one. */
  readonly by: string;
}

/** From the end of a command to its next start. */
export interface Absence {
  readonly fromMs: number;
  readonly untilMs: number;
  /** `killed by the OOM killer`, `exit 3`. */
  readonly how: string;
}

/** What the platform's own record of the pod says of its stop. */
export interface PlatformRecord {
  /** In words; absent: the platform did not stop it. */
  readonly why?: string;
  readonly askedMs?: number;
  /** The grace period of the deletion. */
  readonly graceMs?: number;
}

export interface PodStop {
  readonly pod: string;
  readonly workload: string;
  /** Mains first, then in the order of their ends. */
  readonly members: readonly MemberStop[];
  /** Those of the members that were asked to stop, or ended, before the stop of the pod. */
  readonly earlier: ReadonlySet<MemberStop>;
  /** The first stop request or, where no member was asked, the first end. */
  readonly beganMs: number;
  /** The last end, or start of a member that was restarted; of a stop that goes on, the moment of the report. */
  readonly endedMs: number;
  /** The stop is: all have ended, or were restarted in place. */
  readonly isOver: boolean;
  readonly deadlineMs: number | undefined;
  readonly platform?: PlatformRecord;
  /** What its manifest let expect. */
  readonly prediction?: Prediction;
}

/**
 * Pods in the order of their stops. Of two reports of one member the one that knows a later end counts; but where
 * nothing tells pods apart, another birth is another pod.
 */
export function podsOf(members: readonly MemberStop[], nowMs: number): readonly PodStop[] {
  const pods = new Map<string, Map<string, MemberStop>>();
  const births: Births = new Map();
  for (const member of members) {
    const key = member.pod === '' ? `#${indexOfBirth(births, member)}` : member.pod;
    const pod = pods.get(key) ?? new Map<string, MemberStop>();
    pods.set(key, pod);
    const known = pod.get(member.name);
    const isNews = known === undefined || knownUntil(member, nowMs) >= knownUntil(known, nowMs);
    if (isNews) pod.set(member.name, isCutShort(member, known) ? known : member);
  }
  return [...pods.values()].map((pod) => podOf([...pod.values()], nowMs)).sort((a, b) => a.beganMs - b.beganMs);
}

/** When all containers have ended the kubelet deletes the pod without grace, and what the deletion had said is lost. */
function isCutShort(member: MemberStop, known: MemberStop | undefined): known is MemberStop {
  const hadGrace = known?.platform?.graceMs !== undefined && member.platform?.graceMs === undefined;
  return hadGrace && known.diedMs === member.diedMs && known.spans.length >= member.spans.length;
}

/** A pod may have been read long ago. */
function knownUntil({ diedMs, again, platform }: MemberStop, nowMs: number): number {
  return diedMs ?? (platform === undefined ? nowMs : (again?.againMs ?? 0));
}

function indexOfBirth(births: Births, { name, spans }: MemberStop): number {
  const known = births.get(name) ?? new Map<number | undefined, number>();
  births.set(name, known);
  const bornMs = spans[0]?.fromMs;
  const index = known.get(bornMs) ?? known.size;
  known.set(bornMs, index);
  return index;
}

/** By the member's name and the time of its birth: the how many-th birth of that name it was. */
type Births = Map<string, Map<number | undefined, number>>;

function podOf(members: readonly MemberStop[], nowMs: number): PodStop {
  const [first] = members;
  if (first === undefined) throw new Error('internal error: a pod without members');
  const ends = members.flatMap(({ diedMs, again }) => diedMs ?? again?.againMs ?? []);
  const platform = members.findLast((member) => member.platform?.why !== undefined)?.platform;
  const those = membersOfLastStop(members, platform);
  const deadlines = those.flatMap(({ deadlineMs }) => deadlineMs ?? []);
  const lost = members.filter(({ reason, diedMs }) => reason === 'lost' && diedMs === undefined);
  const isOver = ends.length + lost.length === members.length || (ends.length > 0 && goesOn(members, platform));
  // The last sign of life is all that is known of a member that was lost.
  const heard = ends.length > 0 ? ends : lost.map(({ spans }) => spans.at(-1)?.untilMs ?? nowMs);
  const endedMs = isOver ? Math.max(...heard) : nowMs;
  const drawn = new Map(members.map((member) => [member, untilEnd(member, endedMs)]));
  return {
    pod: first.pod,
    workload: first.workload,
    members: [...drawn.values()].sort((a, b) => rankOf(a) - rankOf(b) || (endMsOf(a) ?? nowMs) - (endMsOf(b) ?? nowMs)),
    earlier: new Set([...drawn].flatMap(([member, as]) => (those.includes(member) ? [] : [as]))),
    beganMs: Math.min(endedMs, ...those.flatMap((member) => startMsOf(member) ?? [])),
    endedMs,
    isOver,
    deadlineMs: deadlines.length === 0 ? undefined : Math.min(...deadlines),
    ...(platform && { platform }),
  };
}

/**
 * One container may have stopped before the pod did: what then came later than its grace period allows, or was asked of
 * the pod and not of it, is another stop.
 */
function membersOfLastStop(
  members: readonly MemberStop[],
  platform: PlatformRecord | undefined,
): readonly MemberStop[] {
  const isAlone = (member: MemberStop, startMs: number): boolean =>
    member.isAlone ?? (platform?.askedMs !== undefined && startMs < platform.askedMs - SAME_STOP_MS);
  const started = members
    .flatMap((member) => {
      const startMs = startMsOf(member);
      return startMs === undefined ? [] : [{ member, startMs, alone: isAlone(member, startMs) }];
    })
    .sort((a, b) => a.startMs - b.startMs);
  let stop: typeof started = [];
  let untilMs = Number.POSITIVE_INFINITY;
  for (const one of started) {
    const { member, startMs, alone } = one;
    const follows = member.stopReason === MAINS_FINISHED || startMs <= untilMs;
    if (!follows || (!alone && stop.length > 0 && stop.every((other) => other.alone))) stop = [];
    if (stop.length === 0) untilMs = startMs;
    stop.push(one);
    untilMs = Math.max(
      untilMs,
      startMs + (member.graceMs ?? ASSUMED_GRACE_MS),
      (endMsOf(member) ?? Number.POSITIVE_INFINITY) + SAME_STOP_MS,
    );
  }
  const earlier = started.filter((one) => !stop.includes(one)).map(({ member }) => member);
  return members.filter((member) => !earlier.includes(member));
}

/** Members of one stop are not asked at the same moment, and the kubelet cuts its times to seconds. */
const SAME_STOP_MS = 2_000;

function startMsOf(member: MemberStop): number | undefined {
  return member.requestedMs ?? endMsOf(member);
}

/** Containers were restarted alone, while the others ran on. */
function goesOn(members: readonly MemberStop[], platform: PlatformRecord | undefined): boolean {
  return (
    platform === undefined &&
    members.every(({ diedMs, again, isOfKubelet }) => diedMs === undefined && (again !== undefined || isOfKubelet))
  );
}

/** Of its command, for good or in the restart that is told of. */
export function endMsOf({ diedMs, again }: MemberStop): number | undefined {
  return diedMs ?? again?.endedMs;
}

/** One that runs again does so until the last of the others does, and what the kubelet saw last goes on. */
function untilEnd(whole: MemberStop, untilMs: number): MemberStop {
  const member = { ...whole, spans: (whole.absences ?? []).reduce(withoutAbsence, whole.spans) };
  const { again, spans, isOfKubelet, diedMs } = member;
  const last = spans.at(-1);
  if (again !== undefined && again.againMs < untilMs)
    return { ...member, spans: [...spans, { activity: 'run', fromMs: again.againMs, untilMs }] };
  if (isOfKubelet === undefined || diedMs !== undefined || again !== undefined || last === undefined) return member;
  return { ...member, spans: [...spans.slice(0, -1), { ...last, untilMs: Math.max(last.fromMs, untilMs) }] };
}

function withoutAbsence(spans: readonly Span[], { fromMs, untilMs }: Absence): readonly Span[] {
  return spans.flatMap((span) => {
    const [from, until] = [Math.max(fromMs, span.fromMs), Math.min(untilMs, span.untilMs)];
    if (from >= until) return [span];
    const parts: readonly Span[] = [
      { ...span, untilMs: from },
      { activity: 'wait', fromMs: from, untilMs: until },
      { ...span, fromMs: until },
    ];
    return parts.filter((part) => part.untilMs > part.fromMs);
  });
}

function rankOf({ role }: MemberStop): number {
  return role === 'sidecar' ? 1 : 0;
}

/** The members that were ended by KILL. */
export function forcedOf(pod: PodStop): readonly MemberStop[] {
  return pod.members.filter(({ forcedBy }) => forcedBy !== undefined);
}

/** The members that were still there when the platform's KILL was due. */
export function lateOf(pod: PodStop): readonly MemberStop[] {
  return pod.members.filter(
    ({ deadlineMs, diedMs, reason }) =>
      deadlineMs !== undefined && reason !== 'lost' && (diedMs ?? pod.endedMs) > deadlineMs,
  );
}

/** A deletion may be shortened while the kubelet reckons with the time that it had at first. */
export function isUnenforced(pod: PodStop): boolean {
  const graceMs = pod.platform?.graceMs;
  return graceMs !== undefined && forcedOf(pod).length === 0 && stopMsOf(pod) > graceMs + UNENFORCED_MS;
}

/** The kubelet gives 2 s at least, and cuts its times to seconds. */
const UNENFORCED_MS = 3_000;

/** From the stop request to the end of the last member. */
export function stopMsOf(pod: PodStop): number {
  return pod.endedMs - pod.beganMs;
}

/** The grace period as declared, or of the deletion: the shortest. */
export function graceMsOf(pod: PodStop): number | undefined {
  const members = pod.members.filter((member) => !pod.earlier.has(member));
  const graces = [...members, isUnenforced(pod) ? {} : (pod.platform ?? {})].flatMap(({ graceMs }) => graceMs ?? []);
  return graces.length === 0 ? undefined : Math.min(...graces);
}

/** Of a member's own: from its stop request, or its end where it was not asked, and what it did in it. */
export function stopOfMember({ spans, requestedMs, diedMs }: MemberStop): {
  readonly fromMs: number;
  readonly untilMs: number;
  readonly phases: readonly Span[];
} {
  const untilMs = diedMs ?? spans.at(-1)?.untilMs ?? 0;
  const fromMs = Math.min(requestedMs ?? untilMs, untilMs);
  return { fromMs, untilMs, phases: spans.filter(({ activity }) => activity !== 'run' && activity !== 'wait') };
}
