/**
 * The lifecycle of one member, as a pure function: what is known and what has happened give what is known next and
 * what is to be done. Total over all states and events: an event that does not fit the state is late, and changes nothing.
 *
 * Theory of operation. An event is first folded into the facts (this file, signals in `request.ts`). Then the rules (`rules.ts`) are
 * applied until none of them has anything to add; they only look at facts and at the time, never at the event. So a rule holds no
 * matter in which order the facts became known, and a supervisor that resumes with the facts of its predecessor goes on in the same place.
 */

import { isAskedByPlatform } from './alone.ts';
import { learnBoot } from './boots.ts';
import { bornOf } from './chronicle.ts';
import { hearOfKill, turnToStrays } from './climb.ts';
import type { MemberConfig } from './config.ts';
import { type Draft, draftOf, finishDraft, note, say, update } from './draft.ts';
import { hearOfTraffic, missTraffic, resumeDrain } from './drain.ts';
import { bury, endLife } from './end.ts';
import type { Event } from './events.ts';
import { type ChildExit, isInterrupt, OVERTAKEN, statusOf, statusOfErrno } from './exit.ts';
import { rosterOf } from './finished.ts';
import { hostOf } from './incarnation.ts';
import { forwardTable } from './ladder.ts';
import type { PeerView } from './peers.ts';
import { phaseOf } from './phase.ts';
import { leaveIfDone } from './quitting.ts';
import { hearOfChange } from './reloading.ts';
import { askToStop, hearForwarded, receiveSignal } from './request.ts';
import { hearOfEnd } from './results.ts';
import { advance } from './rules.ts';
import { SIGKILL, signalName } from './signals.ts';
import { trackStages } from './stages.ts';
import { peerNamed } from './standing.ts';
import type { Child, Peer, Reduction, State } from './state.ts';
import { counted } from './tally.ts';
import { resumeTasks } from './tasks.ts';
import { type Instant, rfc3339 } from './time.ts';

export function reduce(config: MemberConfig, state: State, event: Event): Reduction {
  const now = event.at.mono >= state.now.mono ? event.at : state.now;
  // Before a tick whoever doubts somebody looks again (`runtime/late.ts`). Anything else may be heard before the news that a pause has held up.
  const lookedMs = event.type === 'ticked' ? now.mono : state.lookedMs;
  const draft = draftOf(config, { ...state, now, lookedMs, chronicle: counted(state, event) });
  draft.at = event.at;
  fold(draft, event);
  draft.at = now;
  if (draft.state.isAwake) advance(draft);
  enterPhase(draft);
  trackStages(draft);
  return finishDraft(draft);
}

function fold(draft: Draft, event: Event): void {
  switch (event.type) {
    case 'booted':
      return wake(draft);
    case 'signalReceived':
      return receiveSignal(draft, event);
    case 'signalForwarded':
      return hearForwarded(draft, event);
    case 'childSpawned':
      return welcome(draft, event.id, event.pid, event.at);
    case 'childSpawnFailed':
      return missBirth(draft, event);
    case 'childKilled':
      return hearOfKill(draft, event.id);
    case 'childExited':
      return mourn(draft, event);
    case 'groupEmptied':
      return emptyGroup(draft, event);
    case 'generationRead':
      return draft.state.generation === undefined ? update(draft, { generation: event.generation }) : undefined;
    case 'peersSeen':
      return meet(draft, event.peers);
    case 'straysGone':
      return draft.state.child.is === 'remnant' && draft.state.child.strays
        ? endLife(draft, draft.state.child)
        : undefined;
    case 'actionEnded':
      return hearOfEnd(draft, event);
    case 'stopAsked':
      return askToStop(draft, event);
    case 'fileChanged':
      return hearOfChange(draft, event.index);
    case 'trafficSeen':
      return hearOfTraffic(draft, event);
    case 'trafficUnseen':
      return missTraffic(draft, event);
    case 'ticked':
      return;
    default:
      return event satisfies never;
  }
}

/** A supervisor that died between the last carving and its exit finds its work all but done. */
function wake(draft: Draft): void {
  update(draft, { isAwake: true });
  leaveIfDone(draft);
  resumeTasks(draft);
  resumeDrain(draft);
}

