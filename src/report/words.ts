/** What a report says in words: one sentence for a pod's stop, and the critical chain. */
import { type Forcer, seconds, stillBusy } from '../core/format/evidence.ts';
import { MAINS_FINISHED } from '../core/state/state.ts';
import type { Activity } from './bars.ts';
import type { MemberStop, PodStop, Span } from './stop.ts';
import { endMsOf, forcedOf, graceMsOf, isUnenforced, lateOf, lengthOf, membersIn, phasesOf, stopMsOf } from './stop.ts';

const NAMES: Readonly<Record<Activity, string>> = {
  run: 'running',
  wait: 'waiting for its start',
  wake: 'supervisor start',
  hold: 'hold',
  drain: 'drain',
  linger: 'linger',
  'pre-stop': 'pre-stop',
  stop: 'stopping',
  kill: 'KILL',
  rest: 'leftover processes',
};

/** `drain`, `TERM`. */
export function nameOf({ activity, signal }: Pick<Span, 'activity' | 'signal'>): string {
  return (activity === 'stop' ? signal : undefined) ?? NAMES[activity];
}

/** Names an activity of many stops, whose signals differ. */
export function activityName(activity: Activity): string {
  if (activity === 'stop') return 'after a signal';
  return activity === 'kill' ? 'after KILL' : NAMES[activity];
}

/** The first member names a pod that has no name; the session tells such pods apart. */
export function podName({ pod, members: [first] }: PodStop): string {
  if (pod !== '') return pod;
  return `pod of ${first?.name}${first?.session === undefined ? '' : ` (session ${first.session})`}`;
}

/** `graceful, 11.2 s of 30 s; the drain of web took 9.0 s, 312 connections, the last one after 6.9 s`. */
export function sentenceOf(pod: PodStop): string {
  const { deadlineMs, beganMs, platform: { why } = {} } = pod;
  const members = membersIn(pod);
  const budgetMs = graceMsOf(pod) ?? (deadlineMs === undefined ? undefined : deadlineMs - beganMs);
  const took = `${seconds(stopMsOf(pod))}${budgetMs === undefined ? '' : ` of ${seconds(budgetMs)}`}`;
  if (!pod.isOver) return `not over yet, ${took}`;
  const movedMs = clockMovedMs(pod);
  // Without a stop request there is no duration.
  const isMoment = stopMsOf(pod) === 0 && members.every(({ requestedMs }) => requestedMs === undefined);
  const parts = [
    `${restartText(members)}${verdictOf(pod)}${isMoment ? '' : `, ${took}`}`,
    why === undefined || !isUnenforced(pod) ? why : `${why}, which was not enforced`,
    incidentsOf(pod),
    longestOf(pod),
    movedMs < LEAST_MOVED_MS ? undefined : `the wall clock moved by ${seconds(movedMs)} meanwhile`,
    restartsOf(pod),
  ];
  return parts.filter((part) => part !== undefined).join('; ');
}

/** Ends of a command that another start followed, and stop signals that came again. */
function incidentsOf({ members, earlier, beganMs }: PodStop): string | undefined {
  const before = [...earlier].map((member) => `${member.name}: ${earlierText(member, beganMs)} before`);
  const incidents = members.flatMap(({ name, absences = [], hurried, oomKills = 0, forcedBy }) => {
    // The last life's end is reported elsewhere.
    const kills = forcedBy === OOM_KILLER ? oomKills - 1 : oomKills;
    const texts = [
      ...(kills > 0 ? [`killed by the OOM killer ${kills === 1 ? 'once' : `${kills} times`} before, restarted`] : []),
      ...absences.map(({ fromMs, untilMs, how }) =>
        fromMs < beganMs
          ? `${how} ${seconds(beganMs - fromMs)} before, restarted`
          : `${how} after ${seconds(fromMs - beganMs)}, restarted, away for ${seconds(untilMs - fromMs)}`,
      ),
      ...(hurried ? [`hurried by another ${hurried.signal} after ${seconds(hurried.atMs - beganMs)}`] : []),
    ];
    return texts.map((text) => `${name}: ${text}`);
  });
  const all = [...before, ...incidents];
  return all.length === 0 ? undefined : listOf(all);
}

