/**
 * The drain: the time between a stop request and the first rung, in which the command serves on until others know that
 * it goes. A fixed drain has a fixed length. An adaptive one ends when connections stop coming and the application is
 * idle (`idle.ts`). That is between its least and its most time, and early enough for the ladder.
 *
 * Observation ends it, not silence: a watch that has died or is late reports nothing, and the drain then takes its
 * longest time.
 */
import type { AdaptiveDrain, MemberConfig } from '../../config.ts';
import { stillBusy } from '../../format/evidence.ts';
import { floorTurnMs } from '../../pod/deadline.ts';
import { type Draft, isDue, note, say, sayOnce, update, wakeAt } from '../../state/draft.ts';
import type { Event } from '../../state/events.ts';
import { isHurried, MAINS_FINISHED, type SteadyPace, type Stop, type Traffic } from '../../state/state.ts';
import { dropTask } from '../tasks.ts';
import { askIfIdle, forgetIdleness, isIdleLongEnough } from './idle.ts';

/** The longest time from the request to the end of a drain of any kind. */
export function longestDrainMs({ drain }: Pick<MemberConfig, 'drain'>): number {
  if (drain === undefined) return 0;
  return drain.kind === 'fixed' ? drain.ms : drain.maxMs;
}

/** The ports where only probes of a sidecar known by name connect. A URL may be a port of clients, too. */
export function sidecarPorts({ quit, startReady, drain }: MemberConfig): readonly number[] {
  const calls = [...quit.map(({ name, calls: [call] }) => ({ name, call })), ...startReady];
  const ports = calls.filter(({ name }) => !name.includes('://')).map(({ call }) => call.port);
  const named = drain?.kind === 'adaptive' ? drain.ports : [];
  return ports.filter((port) => !named.includes(port));
}

/** Begins the watch with the stop request, also beside a hold, and ends the drain when no connections come. */
export function watchDrain(draft: Draft): void {
  const { config, state } = draft;
  const { stop, traffic, climb } = state;
  if (config.drain?.kind !== 'adaptive' || stop === undefined || stop.reason === MAINS_FINISHED) return;
  if (traffic === undefined) return beginDrain(draft, config.drain, stop);
  if (traffic.ended !== undefined) return;
  if (state.child.is === 'gone' || state.child.is === 'unstarted') return endDrain(draft, 'command ended');
  if (isHurried(stop)) return endDrain(draft, 'asked again');
  askIfIdle(draft);
  // What is idle while it holds may be busy when its turn comes.
  const isTooEarly = config.idleWhen !== undefined && stop.waitsFor === 'turn';
  const isDone = isOver(draft, config.drain, stop, traffic) && isIdleLongEnough(config.idleWhen, state.idle);
  if (isDone && !isTooEarly) {
    update(draft, { stop: { ...stop, earliestMs: state.now.mono } });
    return endDrain(draft, config.idleWhen === undefined ? 'quiet' : 'idle');
  }
  const floorMs = floorTurnMs(config, stop);
  if (isDue(draft, stop.earliestMs)) return endDrain(draft, 'max');
  wakeAt(draft, stop.earliestMs);
  if (isDue(draft, floorMs)) return endDrain(draft, 'grace floor');
  wakeAt(draft, floorMs);
  if (climb?.why === 'stop' || stop.waitsFor === 'pre-stop') endDrain(draft, 'deadline');
}

export function onTrafficSeen(draft: Draft, event: Event & { type: 'trafficSeen' }): void {
  const { traffic } = draft.state;
  if (traffic === undefined || traffic.ended !== undefined) return;
  const { type: _, at, blind, ...seen } = event;
  update(draft, { traffic: { ...traffic, atMs: at.mono, steady: undefined, ...seen } });
  if (blind !== undefined) sayOnce(draft, 'drain blind', 'warn', toldNothing(draft.config, blind));
}

/** Without a count only the longest time ends the drain. */
export function onTrafficUnavailable(draft: Draft, { why }: Event & { type: 'trafficUnavailable' }): void {
  const { traffic } = draft.state;
  if (traffic === undefined || traffic.ended !== undefined) return;
  update(draft, { traffic: { ...traffic, atMs: undefined, unseen: why } });
  sayOnce(draft, 'drain unseen', 'warn', `cannot see new connections: ${why}; the drain takes its longest time`);
}

/** Resumes the watch in the next supervisor, which must assume that a connection has just come. */
export function resumeDrain(draft: Draft): void {
  const { config, state } = draft;
  const { traffic } = state;
  if (config.drain?.kind !== 'adaptive' || traffic === undefined || traffic.ended !== undefined) return;
  const { connections, ignored } = traffic;
  update(draft, { traffic: { ...traffic, atMs: undefined, open: undefined } });
  forgetIdleness(draft);
  if (config.drain.quietMs === 0) return;
  draft.effects.push({ type: 'watchTraffic', drain: config.drain, connections, ignored });
}

