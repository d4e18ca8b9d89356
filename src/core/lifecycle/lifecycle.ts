/**
 * The lifecycle of one member as a pure function: a state and an event give the next state and what is to be done. It
 * is total: an event that does not fit the state is late, and changes nothing.
 *
 * Theory of operation. An event is first folded into the facts (`EVENTS`). Then the rules (`RULES`) are applied until
 * none of them changes anything. Rules look at facts and the time only, never at the event. A rule therefore holds in
 * whatever order the facts became known. A supervisor that resumes with its predecessor's facts goes on in the same
 * place. The two tables are the state machine of the child; the phase in the tombstone follows from the facts
 * (`phase.ts`).
 */
import type { MemberConfig } from '../config.ts';
import { publishPodStopNotBefore, recognizeLoneStop } from '../pod/alone.ts';
import { trustHeldBoots } from '../pod/boots.ts';
import { warnAboutDepartedSidecars } from '../pod/departed.ts';
import { onPeersSeen } from '../pod/peers.ts';
import { type Draft, draftOf, finishDraft, note, type Reduction, update, wakeAt } from '../state/draft.ts';
import type { Event } from '../state/events.ts';
import type { Child, State } from '../state/state.ts';
import { onExited, onRootsGone, onSpawned, onSpawnFailed } from './child.ts';
import { counted } from './counters.ts';
import { decideToFail, endFailing } from './failing.ts';
import { beginPostStart } from './hooks.ts';
import { onNotified, onSilent } from './notified.ts';
import { onOrdered } from './ordered.ts';
import { phaseOf } from './phase.ts';
import { markHealth, probe } from './ready/probing.ts';
import { startReadyChecks } from './ready/ready-checks.ts';
import { onFileChanged } from './reloading.ts';
import { onSignal, onStopAsked } from './request.ts';
import { joinRestart, onRestartAsked } from './restarting.ts';
import { endOverdueTasks, onTaskEnded } from './results.ts';
import { beginStop, decideToStop, restartAfterBackoff, startChildWhenReady } from './rules.ts';
import { trackStages } from './stages.ts';
import { climbInTime, giveUpOnUnkillable, onTold, stopRoots } from './stop/climb.ts';
import { onTrafficSeen, onTrafficUnavailable, resumeDrain, watchDrain } from './stop/drain.ts';
import { tryIdleCheck } from './stop/idle.ts';
import { leaveIfDone, leaveInTime } from './stop/quitting.ts';
import { resumeTasks } from './tasks.ts';

export function reduce(config: MemberConfig, state: State, event: Event): Reduction {
  const now = event.at.mono >= state.now.mono ? event.at : state.now;
  // Before a tick the supervisor rescans if a peer is unsure (`runtime/timeouts.ts`). Other events may overtake news
  // that a pause has held up.
  const lookedMs = event.type === 'ticked' ? now.mono : state.lookedMs;
  const draft = draftOf(config, { ...state, now, lookedMs, chronicle: counted(state, event) });
  draft.at = event.at;
  fold(draft, event);
  draft.at = now;
  if (draft.state.hasCaughtUp) advance(draft);
  // What was folded in still needs an action: a supervisor that hangs here is soon late.
  if (!draft.state.hasCaughtUp) wakeAt(draft, now.mono + BEGINNING_MS);
  enterPhase(draft);
  trackStages(draft);
  return finishDraft(draft);
}

/** Is told of each event, and of what it alone has led to. */
export type Observe = (before: State, event: Event, reduction: Reduction) => void;

export function reduceAll(config: MemberConfig, state: State, events: readonly Event[], observe?: Observe): Reduction {
  let all: Reduction = { state, effects: [], wakeAtMs: undefined };
  for (const event of events) {
    const reduction = reduce(config, all.state, event);
    observe?.(all.state, event, reduction);
    all = { ...reduction, effects: [...all.effects, ...reduction.effects] };
  }
  return all;
}

/** The time that a supervisor may take from the first events to its first action. */
const BEGINNING_MS = 1_000;

function fold(draft: Draft, event: Event): void {
  const { from, run } = EVENTS[event.type] as Step<Event>;
  const { child } = draft.state;
  if (from.includes(child.is)) run(draft, event, child);
}

function advance(draft: Draft): void {
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const before = draft.state;
    for (const { from, run } of RULES) {
      const { child } = draft.state;
      if (from.includes(child.is)) run(draft, undefined, child);
    }
    if (draft.state === before) return;
  }
  throw new Error('internal error: the rules never settle');
}