/** A command that cannot be started at all is the end; one that was started before and lacks but room now is like one that died. */
function missBirth(draft: Draft, { id, errno }: Event & { type: 'childSpawnFailed' }): void {
  const { child } = draft.state;
  if (child.is !== 'spawning' && child.is !== 'unborn') return;
  if (errno === OVERTAKEN) return takeBack(draft, child);
  note(draft, 'start failed', { Error: errno });
  const status = draft.config.startFailureCode ?? statusOfErrno(errno);
  if (id === 1 || !PASSING.has(errno)) return bury(draft, { status, reason: 'error', exit: undefined });
  const exit = { code: status, signal: undefined };
  const sinceMs = draft.state.now.mono;
  endLife(draft, { is: 'remnant', id, exit, sinceMs, livedMs: 0, oom: false, strays: false });
}

/** No process, memory or descriptor left, or the program is being replaced: clone(2), execve(2). */
const PASSING: ReadonlySet<string> = new Set(['EAGAIN', 'ENOMEM', 'EMFILE', 'ENFILE', 'ETXTBSY']);

/** A stop request was there before the start was: nothing was started, and who decides now has heard of it. */
function takeBack(draft: Draft, child: Child & { is: 'spawning' | 'unborn' }): void {
  if (child.is === 'unborn') return;
  const { now, births } = draft.state;
  const before: Child =
    child.after === undefined ? { is: 'unborn' } : { is: 'backoff', untilMs: now.mono, exit: child.after };
  update(draft, { child: before, births: births - 1 });
}

function welcome(draft: Draft, id: number, pid: number, at: Instant): void {
  const { child, chronicle } = draft.state;
  if (child.is !== 'spawning' && child.is !== 'unborn') return;
  const time = rfc3339(at.wall);
  const { probes, postStart } = draft.config;
  const started = probes.startup === undefined && postStart === undefined ? time : undefined;
  const healthy = probes.readiness === undefined ? started : undefined;
  update(draft, {
    births: id,
    child: { is: 'alive', id, pid, sinceMs: at.mono },
    chronicle: { ...chronicle, firstBorn: bornOf(chronicle) ?? time, born: time, started, healthy },
  });
  note(draft, 'started', { Pid: pid, Incarnation: id });
  say(draft, 'info', 'started', { pid });
  draft.effects.push({ type: 'forwardSignals', id, table: forwardTable(draft.config) });
}

function mourn(draft: Draft, event: Event & { type: 'childExited' }): void {
  const { child, climb } = draft.state;
  if (child.is !== 'alive' || child.id !== event.id) return;
  const { code, signal } = event.exit;
  const oom = signal === SIGKILL && event.oom && climb?.killed !== true;
  const by = signal !== SIGKILL ? {} : { By: climb?.killed === true ? 'sexton' : oom ? 'OOM killer' : 'somebody else' };
  note(
    draft,
    'exited',
    signal === undefined ? { ExitCode: code ?? 0 } : { Signal: signalName(signal), Core: event.core, ...by },
  );
  const how = signal === undefined ? { exitCode: code } : { signal: signalName(signal), core: event.core, ...by };
  say(draft, exitLevel(draft, event.exit), 'exited', how);
  const livedMs = event.at.mono - child.sinceMs;
  // From now on, not from then: word of the whole group comes right behind, however late both are heard.
  const sinceMs = draft.state.now.mono;
  update(draft, {
    child: { is: 'remnant', id: event.id, exit: event.exit, sinceMs, livedMs, oom, strays: false },
    chronicle: { ...draft.state.chronicle, healthy: undefined, exit: event.exit },
  });
}

/** A failure that was not asked for is an error, our own KILL a warning; so somebody who reads only errors reads of each crash. */
function exitLevel({ config, state: { climb } }: Draft, exit: ChildExit): 'info' | 'warn' | 'error' {
  // Where no signal is a stop request, as under the name tini, an end that was asked for looks like any other.
  if (config.stopSignals.length === 0) return 'info';
  if (climb?.killed === true && exit.signal === SIGKILL) return 'warn';
  const isExpected = climb !== undefined && exit.signal !== SIGKILL;
  return isExpected || statusOf(exit) === 0 || isInterrupt(exit) ? 'info' : 'error';
}

