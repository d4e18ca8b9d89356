/**
 * The drain: the time between a stop request and the first rung, in which the command serves on, as others do not know
 * yet that it goes. A fixed one lasts as long as it was told. An adaptive one is over when connections have stopped
 * coming: never before its least, never after its most or what the deadline leaves for the ladder.
 *
 * It is ended by what was observed, not by silence: a watch that has died, or that is late, tells nothing, and the
 * drain goes on to its most.
 */
import type { AdaptiveDrain, MemberConfig } from '../config.ts';
import { floorTurnMs } from '../pod/deadline.ts';
import { type Draft, isDue, note, say, sayOnce, update, wakeAt } from '../state/draft.ts';
import type { Event } from '../state/events.ts';
import { isHurried, MAINS_FINISHED, type SteadyPace, type Stop, type Traffic } from '../state/state.ts';

/** From the request on; a drain of any kind is over then. */
export function longestDrainMs({ drain }: Pick<MemberConfig, 'drain'>): number {
  if (drain === undefined) return 0;
  return drain.kind === 'fixed' ? drain.ms : drain.maxMs;
}

/**
 * Where a sidecar that is known by its name is asked how it is: probes come there, and no client. A URL may be where
 * clients come, too.
 */
export function sidecarPorts({ quit, startReady, drain }: MemberConfig): readonly number[] {
  const calls = [...quit.map(({ name, calls: [call] }) => ({ name, call })), ...startReady];
  const ports = calls.filter(({ name }) => !name.includes('://')).map(({ call }) => call.port);
  const named = drain?.kind === 'adaptive' ? drain.ports : [];
  return ports.filter((port) => !named.includes(port));
}

/** Begins the watch with the stop request, also beside a hold, and ends the drain when it is quiet. */
export function watchDrain(draft: Draft): void {
  const { config, state } = draft;
  const { stop, traffic, climb } = state;
  if (config.drain?.kind !== 'adaptive' || stop === undefined || stop.reason === MAINS_FINISHED) return;
  if (traffic === undefined) return beginDrain(draft, config.drain, stop);
  if (traffic.ended !== undefined) return;
  if (state.child.is === 'gone' || state.child.is === 'unstarted') return endDrain(draft, 'command ended');
  if (isHurried(stop)) return endDrain(draft, 'asked again');
  if (isQuiet(config.drain, stop, traffic)) {
    update(draft, { stop: { ...stop, earliestMs: state.now.mono } });
    return endDrain(draft, 'quiet');
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
  const { type: _, at, ...seen } = event;
  update(draft, { traffic: { ...traffic, atMs: at.mono, steady: undefined, ...seen } });
}

/** The fixed delay is all that is left. */
export function onTrafficUnavailable(draft: Draft, { why }: Event & { type: 'trafficUnavailable' }): void {
  const { traffic } = draft.state;
  if (traffic === undefined || traffic.ended !== undefined) return;
  update(draft, { traffic: { ...traffic, atMs: undefined, unseen: why } });
  sayOnce(draft, 'drain unseen', 'warn', `cannot see new connections: ${why}; the drain takes its longest time`);
}

/** For the next supervisor, which knows nothing of the connections before it: for all it knows one has just come. */
export function resumeDrain(draft: Draft): void {
  const { config, state } = draft;
  const { traffic } = state;
  if (config.drain?.kind !== 'adaptive' || traffic === undefined || traffic.ended !== undefined) return;
  const { connections, ignored } = traffic;
  update(draft, { traffic: { ...traffic, atMs: undefined, open: undefined } });
  draft.effects.push({ type: 'watchTraffic', drain: config.drain, connections, ignored });
}

function beginDrain(draft: Draft, drain: AdaptiveDrain, stop: Stop): void {
  const { climb, child, now } = draft.state;
  // What waits for nothing has no drain, and a member that was asked to be quick has none either.
  if (climb?.why === 'stop' || child.is === 'gone' || child.is === 'unstarted' || isHurried(stop)) return;
  if (now.mono >= stop.earliestMs) return;
  update(draft, { traffic: NOTHING_SEEN });
  draft.effects.push({ type: 'watchTraffic', drain, connections: 0, ignored: 0 });
}

const NOTHING_SEEN: Traffic = {
  atMs: undefined,
  lastMs: undefined,
  connections: 0,
  ignored: 0,
  open: undefined,
  unseen: undefined,
  ended: undefined,
};

function isQuiet({ minMs, quietMs, inflight }: AdaptiveDrain, stop: Stop, { atMs, lastMs, open }: Traffic): boolean {
  if (atMs === undefined || (inflight && open !== 0)) return false;
  return atMs >= stop.atMs + minMs && atMs >= Math.max(stop.atMs, lastMs ?? stop.atMs) + quietMs;
}

function endDrain(draft: Draft, why: NonNullable<Traffic['ended']>): void {
  const { traffic, stop, now } = draft.state;
  if (traffic === undefined || stop === undefined) return;
  update(draft, { traffic: { ...traffic, ended: why } });
  draft.effects.push({ type: 'unwatchTraffic' });
  const { connections, ignored, open, unseen, byAddress = 0, steady } = traffic;
  const afterMs = Math.round(now.mono - stop.atMs);
  // Zeros without a count would be a lie.
  const seen = unseen === undefined ? { connections, ignored, ...(open === undefined ? {} : { open }) } : { unseen };
  note(draft, 'drained', { Why: why, AfterMs: afterMs, ...capitalized(seen) });
  say(draft, 'info', `the drain is over: ${END_TEXTS[why]}`, { why, afterMs, ...seen });
  if (why === 'quiet' && connections === 0 && byAddress > 0) say(draft, 'warn', noneCounted(draft.config, byAddress));
  if (why === 'max' && steady !== undefined) say(draft, 'warn', keptAwake(steady));
}

/**
 * Probes are like that, and so are clients behind a proxy in the pod, or behind the node's address: only people can
 * tell.
 */
function noneCounted({ drain }: MemberConfig, byAddress: number): string {
  const isNamed = drain?.kind === 'adaptive' && drain.ignore.length > 0;
  const those = isNamed ? 'a neighbour in the pod or an address in ignore=' : 'a neighbour in the pod';
  const remedy = isNamed ? 'write neighbours, or a narrower ignore=' : 'write neighbours, or their ports=';
  return `the drain counted no connection and ignored ${byAddress} from ${those}; if those were clients ${remedy} in --drain`;
}

/** A balancer's check and a patient client come like that, too: only people can tell. */
function keptAwake({ from, port, everyMs }: SteadyPace): string {
  const pace = `one every ${(everyMs / 1_000).toFixed(1)} s`;
  return `all connections of the drain came from ${from} to port ${port}, ${pace}, as readiness probes of a kubelet do; if it was one, let it come less often than quiet, or to a port that is not in ports=, or write ignore=${from} in --drain, where no clients come from there`;
}

const END_TEXTS = {
  quiet: 'no new connections',
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