/** Each round changes the facts for good; the longest chain has fewer links than there are rules. */
const MAX_ROUNDS = 40;

type ChildState = Child['is'];

export interface Step<Input> {
  /** The states of the child in which it applies. */
  readonly from: readonly ChildState[];
  /** The states into which it moves the child. `test/core/lifecycle/machine.test.ts` compares them with `reduce`. */
  readonly to: readonly ChildState[];
  readonly run: (draft: Draft, input: Input, child: Child) => void;
}

const LIVING = ['unstarted', 'spawning', 'alive', 'roots', 'backoff'] as const;
const ANY = [...LIVING, 'gone'] as const;

/** The first half of the state machine: what each event does. In any other state of the child the event is late. */
export const EVENTS: { readonly [Type in Event['type']]: Step<Event & { readonly type: Type }> } = {
  booted: step(ANY, [], onBooted),
  signal: step(ANY, ['gone'], onSignal),
  ordered: step(ANY, [], onOrdered),
  spawned: step(['unstarted', 'spawning'], ['alive'], onSpawned),
  spawnFailed: step(['unstarted', 'spawning'], ['unstarted', 'backoff', 'gone'], onSpawnFailed),
  exited: step(['alive'], ['roots'], onExited),
  rootsGone: step(['roots'], ['unstarted', 'backoff', 'gone'], onRootsGone),
  told: step(LIVING, [], onTold),
  notified: step(['alive'], [], onNotified),
  silent: step(['alive'], [], onSilent),
  taskEnded: step(ANY, [], onTaskEnded),
  stopAsked: step(LIVING, [], onStopAsked),
  restartAsked: step(LIVING, [], onRestartAsked),
  fileChanged: step(['alive'], [], onFileChanged),
  trafficSeen: step(ANY, [], onTrafficSeen),
  trafficUnavailable: step(ANY, [], onTrafficUnavailable),
  generationRead: step(ANY, [], onGenerationRead),
  peersSeen: step(ANY, [], onPeersSeen),
  ticked: step([], [], () => {}),
};

/** The second half of the state machine: the rules in their order, which look at facts and time only. */
export const RULES: readonly Step<undefined>[] = [
  step(LIVING, [], trustHeldBoots),
  step(LIVING, [], recognizeLoneStop),
  step(LIVING, [], decideToStop),
  step(LIVING, [], joinRestart),
  step(LIVING, [], warnAboutDepartedSidecars),
  step(['unstarted'], [], startReadyChecks),
  step(['unstarted'], ['spawning', 'gone'], startChildWhenReady),
  step(['alive'], [], beginPostStart),
  step(ANY, [], endOverdueTasks),
  step(['gone'], [], leaveInTime),
  step(['alive'], [], markHealth),
  step(['alive'], [], decideToFail),
  step(['alive'], [], tryIdleCheck),
  step(ANY, [], watchDrain),
  step(LIVING, ['unstarted', 'gone'], beginStop),
  step(['alive'], [], endFailing),
  step(['alive'], [], probe),
  step(['roots'], [], stopRoots),
  step(['alive', 'roots'], [], climbInTime),
  step(['roots'], ['unstarted', 'backoff', 'gone'], giveUpOnUnkillable),
  step(['backoff'], ['spawning'], restartAfterBackoff),
  step(LIVING, [], publishPodStopNotBefore),
];

/** Types `child` of `run` as one of the states that the row names. */
function step<From extends ChildState, Input>(
  from: readonly From[],
  to: readonly ChildState[],
  run: (draft: Draft, input: Input, child: Extract<Child, { readonly is: From }>) => void,
): Step<Input> {
  return { from, to, run: run as Step<Input>['run'] };
}

function onGenerationRead(draft: Draft, { generation }: Event & { type: 'generationRead' }): void {
  if (draft.state.generation === undefined) update(draft, { generation });
}

/** A supervisor may have died between its last tombstone and its exit: its successor then only has to exit. */
function onBooted(draft: Draft): void {
  update(draft, { hasCaughtUp: true });
  leaveIfDone(draft);
  resumeTasks(draft);
  resumeDrain(draft);
}

function enterPhase(draft: Draft): void {
  const phase = phaseOf(draft.state);
  if (phase === draft.state.phase) return;
  update(draft, { phase });
  note(draft, 'phase', { Phase: phase });
}
