/**
 * How the members of a pod stopped: the model between the sources (`tombstones.ts`, `evidence.ts`, `kubelet.ts`) and
 * the formats. Neither side knows the other. Times are milliseconds since 1970, UTC, with fractions. All text is
 * printable: it went through `cleanText`.
 */
import type { Role } from '../core/config.ts';
import type { Busy, Connections } from '../core/format/evidence.ts';
import type { DeathReason } from '../core/format/tombstone.ts';
import { ASSUMED_GRACE_MS } from '../core/pod/deadline.ts';
import { MAINS_FINISHED } from '../core/state/state.ts';
import type { Activity, Prediction, Stretch } from './bars.ts';

export interface Span extends Stretch {
  readonly activity: Activity;
  /** The signal that was sent at the beginning of a `stop`, `kill` or `rest`, `TERM`. */
  readonly signal?: string;
}

export interface Mark {
  readonly atMs: number;
  readonly text: string;
  readonly isSignal: boolean;
}

/** What is absent is not known, unless its comment says otherwise. */
export interface MemberStop {
  /** Namespace and name; empty: the source does not name it. */
  readonly pod: string;
  /** Another one is another pod, also where the name comes again. */
  readonly session?: string | undefined;
  /** What the pod is a replica of, by its controller's name; else the pod. */
  readonly workload: string;
  readonly name: string;
  readonly role?: Role | undefined;
  /** In order, without gaps or overlaps, from the first known moment to the end. */
  readonly spans: readonly Span[];
  readonly marks: readonly Mark[];
  readonly requestedMs?: number | undefined;
  /** `signal TERM`, `mains finished`. */
  readonly stopReason?: string | undefined;
  /** Absent: it lives, or was lost. */
  readonly diedMs?: number | undefined;
  readonly deadlineMs?: number | undefined;
  readonly graceMs?: number | undefined;
  readonly reason?: DeathReason | undefined;
  readonly exitCode?: number | undefined;
  readonly containerExitCode?: number | undefined;
  readonly signal?: string | undefined;
  readonly forcedBy?: string | undefined;
  readonly restarts: number;
  readonly oomKills?: number | undefined;
  /** Restarts in place of the pod with this member: how many, and who asked for the last one. */
  readonly inPlace?: { readonly times: number; readonly by: string } | undefined;
  /** It runs again: the end of its command, and its next start. */
  readonly again?: { readonly endedMs: number; readonly againMs: number } | undefined;
  /** Between two lives that belong to the report; in order. */
  readonly absences?: readonly Absence[] | undefined;
  /** Its container was stopped alone, and not with the pod. */
  readonly isAlone?: boolean;
  readonly hurried?: { readonly atMs: number; readonly signal: string } | undefined;
  /** Absent: the source is no pod. */
  readonly platform?: PlatformRecord;
  /** Only the kubelet reports it: its times are whole seconds, and its signals are not known. */
  readonly isOfKubelet?: true;
  readonly connections?: Connections | undefined;
  readonly busy?: Busy | undefined;
  /** Members that it needs; they serve on until it has ended. */
  readonly startAfter: readonly string[];
  /** At its end: by how much the wall clock was ahead of the monotonic clock of this boot. */
  readonly clock?: { readonly boot: string; readonly aheadMs: number } | undefined;
}

export interface Absence extends Stretch {
  /** `killed by the OOM killer`, `exit 3`. */
  readonly how: string;
}

/** What the platform's own record of the pod says of its stop. */
export interface PlatformRecord {
  /** In words; absent: the platform did not stop it. */
  readonly why?: string;
  readonly askedMs?: number | undefined;
  readonly graceMs?: number | undefined;
  /** The platform ended the pod for a reason of its own, such as an eviction. */
  readonly isDisrupted: boolean;
}

export interface PodStop {
  readonly pod: string;
  readonly workload: string;
  /** Mains first, then in the order of their ends. */
  readonly members: readonly MemberStop[];
  /** The members that were asked to stop, or ended, before the last stop: each stop is what one request began. */
  readonly earlier: ReadonlySet<MemberStop>;
  /** The first request of the last stop or, where no member was asked, the first end. */
  readonly beganMs: number;
  /** The last end, or start of a member that was restarted; of a stop that goes on, the moment of the report. */
  readonly endedMs: number;
  /** All members have ended, or were restarted in place. */
  readonly isOver: boolean;
  readonly deadlineMs: number | undefined;
  readonly platform?: PlatformRecord;
  readonly prediction?: Prediction;
}

/**
 * Pods in the order of their stops. When two reports tell of one member, the one that knows a later end counts. Where
 * nothing tells pods apart, another birth is another pod. A member without a session belongs to the last one of its
 * named pod, or to the first where none came before.
 */
