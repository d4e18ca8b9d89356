/**
 * What a report says in words: one sentence for a pod's stop, and the critical chain.
 */
import type { Forcer } from '../core/format/evidence.ts';
import type { Activity } from './bars.ts';
import {
  endMsOf,
  forcedOf,
  graceMsOf,
  type InPlace,
  isUnenforced,
  lateOf,
  type MemberStop,
  type PodStop,
  type Span,
  stopMsOf,
} from './stop.ts';

/** `40 ms`, `4.2 s`, `23 s`, `130 s`. */
export function seconds(ms: number): string {
  if (ms < 0) return `-${seconds(-ms)}`;
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  return `${ms < 10_000 ? (ms / 1_000).toFixed(1) : Math.round(ms / 1_000)} s`;
}

const NAMES: Readonly<Record<Exclude<Activity, 'stop' | 'kill'>, string>> = {
  run: 'running',
  wait: 'waiting for its start',
  wake: 'supervisor start',
  hold: 'hold',
  drain: 'drain',
  linger: 'linger',
  'pre-stop': 'pre-stop',
  rest: 'leftover processes',
};

/** `drain`, `TERM`. */
export function nameOf({ activity, signal }: Pick<Span, 'activity' | 'signal'>): string {
  if (activity === 'stop') return signal ?? 'stopping';
  return activity === 'kill' ? 'KILL' : NAMES[activity];
}

/** Of many stops: the signal differs from one to the next. */
export function activityName(activity: Activity): string {
  if (activity === 'stop') return 'after a signal';
  return activity === 'kill' ? 'after KILL' : NAMES[activity];
}

/** Without a name, by its first member. */
export function podName({ pod, members: [first] }: PodStop): string {
  return pod === '' ? `pod of ${first?.name}` : pod;
}

/** `graceful, 11.2 s of 30 s; the drain of web took 9.0 s, 312 connections, the last one after 6.9 s`. */
export function sentenceOf(pod: PodStop): string {
  const budgetMs = graceMsOf(pod) ?? (pod.deadlineMs === undefined ? undefined : pod.deadlineMs - pod.beganMs);
  const took = `${seconds(stopMsOf(pod))}${budgetMs === undefined ? '' : ` of ${seconds(budgetMs)}`}`;
  if (!pod.isOver) return `not over yet, ${took}`;
  const longest = longestOf(pod);
  const movedMs = clockMovedMs(pod);
  const clock = movedMs < LEAST_MOVED_MS ? [] : [`the wall clock moved by ${seconds(movedMs)} meanwhile`];
  const isRestart = pod.members.some(({ inPlace, again }) => inPlace !== undefined && again !== undefined);
  // Without a stop request there is no duration.
  const isMoment = stopMsOf(pod) === 0 && pod.members.every(({ requestedMs }) => requestedMs === undefined);
  const verdict = `${isRestart ? 'restart in place: ' : restartedAlone(pod)}${verdictOf(pod)}${isMoment ? '' : `, ${took}`}`;
  const { why: cause } = pod.platform ?? {};
  const why = cause === undefined || !isUnenforced(pod) ? cause : `${cause}, which was not enforced`;
  return [verdict, why, ...turnsOf(pod), longest, ...clock, ...restartsOf(pod)]
    .filter((part) => part !== undefined)
    .join('; ');
}

/** Ends of a command that another start followed, and stop signals that came again. */
function turnsOf({ members, earlier, beganMs }: PodStop): readonly string[] {
  const before = [...earlier].map((member) => `${member.name}: ${earlierText(member, beganMs)} before`);
  const turns = members.flatMap(({ name, absences = [], hurried, oomKills = 0, forcedBy }) => [
    ...oomText(name, forcedBy === OOM_KILLER ? oomKills - 1 : oomKills),
    ...absences.map(({ fromMs, untilMs, how }) =>
      fromMs < beganMs
        ? `${name}: ${how} ${seconds(beganMs - fromMs)} before, restarted`
        : `${name}: ${how} after ${seconds(fromMs - beganMs)}, restarted, away for ${seconds(untilMs - fromMs)}`,
    ),
    ...(hurried === undefined
      ? []
      : [`${name}: hurried by another ${hurried.signal} after ${seconds(hurried.atMs - beganMs)}`]),
  ]);
  const all = [...before, ...turns];
  return all.length === 0 ? [] : [listOf(all)];
}

