/**
 * The evidence in one sentence: `stopped in 4.2 s (signal TERM): drain 2.1 s (312 connections), QUIT 2.1 s, exit code 0, not forced,
 * 23 s of grace left`.
 */
import type { Chronicle } from './chronicle.ts';
import type { Evidence, Forcer, PhaseTime } from './evidence.ts';
import type { StageName } from './stages.ts';

export function summaryOf(evidence: Omit<Evidence, 'Summary'>, { history }: Pick<Chronicle, 'history'>): string {
  const { Reason, StopReason, Unfinished } = evidence;
  if (Unfinished !== undefined) return unfinishedText(evidence, Unfinished);
  const end = endOf(evidence);
  if (Reason === 'never-started' || evidence.Born === undefined)
    return [`never started: ${whyNever(evidence, history)}`, end].join(', ');
  if (Reason === 'oom') return [`killed by the OOM killer`, end, ...restartsOf(evidence)].join(', ');
  if (StopReason !== undefined && evidence.StopMs !== undefined) return stopOf(evidence, StopReason, evidence.StopMs);
  if (evidence.ForcedBy !== undefined)
    return [`killed by ${evidence.ForcedBy}`, end, ...restartsOf(evidence)].join(', ');
  return [Reason === 'stopped' ? 'interrupted' : 'ended by itself', end, ...restartsOf(evidence)].join(', ');
}

function stopOf(evidence: Omit<Evidence, 'Summary'>, why: string, stopMs: number): string {
  const { Phases = [], ForcedBy, GraceLeftMs } = evidence;
  const phases = Phases.slice(-MOST_PHASES).map((phase) => phaseText(phase, evidence));
  const parts = [
    ...phases,
    endOf(evidence),
    forcedText(ForcedBy),
    ...(GraceLeftMs === undefined ? [] : [graceText(GraceLeftMs)]),
    ...restartsOf(evidence),
  ];
  return `stopped in ${seconds(stopMs)} (${why}): ${parts.join(', ')}`;
}

/** What is read of one that was killed in its stop: nothing was written after this. */
function unfinishedText(
  { Phases = [], StopReason, WaitsFor = [] }: Omit<Evidence, 'Summary'>,
  stage: StageName,
): string {
  const past = Phases.filter(({ Ms, Signal }) => Ms > 0 || Signal !== undefined).slice(-MOST_PHASES);
  const names = WaitsFor.length === 0 ? '' : ` for ${WaitsFor.join(', ')}`;
  const isTold = stage === 'ladder' || stage === 'rest';
  const now = isTold ? 'the command had not ended' : `${STAGE_WORDS[stage]}${names}, the command was not told to stop`;
  const phases = past.map((phase) => phaseText(phase, {}));
  return `asked to stop (${StopReason}): ${[...phases, now].join(', ')}; if nothing later is written it was killed from outside`;
}

const STAGE_WORDS = {
  start: 'starting',
  hold: 'holding',
  drain: 'draining',
  linger: 'lingering',
  'pre-stop': 'in its pre-stop hook',
} as const satisfies Record<Exclude<StageName, 'ladder' | 'rest'>, string>;

const MOST_PHASES = 6;

function phaseText({ Phase, Signal, Ms }: PhaseTime, { Connections }: Pick<Evidence, 'Connections'>): string {
  const seen = Phase === 'drain' && Connections !== undefined ? ` (${Connections.New} connections)` : '';
  return `${Signal?.replace(/^SIG/, '') ?? Phase} ${seconds(Ms)}${seen}`;
}

function endOf({
  ExitCode,
  Signal,
  ContainerExitCode,
}: Pick<Evidence, 'ExitCode' | 'Signal' | 'ContainerExitCode'>): string {
  const own = Signal === undefined ? `exit code ${ExitCode ?? 'unknown'}` : `ended by ${Signal}`;
  return ContainerExitCode === undefined || ContainerExitCode === ExitCode
    ? own
    : `${own}, container's exit code ${ContainerExitCode}`;
}

function forcedText(by: Forcer | undefined): string {
  return by === undefined ? 'not forced' : `killed by ${by}`;
}

function graceText(leftMs: number): string {
  return leftMs >= 0 ? `${seconds(leftMs)} of grace left` : `${seconds(-leftMs)} over its grace`;
}

function restartsOf({ Restarts }: Pick<Evidence, 'Restarts'>): readonly string[] {
  return Restarts === 0 ? [] : [`restarted ${Restarts} ${Restarts === 1 ? 'time' : 'times'}`];
}

/** A start gate, or a command that cannot be started; else it was asked to stop before. */
function whyNever({ StopReason }: Pick<Evidence, 'StopReason'>, history: Chronicle['history']): string {
  const refusal = history.findLast(({ Event }) => Event === 'refused' || Event === 'start failed');
  if (refusal !== undefined) return String(refusal.Why ?? refusal.Error).replace(/^cannot start: /, '');
  return StopReason === undefined ? 'there was nothing to do any more' : `stopped before (${StopReason})`;
}

/** `40 ms`, `4.2 s`, `23 s`, `130 s`. */
function seconds(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  return `${ms < 10_000 ? (ms / 1_000).toFixed(1) : Math.round(ms / 1_000)} s`;
}