export function podsOf(members: readonly MemberStop[], nowMs: number): readonly PodStop[] {
  const pods = new Map<string, Map<string, MemberStop>>();
  const births: Births = new Map();
  const told = members.filter(({ session }) => session !== undefined);
  const sessions = new Map(told.toReversed().map(({ pod, session }) => [pod, session]));
  for (const member of members) {
    if (member.session !== undefined) sessions.set(member.pod, member.session);
    const isUnknown = member.pod === '' && member.session === undefined;
    const key = isUnknown ? `#${indexOfBirth(births, member)}` : `${member.pod} ${sessions.get(member.pod)}`;
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

/** The number that each birth of a member got, by the member's name and the time of the birth. */
type Births = Map<string, Map<number | undefined, number>>;

function indexOfBirth(births: Births, { name, spans: [first] }: MemberStop): number {
  const known = births.get(name) ?? new Map<number | undefined, number>();
  const index = known.get(first?.fromMs) ?? known.size;
  births.set(name, known.set(first?.fromMs, index));
  return index;
}

function podOf(members: readonly MemberStop[], nowMs: number): PodStop {
  const [first] = members;
  if (first === undefined) throw new Error('internal error: a pod without members');
  const ends = members.flatMap(({ diedMs, again }) => diedMs ?? again?.againMs ?? []);
  const platform = members.findLast((member) => member.platform?.why !== undefined)?.platform;
  const earlier = earlierOf(members, platform);
  const last = members.filter((member) => !earlier.has(member));
  const requests = last.flatMap(({ requestedMs }) => requestedMs ?? []);
  const deadlines = last.flatMap(({ deadlineMs }) => deadlineMs ?? []);
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
    earlier: new Set([...drawn].flatMap(([member, as]) => (earlier.has(member) ? [as] : []))),
    beganMs: Math.min(endedMs, ...(requests.length > 0 ? requests : last.flatMap((member) => endMsOf(member) ?? []))),
    endedMs,
    isOver,
    deadlineMs: deadlines.length === 0 ? undefined : Math.min(...deadlines),
    ...(platform && { platform }),
  };
}

/** Those that were asked, or ended, before the last stop. */
function earlierOf(members: readonly MemberStop[], platform: PlatformRecord | undefined): ReadonlySet<MemberStop> {
  const podAskedMs = platform?.askedMs ?? Number.NEGATIVE_INFINITY;
  const begun = members.flatMap((member) => {
    const atMs = member.requestedMs ?? endMsOf(member);
    return atMs === undefined ? [] : [{ member, atMs }];
  });
  const earlier = new Set<MemberStop>();
  let stop: MemberStop[] = [];
  let areAlone = true;
  let endMs = 0;
  let askingUntilMs = 0;
  for (const { member, atMs } of begun.sort((a, b) => a.atMs - b.atMs)) {
    const { stopReason, graceMs = ASSUMED_GRACE_MS, isAlone = atMs < podAskedMs - SAME_STOP_MS } = member;
    // A platform asks the containers of a pod one by one, each after its own pre-stop hook.
    const isOfPlatform = stopReason?.startsWith('signal ') === true;
    const isLate = atMs > endMs + SAME_STOP_MS && !(isOfPlatform && atMs <= askingUntilMs);
    if (stopReason !== MAINS_FINISHED && (isLate || (areAlone && !isAlone))) {
      for (const one of stop) earlier.add(one);
      stop = [];
      areAlone = true;
      endMs = 0;
      askingUntilMs = 0;
    }
    stop.push(member);
    areAlone &&= isAlone;
    endMs = Math.max(endMs, endMsOf(member) ?? Number.POSITIVE_INFINITY);
    if (isOfPlatform) askingUntilMs = Math.max(askingUntilMs, atMs + graceMs);
  }
  return earlier;
}

/** Members of one stop are not asked at the same moment, and the kubelet cuts its times to seconds. */
const SAME_STOP_MS = 2_000;

/** Containers were restarted alone, while the others ran on. */
function goesOn(members: readonly MemberStop[], platform: PlatformRecord | undefined): boolean {
  const runsOn = ({ diedMs, again, isOfKubelet }: MemberStop): boolean =>
    diedMs === undefined && (again !== undefined || isOfKubelet === true);
  return platform === undefined && members.every(runsOn);
}

/** When its command ended, for good or in the restart that is reported. */
export function endMsOf({ diedMs, again }: MemberStop): number | undefined {
  return diedMs ?? again?.endedMs;
}

/** One that runs again does so until the last of the others ends, and what the kubelet saw last goes on. */
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
    const absent: Span = { activity: 'wait', fromMs: from, untilMs: until };
    return [{ ...span, untilMs: from }, absent, { ...span, fromMs: until }].filter((part) => lengthOf(part) > 0);
  });
}

function rankOf({ role }: MemberStop): number {
  return role === 'sidecar' ? 1 : 0;
}

/** Those of the last stop. */
export function membersIn({ members, earlier }: PodStop): readonly MemberStop[] {
  return members.filter((member) => !earlier.has(member));
}

export function forcedOf(pod: PodStop): readonly MemberStop[] {
  return pod.members.filter(({ forcedBy }) => forcedBy !== undefined);
}

/** The members that were still there when the platform's KILL was due. */
export function lateOf({ members, endedMs }: PodStop): readonly MemberStop[] {
  return members.filter(
    ({ deadlineMs = Number.POSITIVE_INFINITY, diedMs = endedMs, reason }) => reason !== 'lost' && diedMs > deadlineMs,
  );
}

/** A deletion may be shortened while the kubelet reckons with the time that it had at first. */
export function isUnenforced(pod: PodStop): boolean {
  const graceMs = pod.platform?.graceMs;
  return graceMs !== undefined && forcedOf(pod).length === 0 && stopMsOf(pod) > graceMs + UNENFORCED_MS;
}

/** The kubelet gives 2 s at least, and cuts its times to seconds. */
const UNENFORCED_MS = 3_000;

export function stopMsOf({ beganMs, endedMs }: PodStop): number {
  return endedMs - beganMs;
}

/** The shortest grace period that was declared, or that the deletion gave. */
export function graceMsOf(pod: PodStop): number | undefined {
  const graces = [...membersIn(pod), ...(pod.platform && !isUnenforced(pod) ? [pod.platform] : [])].flatMap(
    ({ graceMs }) => graceMs ?? [],
  );
  return graces.length === 0 ? undefined : Math.min(...graces);
}

export function phasesOf({ spans }: MemberStop): readonly Span[] {
  return spans.filter(({ activity }) => activity !== 'run' && activity !== 'wait');
}

export function lengthOf({ fromMs, untilMs }: Stretch): number {
  return untilMs - fromMs;
}