function earlierText(member: MemberStop, beganMs: number): string {
  const endMs = endMsOf(member);
  if (endMs !== undefined && endMs <= beganMs) return `${endText(member)} ${seconds(beganMs - endMs)}`;
  return `asked to stop ${seconds(beganMs - (member.requestedMs ?? beganMs))}`;
}

function restartText(members: readonly MemberStop[]): string {
  const again = members.filter((member) => member.again !== undefined);
  if (again.some(({ inPlace }) => inPlace !== undefined)) return 'restart in place: ';
  return again.length === 0 ? '' : `restart of ${listOf(again.map(({ name }) => name))}: `;
}

/** `restarted in place 2 times, the last one asked for by web, uid 0, pid 71`. */
function restartsOf({ members }: PodStop): string | undefined {
  const [most] = members.flatMap(({ inPlace }) => inPlace ?? []).sort((a, b) => b.times - a.times);
  if (most === undefined) return undefined;
  return `restarted in place ${most.times === 1 ? 'once,' : `${most.times} times, the last one`} asked for by ${most.by}`;
}

/** Times are drawn by the wall clock, so a clock that was set between two ends shifts one against the other. */
function clockMovedMs({ members }: PodStop): number {
  const clocks = members.flatMap(({ clock }) => clock ?? []);
  const moves = clocks.flatMap(({ boot, aheadMs }) =>
    clocks.map((other) => (other.boot === boot ? other.aheadMs - aheadMs : 0)),
  );
  return Math.max(0, ...moves);
}

/** Rounding and the slow correction by NTP move a clock by less. */
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
  // Only sexton sees what the command did after its stop signal.
  return members.some((member) => member.isOfKubelet && endMsOf(member) !== undefined) ? 'no KILL' : 'graceful';
}

/** It ended without having been asked to, and not by KILL. */
export function hasFailed(member: MemberStop): boolean {
  const { stopReason, forcedBy, exitCode = 0 } = member;
  return endMsOf(member) !== undefined && stopReason === undefined && forcedBy === undefined && exitCode !== 0;
}

function listOf(texts: readonly string[]): string {
  const more = texts.length > MAX_LISTED ? ` and ${texts.length - MAX_LISTED} more` : '';
  return `${texts.slice(0, MAX_LISTED).join(', ')}${more}`;
}

const MAX_LISTED = 5;

/** The phase that took most, of what is not waiting for another member. */
function longestOf(pod: PodStop): string | undefined {
  const spans = membersIn(pod).flatMap((member) => phasesOf(member).map((span) => ({ member, span })));
  const active = spans.filter(({ span }) => span.activity !== 'hold');
  const [longest] = active.sort((a, b) => lengthOf(b.span) - lengthOf(a.span));
  if (longest === undefined || lengthOf(longest.span) < LEAST_TOLD_MS) return undefined;
  const { member, span } = longest;
  const took = seconds(lengthOf(span));
  if (span.activity === 'stop' || span.activity === 'kill')
    return `${member.name} took ${took} to end${span.signal === undefined ? '' : ` after ${span.signal}`}`;
  return `the ${nameOf(span)} of ${member.name} took ${took}${span.activity === 'drain' ? seenBy(member) : ''}`;
}

const LEAST_TOLD_MS = 50;

function seenBy({ connections, busy }: MemberStop): string {
  const left = busy === undefined ? '' : stillBusy(busy.BusyTo);
  if (connections === undefined) return left;
  const { New, LastNewMs } = connections;
  const last = LastNewMs === undefined || New < 2 ? '' : `, the last one after ${seconds(LastNewMs)}`;
  return `, ${New} new ${New === 1 ? 'connection' : 'connections'}${last}${left}`;
}

/** While a stop goes on: what each member does, for which others it waits, and what comes at the deadline. */
export function presentLines({ members, deadlineMs, endedMs }: PodStop): readonly string[] {
  const alive = members.filter(({ diedMs, reason }) => diedMs === undefined && reason !== 'lost');
  const lines = alive.map((member) => {
    const span = member.spans.at(-1);
    const names = span?.activity === 'hold' ? neededBy(member, alive).map(({ name }) => name) : [];
    const waits = names.length === 0 ? '' : `, waits for the end of ${listOf(names)}`;
    return `${member.name}: ${span === undefined ? 'starting' : `${nameOf(span)} for ${seconds(lengthOf(span))}`}${waits}`;
  });
  if (deadlineMs === undefined || alive.length === 0) return lines;
  const leftMs = deadlineMs - endedMs;
  if (leftMs < 0) return [...lines, `the deadline was ${seconds(-leftMs)} ago`];
  return [...lines, `in ${seconds(leftMs)} the deadline ends ${listOf(alive.map(({ name }) => name))} by KILL`];
}