/** The OOM kills of the lives before the last one. */
function oomText(name: string, kills: number): readonly string[] {
  if (kills <= 0) return [];
  return [`${name}: killed by the OOM killer ${kills === 1 ? 'once' : `${kills} times`} before, restarted`];
}

function earlierText(member: MemberStop, beganMs: number): string {
  const endMs = endMsOf(member);
  if (endMs !== undefined && endMs <= beganMs) return `${endText(member)} ${seconds(beganMs - endMs)}`;
  return `asked to stop ${seconds(beganMs - (member.requestedMs ?? beganMs))}`;
}

/** Containers that the kubelet has started again. */
function restartedAlone({ members }: PodStop): string {
  const names = members.filter(({ again }) => again !== undefined).map(({ name }) => name);
  return names.length === 0 ? '' : `restart of ${listOf(names)}: `;
}

/** `restarted in place 2 times, the last one asked for by web, uid 0, pid 71`. */
function restartsOf({ members }: PodStop): readonly string[] {
  const all = members.flatMap(({ inPlace }) => inPlace ?? []);
  const most = all.reduce<InPlace | undefined>((a, b) => (a === undefined || b.times > a.times ? b : a), undefined);
  if (most === undefined) return [];
  return [
    `restarted in place ${most.times === 1 ? 'once,' : `${most.times} times, the last one`} asked for by ${most.by}`,
  ];
}

/** Times are drawn by the wall clock, so a clock that was set between two ends shifts one against the other. */
function clockMovedMs({ members }: PodStop): number {
  const clocks = members.flatMap(({ clock }) => (clock === undefined ? [] : [clock]));
  const moves = clocks.flatMap(({ boot, aheadMs }) =>
    clocks.filter((other) => other.boot === boot).map((other) => Math.abs(aheadMs - other.aheadMs)),
  );
  return Math.max(0, ...moves);
}

/** More than rounding and the slow correction by NTP make of it. */
const LEAST_MOVED_MS = 100;

function verdictOf(pod: PodStop): string {
  const { members } = pod;
  const lost = members.filter(({ reason }) => reason === 'lost');
  const failed = members.filter((member) => hasFailed(member) && !lost.includes(member));
  const kinds: readonly (readonly [string, readonly string[]])[] = [
    ['forced', forcedOf(pod).map(({ name, forcedBy }) => `${name} by ${forcerText(forcedBy)}`)],
    ['late', lateOf(pod).map(({ name }) => name)],
    ['lost', lost.map(({ name }) => name)],
    ['failed', failed.map((member) => `${member.name} (${endOf(member)})`)],
  ];
  const parts = kinds.flatMap(([kind, names]) => (names.length === 0 ? [] : [`${kind}: ${listOf(names)}`]));
  if (parts.length > 0) return parts.join('; ');
  // What the command made of its stop signal only sexton sees.
  return members.some(({ isOfKubelet, diedMs, again }) => isOfKubelet && (diedMs ?? again) !== undefined)
    ? 'no KILL'
    : 'graceful';
}

/** It ended without having been asked to, and not by KILL. */
export function hasFailed({ stopReason, forcedBy, exitCode = 0, diedMs, again }: MemberStop): boolean {
  const hasEnded = diedMs !== undefined || again !== undefined;
  return hasEnded && stopReason === undefined && forcedBy === undefined && exitCode !== 0;
}

