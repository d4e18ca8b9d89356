/**
 * What a report says in words: one sentence for a pod's stop, and the critical chain.
 */
import {
  type Activity,
  forcedOf,
  graceMsOf,
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
  hold: 'hold',
  drain: 'drain',
  linger: 'linger',
  'pre-stop': 'pre-stop',
  rest: 'left-over processes',
};

/** `drain`, `TERM`. */
export function nameOf({ activity, signal }: Pick<Span, 'activity' | 'signal'>): string {
  if (activity === 'stop') return signal ?? 'stopping';
  return activity === 'kill' ? 'KILL' : NAMES[activity];
}

/** `graceful, 11.2 s of 30 s; the drain of web took 9.0 s, 312 connections`. */
export function sentenceOf(pod: PodStop): string {
  const graceMs = graceMsOf(pod);
  const took = `${seconds(stopMsOf(pod))}${graceMs === undefined ? '' : ` of ${seconds(graceMs)}`}`;
  if (!pod.isOver) return `not over yet, ${took}`;
  const longest = longestOf(pod);
  return [`${verdictOf(pod)}, ${took}`, ...(longest === undefined ? [] : [longest])].join('; ');
}

function verdictOf(pod: PodStop): string {
  const forced = forcedOf(pod);
  if (forced.length > 0) return `forced: ${forced.map(({ name, forcedBy }) => `${name} by ${forcedBy}`).join(', ')}`;
  const late = lateOf(pod);
  return late.length > 0 ? `late: ${late.map(({ name }) => name).join(', ')}` : 'graceful';
}

/** The phase that took most, of what is not waiting for another member. */
function longestOf({ members }: PodStop): string | undefined {
  const all = members.flatMap((member) => member.spans.map((span) => ({ member, span })));
  const own = all.filter(({ span }) => span.activity !== 'run' && span.activity !== 'hold' && span.activity !== 'wait');
  const [longest] = own.sort((a, b) => lengthOf(b.span) - lengthOf(a.span));
  if (longest === undefined || lengthOf(longest.span) < LEAST_TOLD_MS) return undefined;
  const { member, span } = longest;
  const seen =
    span.activity === 'drain' && member.connections !== undefined ? `, ${member.connections.New} connections` : '';
  return `the ${nameOf(span)} of ${member.name} took ${seconds(lengthOf(span))}${seen}`;
}

const LEAST_TOLD_MS = 50;

function lengthOf({ fromMs, untilMs }: Span): number {
  return untilMs - fromMs;
}

/** One link of the critical chain: a member, and what it did while the pod's end waited for it. */
export interface Link {
  readonly member: MemberStop;
  /** Of its stop, up to where the link after it takes over; the newest first. */
  readonly spans: readonly Span[];
  /** Why it could not go on before: the member of the next link. */
  readonly waitedFor: string | undefined;
}

/** A member that was waited for ended so shortly before, at most: a closed socket is noticed at once, a lost one after 2 s. */
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

/** What it did after it had waited for nobody. */
function ownPartOf(member: MemberStop): { readonly spans: readonly Span[]; readonly fromMs: number } {
  const held = member.spans.findLastIndex(
    ({ activity }) => activity === 'hold' || activity === 'run' || activity === 'wait',
  );
  const spans = member.spans.slice(held + 1).toReversed();
  return { spans, fromMs: member.spans[held]?.untilMs ?? member.requestedMs ?? Number.NEGATIVE_INFINITY };
}

/** Who ended last of those that had ended by then, and not long before. */
function lastOf(members: readonly MemberStop[], byMs: number): MemberStop | undefined {
  const ended = members.flatMap((member) => (member.diedMs === undefined ? [] : [{ member, diedMs: member.diedMs }]));
  const candidates = ended.filter(
    ({ diedMs }) => diedMs <= byMs && (byMs === Number.POSITIVE_INFINITY || byMs - diedMs <= NOTICED_MS),
  );
  return candidates.sort((a, b) => b.diedMs - a.diedMs)[0]?.member;
}

/** `proxy: TERM 3 ms, after main had ended`; the last to end first. */
export function chainLines(pod: PodStop): readonly string[] {
  return chainOf(pod).map(({ member, spans, waitedFor }) => {
    const did = spans.map((span) => `${nameOf(span)} ${seconds(lengthOf(span))}`).reverse();
    const own = did.length === 0 ? endOf(member) : did.join(', ');
    return `${member.name}: ${own}${waitedFor === undefined ? causeOf(member) : `, after ${waitedFor} had ended`}`;
  });
}

function causeOf({ stopReason }: MemberStop): string {
  return stopReason === undefined ? ', ended by itself' : `, asked to stop (${stopReason})`;
}

/** `exit 0`, `SIGKILL`. */
export function endOf({ exitCode, signal, diedMs, reason }: MemberStop): string {
  if (diedMs === undefined) return 'alive';
  if (reason === 'never-started') return 'never started';
  if (signal !== undefined) return signal;
  return exitCode === undefined ? (reason ?? 'ended') : `exit ${exitCode}`;
}