/** Nobody is left of the group; those that have left it before are not forgotten. */
function emptyGroup(draft: Draft, { id, strays }: Event & { type: 'groupEmptied' }): void {
  const { child } = draft.state;
  if (child.is !== 'remnant' || child.id !== id || child.strays) return;
  if (strays > 0) return turnToStrays(draft, child);
  endLife(draft, child);
}

/**
 * Whoever was seen once stays known: a file that is gone proves nothing, the liveness does. Only of whoever has vanished and is not
 * told of any more nothing is kept: there were so many that the reader has let go of the oldest whose life is over.
 */
function meet(draft: Draft, views: readonly PeerView[]): void {
  const known = Object.entries(draft.state.peers ?? {}).filter(([, { vanished }]) => !vanished);
  const peers: Record<string, Peer> = Object.fromEntries(known);
  for (const view of views) {
    const { Name } = view.tombstone;
    if (Name === draft.config.name) continue;
    const before = peerNamed(draft.state, Name);
    peers[Name] = peerOf(before, view, draft.state.now.mono);
    if (before === undefined) continue;
    learnBoot(draft, before, view);
    lookForRebirth(draft, before, view);
  }
  update(draft, { peers });
}

/** A handle that is held again where nobody held it is a new life's: its tombstone follows, and until it is read the old one is there. */
function peerOf(before: Peer | undefined, view: PeerView, nowMs: number): Peer {
  const wasAsked = before !== undefined && isAskedByPlatform(before.tombstone) && isSameHost(before, view);
  const askedSeenMs = wasAsked ? before.askedSeenMs : nowMs;
  return { ...aged(before, view, nowMs), ...(isAskedByPlatform(view.tombstone) && { askedSeenMs }) };
}

function aged(before: Peer | undefined, view: PeerView, nowMs: number): Peer {
  if (before === undefined) return { ...view, sinceMs: nowMs };
  const sinceMs = sameLife(before, view) ? before.sinceMs : nowMs;
  const isSameWord = before.tombstone.Incarnation === view.tombstone.Incarnation;
  const backMs = isSameWord && !isAbandoned(view) ? (isAbandoned(before) ? nowMs : before.backMs) : undefined;
  return backMs === undefined ? { ...view, sinceMs } : { ...view, sinceMs, backMs };
}

function isSameHost(a: PeerView, b: PeerView): boolean {
  return hostOf(a.tombstone.Incarnation) === hostOf(b.tombstone.Incarnation);
}

function isAbandoned({ liveness, refused }: PeerView): boolean {
  return liveness === 'lost' || refused === true;
}

function sameLife(before: PeerView, view: PeerView): boolean {
  const [a, b] = [before.tombstone, view.tombstone];
  return (
    a.Incarnation === b.Incarnation &&
    a.Died === b.Died &&
    before.liveness === view.liveness &&
    before.refused === view.refused
  );
}

/** A main that comes back after its sidecar has decided that all is over will run without it: nobody can mend that silently. */
function lookForRebirth(draft: Draft, before: PeerView, view: PeerView): void {
  const { Name, Born, Incarnation, Reason } = view.tombstone;
  if (draft.state.stop?.origin !== 'self' || !rosterOf(draft.config, draft.state).includes(Name)) return;
  const wasOver = before.tombstone.Died !== undefined || before.liveness === 'lost';
  const isSame = before.tombstone.Incarnation === Incarnation && before.tombstone.Born === Born;
  // A short life may be over before its first tombstone is carved: that it was lived is the news.
  if (!wasOver || isSame || Reason === 'never-started') return;
  note(draft, 'main born again', { Name });
  say(
    draft,
    'error',
    `main ${Name} was born again after this sidecar decided to stop: check that --restart-policy is the pod's own`,
    { main: Name },
  );
}

function enterPhase(draft: Draft): void {
  const phase = phaseOf(draft.state);
  if (phase === draft.state.phase) return;
  update(draft, { phase });
  note(draft, 'phase', { Phase: phase });
}