function listOf(texts: readonly string[]): string {
  const more = texts.length > MAX_LISTED ? ` and ${texts.length - MAX_LISTED} more` : '';
  return `${texts.slice(0, MAX_LISTED).join(', ')}${more}`;
}

const MAX_LISTED = 5;

/** The phase that took most, of what is not waiting for another member. */
function longestOf({ members, earlier }: PodStop): string | undefined {
  const those = members.filter((member) => !earlier.has(member));
  const all = those.flatMap((member) => member.spans.map((span) => ({ member, span })));
  const own = all.filter(({ span }) => span.activity !== 'run' && span.activity !== 'hold' && span.activity !== 'wait');
  const [longest] = own.sort((a, b) => lengthOf(b.span) - lengthOf(a.span));
  if (longest === undefined || lengthOf(longest.span) < LEAST_TOLD_MS) return undefined;
  const { member, span } = longest;
  const took = seconds(lengthOf(span));
  if (span.activity === 'stop' || span.activity === 'kill')
    return `${member.name} took ${took} to end${span.signal === undefined ? '' : ` after ${span.signal}`}`;
  return `the ${nameOf(span)} of ${member.name} took ${took}${span.activity === 'drain' ? seenBy(member) : ''}`;
}

function seenBy({ connections }: MemberStop): string {
  if (connections === undefined) return '';
  const { New, LastNewMs } = connections;
  const last = LastNewMs === undefined || New < 2 ? '' : `, the last one after ${seconds(LastNewMs)}`;
  return `, ${New} new ${New === 1 ? 'connection' : 'connections'}${last}`;
}

const LEAST_TOLD_MS = 50;

function lengthOf({ fromMs, untilMs }: Span): number {
  return untilMs - fromMs;
}

/**
 * Of a pod that has not ended: what each member does now, for which others it waits, and what comes at the deadline.
 */
export function presentLines(pod: PodStop): readonly string[] {
  const alive = pod.members.filter(({ diedMs, reason }) => diedMs === undefined && reason !== 'lost');
  const lines = alive.map((member) => {
    const span = member.spans.at(-1);
    const names = span?.activity === 'hold' ? neededBy(member, alive).map(({ name }) => name) : [];
    const waits = names.length === 0 ? '' : `, waits for the end of ${listOf(names)}`;
    return `${member.name}: ${span === undefined ? 'starting' : `${nameOf(span)} for ${seconds(lengthOf(span))}`}${waits}`;
  });
  const { deadlineMs, endedMs } = pod;
  if (deadlineMs === undefined || alive.length === 0) return lines;
  const names = listOf(alive.map(({ name }) => name));
  const leftMs = deadlineMs - endedMs;
  const end =
    leftMs < 0
      ? `the deadline was ${seconds(-leftMs)} ago`
      : `in ${seconds(leftMs)} the deadline ends ${names} by KILL`;
  return [...lines, end];
}

/** Mains, for a sidecar, and those that start after it. */
function neededBy({ name, role }: MemberStop, alive: readonly MemberStop[]): readonly MemberStop[] {
  return alive.filter(
    (other) =>
      other.name !== name && (other.startAfter.includes(name) || (role === 'sidecar' && other.role !== 'sidecar')),
  );
}

/** One link of the critical chain: a member, and what it did while the pod's end waited for it. */
export interface Link {
  readonly member: MemberStop;
  /** Of its stop, up to where the link after it takes over; the newest first. */
  readonly spans: readonly Span[];
  /** Why it could not go on before: the member of the next link. */
  readonly waitedFor: string | undefined;
}

/**
 * A member that was waited for ended so shortly before, at most: a closed socket is noticed at once, a lost one after 2
 * s.
 */
const NOTICED_MS = 3_000;