/** The members that a holding one waits for: mains, for a sidecar, and those that start after it. */
function neededBy({ name, role }: MemberStop, alive: readonly MemberStop[]): readonly MemberStop[] {
  const others = alive.filter((other) => other.name !== name);
  return others.filter((other) => other.startAfter.includes(name) || (role === 'sidecar' && other.role !== 'sidecar'));
}

/** One link of the critical chain: a member, and what it did while the pod's end waited for it. */
export interface Link {
  readonly member: MemberStop;
  /** Its stop up to where the link after it takes over, the newest first. */
  readonly spans: readonly Span[];
  /** Why it could not go on before: the member of the next link. */
  readonly waitedFor: string | undefined;
}

/** A closed socket is noticed at once, a lost one after 2 s: the end that a member waited for is at most this old. */
const NOTICED_MS = 3_000;

/** Backwards from the pod's end: who was last, what it waited for, whose phase that was. */
export function chainOf(pod: PodStop): readonly Link[] {
  const links: Link[] = [];
  const others = new Set(pod.members);
  let member = lastOf(others);
  while (member !== undefined) {
    others.delete(member);
    const { spans, fromMs } = ownPartOf(member);
    const isWaiting = member.stopReason === MAINS_FINISHED || member.spans.some(({ activity }) => activity === 'hold');
    const before = isWaiting ? lastOf(others, fromMs) : undefined;
    links.push({ member, spans, waitedFor: before?.name });
    member = before;
  }
  return links;
}

/** What it did itself, after its last wait for another member. */
function ownPartOf(member: MemberStop): { readonly spans: readonly Span[]; readonly fromMs: number } {
  const endMs = member.again?.endedMs ?? Number.POSITIVE_INFINITY;
  const isIdle = ({ activity }: Span): boolean => activity === 'wait' || activity === 'run';
  const own = member.spans.filter((span) => span.fromMs < endMs || !isIdle(span));
  const held = own.findLastIndex((span) => span.activity === 'hold' || isIdle(span));
  const fromMs = own[held]?.untilMs ?? member.requestedMs ?? Number.NEGATIVE_INFINITY;
  return { spans: own.slice(held + 1).toReversed(), fromMs };
}

/** The member that ended last; with a moment, at or shortly before it. */
function lastOf(members: Iterable<MemberStop>, byMs?: number): MemberStop | undefined {
  const ended = [...members].flatMap((member) => {
    const endedMs = endMsOf(member);
    const isNear = byMs === undefined || (Number(endedMs) <= byMs && byMs - Number(endedMs) <= NOTICED_MS);
    return endedMs !== undefined && isNear ? [{ member, endedMs }] : [];
  });
  return ended.sort((a, b) => b.endedMs - a.endedMs)[0]?.member;
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

/** `exit 0`, `SIGKILL`; `exit 0, runs again`; of a container and its command `exit 0 (SIGTERM)`. */
function endOf({ exitCode, containerExitCode, signal, diedMs, reason, again }: MemberStop): string {
  const code = exitCode === undefined ? undefined : `exit ${exitCode}`;
  if (diedMs === undefined && again !== undefined) return `${code ?? 'ended'}, runs again`;
  if (reason === 'never-started' || reason === 'lost') return reason.replace('-', ' ');
  if (diedMs === undefined) return 'alive';
  const own = signal ?? code ?? reason ?? 'ended';
  const isSame = containerExitCode === undefined || containerExitCode === exitCode;
  return isSame ? own : `exit ${containerExitCode} (${own})`;
}

export function shorten(text: string, max: number, ellipsis = '…'): string {
  return text.length <= max ? text : `${text.slice(0, max - ellipsis.length)}${ellipsis}`;
}

/** Continued lines are indented. */
export function wrap(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  let current = '';
  for (const word of text.split(/(?<=\S) /)) {
    if (current !== '' && current.length + 1 + word.length > width) {
      lines.push(current);
      current = `    ${word}`;
    } else current = current === '' ? word : `${current} ${word}`;
  }
  return [...lines, current];
}