function beginDrain(draft: Draft, drain: AdaptiveDrain, stop: Stop): void {
  const { climb, child, now } = draft.state;
  // A stop that waits for nothing has no drain, nor has a hurried one.
  if (climb?.why === 'stop' || child.is === 'gone' || child.is === 'unstarted' || isHurried(stop)) return;
  if (now.mono >= stop.earliestMs) return;
  const isSeen = drain.quietMs > 0;
  update(draft, { traffic: isSeen ? NOTHING_SEEN : { ...NOTHING_SEEN, unseen: 'quiet=off' }, idle: undefined });
  if (isSeen) draft.effects.push({ type: 'watchTraffic', drain, connections: 0, ignored: 0 });
}

const NOTHING_SEEN: Traffic = {
  atMs: undefined,
  lastMs: undefined,
  connections: 0,
  ignored: 0,
  open: undefined,
  byAddress: 0,
  unseen: undefined,
  ended: undefined,
};

/** What the command says of itself counts before what its connections look like. */
function isOver(draft: Draft, drain: AdaptiveDrain, stop: Stop, traffic: Traffic): boolean {
  const { notified } = draft.state;
  wakeAt(draft, notified?.busyUntilMs);
  if (notified?.busyUntilMs !== undefined && !isDue(draft, notified.busyUntilMs)) return false;
  if (notified?.stopping !== true) return isQuiet(drain, stop, traffic, draft.state.now.mono);
  wakeAt(draft, stop.atMs + drain.minMs);
  return isDue(draft, stop.atMs + drain.minMs);
}

function isQuiet(
  { minMs, quietMs, inflight }: AdaptiveDrain,
  stop: Stop,
  { atMs, lastMs, open }: Traffic,
  nowMs: number,
): boolean {
  if (quietMs === 0) return nowMs >= stop.atMs + minMs;
  if (atMs === undefined || (inflight && open !== 0)) return false;
  return atMs >= stop.atMs + minMs && atMs >= Math.max(stop.atMs, lastMs ?? stop.atMs) + quietMs;
}

function endDrain(draft: Draft, why: NonNullable<Traffic['ended']>): void {
  const { traffic, stop, now, idle } = draft.state;
  if (traffic === undefined || stop === undefined) return;
  update(draft, { traffic: { ...traffic, ended: why } });
  dropTask(draft, 'idle');
  draft.effects.push({ type: 'unwatchTraffic' });
  const { connections, ignored, open, unseen, byAddress, steady } = traffic;
  const afterMs = Math.round(now.mono - stop.atMs);
  // Zeros without a count would mislead.
  const counted = unseen === undefined ? { connections, ignored, ...(open === undefined ? {} : { open }) } : { unseen };
  const seen = { ...counted, ...(idle === undefined ? {} : { busy: idle.says }) };
  note(draft, 'drained', { Why: why, AfterMs: afterMs, ...capitalized(seen) });
  const left = why === 'max' && idle !== undefined ? stillBusy(idle.says) : '';
  say(draft, 'info', `the drain is over: ${END_TEXTS[why]}${left}`, { why, afterMs, ...seen });
  if ((why === 'quiet' || why === 'idle') && connections === 0 && byAddress > 0)
    say(draft, 'warn', noneCounted(draft.config, byAddress));
  if (why === 'max' && steady !== undefined) say(draft, 'warn', keptAwake(steady));
}

function toldNothing({ drain }: MemberConfig, why: string): string {
  const isCounted = drain?.kind === 'adaptive' && !drain.inflight;
  const so = isCounted ? 'each new one counts, and requests over kept ones do not' : 'the drain takes its longest time';
  return `cannot tell connections apart: ${why}; ${so}`;
}

/** Probes look like this, and so do clients behind a proxy in the pod or the node's address: only people can tell. */
function noneCounted({ drain }: MemberConfig, byAddress: number): string {
  const isNamed = drain?.kind === 'adaptive' && drain.ignore.length > 0;
  const those = isNamed ? 'a neighbour in the pod or an address in ignore=' : 'a neighbour in the pod';
  const remedy = isNamed ? 'write neighbours, or a narrower ignore=' : 'write neighbours, or their ports=';
  return `the drain counted no connection and ignored ${byAddress} from ${those}; if those were clients ${remedy} in --drain`;
}

/** A load balancer's check or a patient client looks the same: only people can tell. */
function keptAwake({ from, port, everyMs }: SteadyPace): string {
  const pace = `one every ${(everyMs / 1_000).toFixed(1)} s`;
  return `all connections of the drain came from ${from} to port ${port}, ${pace}, as readiness probes of a kubelet do; if it was one, let it come less often than quiet, or to a port that is not in ports=, or write ignore=${from} in --drain, where no clients come from there`;
}

const END_TEXTS = {
  quiet: 'no new connections',
  idle: 'the application is idle',
  max: 'its longest time has passed',
  'grace floor': 'the platform may leave no more time',
  deadline: 'the deadline is near',
  'asked again': 'asked to stop again',
  'command ended': 'the command has ended',
} as const satisfies Record<NonNullable<Traffic['ended']>, string>;

function capitalized(details: Readonly<Record<string, string | number>>): Record<string, string | number> {
  return Object.fromEntries(
    Object.entries(details).map(([key, value]) => [key[0]?.toUpperCase() + key.slice(1), value]),
  );
}
