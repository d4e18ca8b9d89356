/** The stages of a stop, each with its beginning, from which the evidence is made. They decide nothing. */
import type { StageName } from '../format/evidence.ts';
import { trimHistory } from '../format/tombstone.ts';
import { ladderOf } from '../ladder.ts';
import { SIGKILL, SIGTERM } from '../signals.ts';
import type { Stage } from '../state/chronicle.ts';
import { type Draft, update } from '../state/draft.ts';
import type { Climb, State } from '../state/state.ts';

/** Bounds the memo: a sidecar may fail and restart many times while it holds. */
const MAX_STAGES = 24;

/** A running supervisor takes less than this to read the graveyard; shorter wakes count towards the next stage. */
export const BRIEF_WAKE_MS = 50;

/** Begins the stage of this state; the stages of a failed life are forgotten with the next one. */
export function trackStages(draft: Draft): void {
  const { state } = draft;
  const { child, stop, failing, chronicle } = state;
  const { stages } = chronicle;
  if (child.is === 'gone') return;
  const stage = stageOf(draft);
  if (stage === undefined) {
    if (stages.length > 0 && stop === undefined) recordStages(draft, []);
    return;
  }
  const last = stages.at(-1);
  if (last?.name === stage.name && last.signal === stage.signal) return;
  const wake = last?.name === 'wake' && state.now.mono - last.sinceMs < BRIEF_WAKE_MS ? last : undefined;
  // A stop counts from its request, however late that is heard.
  const sinceMs = last === undefined ? (failing?.sinceMs ?? stop?.atMs ?? state.now.mono) : state.now.mono;
  const before = wake === undefined ? stages : stages.slice(0, -1);
  recordStages(draft, trimHistory([...before, { ...stage, sinceMs: wake?.sinceMs ?? sinceMs }], MAX_STAGES));
}

function recordStages(draft: Draft, stages: readonly Stage[]): void {
  update(draft, { chronicle: { ...draft.state.chronicle, stages } });
}

function stageOf(draft: Draft): Pick<Stage, 'name' | 'signal'> | undefined {
  const { climb, stop, failing, child } = draft.state;
  if (climb !== undefined) return { name: climb.why === 'rest' ? 'rest' : 'ladder', signal: signalOf(draft, climb) };
  if (failing !== undefined && child.is === 'alive') return { name: 'pre-stop' };
  if (stop === undefined) return undefined;
  if (stop.waitsFor !== undefined) return { name: STAGES[stop.waitsFor] };
  return { name: child.is === 'alive' || child.is === 'roots' ? 'wake' : 'start' };
}

const STAGES = { turn: 'hold', drain: 'drain', linger: 'linger', 'pre-stop': 'pre-stop' } as const satisfies Record<
  NonNullable<NonNullable<State['stop']>['waitsFor']>,
  StageName
>;

function signalOf({ config, state }: Draft, climb: Climb): number {
  if (climb.killed) return SIGKILL;
  const rungs = ladderOf(config, state.stop?.signal ?? SIGTERM);
  return (rungs[climb.rung] ?? rungs[0]).signal;
}