/** Backwards from the pod's end: who was last, what it waited for, whose phase that was. */
export function chainOf(pod: PodStop): readonly Link[] {
  const links: Link[] = [];
  const rest = new Set(pod.members);
  let member = lastOf([...rest], Number.POSITIVE_INFINITY);
  while (member !== undefined) {
    rest.delete(member);
    const { spans, fromMs } = ownPartOf(member);
    const isWaiting =
      member.stopReason === 'mains finished' || member.spans.some(({ activity }) => activity === 'hold');
    const before = isWaiting ? lastOf([...rest], fromMs) : undefined;
    links.push({ member, spans, waitedFor: before?.name });
    member = before;
  }
  return links;
}

/** What it did itself, after its last wait for another member. */
function ownPartOf(member: MemberStop): { readonly spans: readonly Span[]; readonly fromMs: number } {
  const endMs = member.again?.endedMs ?? Number.POSITIVE_INFINITY;
  const isAgain = ({ activity, fromMs }: Span): boolean =>
    fromMs >= endMs && (activity === 'wait' || activity === 'run');
  const own = member.spans.filter((span) => !isAgain(span));
  const held = own.findLastIndex(({ activity }) => activity === 'hold' || activity === 'run' || activity === 'wait');
  const spans = own.slice(held + 1).toReversed();
  return { spans, fromMs: own[held]?.untilMs ?? member.requestedMs ?? Number.NEGATIVE_INFINITY };
}

/** The member that ended last before that moment, and not long before it. */
function lastOf(members: readonly MemberStop[], byMs: number): MemberStop | undefined {
  const ended = members.flatMap((member) => {
    const endedMs = endMsOf(member);
    return endedMs === undefined ? [] : [{ member, endedMs }];
  });
  const candidates = ended.filter(
    ({ endedMs }) => endedMs <= byMs && (byMs === Number.POSITIVE_INFINITY || byMs - endedMs <= NOTICED_MS),
  );
  return candidates.sort((a, b) => b.endedMs - a.endedMs)[0]?.member;
}

/** `proxy: TERM 3 ms, after main had ended`; the last to end first. */
export function chainLines(pod: PodStop): readonly string[] {
  return chainOf(pod).map(({ member, spans, waitedFor }) => {
    const did = spans.map((span) => `${nameOf(span)} ${seconds(lengthOf(span))}`).reverse();
    const own = did.length === 0 ? endText(member) : did.join(', ');
    return `${member.name}: ${own}${waitedFor === undefined ? causeOf(member) : `, after ${waitedFor} had ended`}`;
  });
}

function causeOf({ stopReason, forcedBy, reason }: MemberStop): string {
  if (stopReason !== undefined) return `, asked to stop (${stopReason})`;
  return forcedBy === undefined && reason !== 'lost' ? ', ended by itself' : '';
}

/** `exit 0`; `SIGKILL by sexton`. */
export function endText(member: MemberStop): string {
  const { forcedBy, signal } = member;
  if (forcedBy === undefined) return endOf(member);
  const by = forcerText(forcedBy);
  return signal === 'SIGKILL' ? `${signal} by ${by}` : `${endOf(member)}, KILL by ${by}`;
}

const OOM_KILLER: Forcer = 'OOM killer';

export function forcerText(forcedBy = ''): string {
  return forcedBy === OOM_KILLER ? `the ${forcedBy}` : forcedBy;
}

export function shorten(text: string, max: number, ellipsis = '…'): string {
  return text.length <= max ? text : `${text.slice(0, max - ellipsis.length)}${ellipsis}`;
}

/** `exit 0`, `SIGKILL`; `exit 0, runs again`. */
export function endOf({ exitCode, signal, diedMs, reason, again }: MemberStop): string {
  if (diedMs === undefined && again !== undefined)
    return `${exitCode === undefined ? 'ended' : `exit ${exitCode}`}, runs again`;
  if (reason === 'never-started' || reason === 'lost') return reason.replace('-', ' ');
  if (diedMs === undefined) return 'alive';
  if (signal !== undefined) return signal;
  return exitCode === undefined ? (reason ?? 'ended') : `exit ${exitCode}`;
}
