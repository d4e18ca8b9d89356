/**
 * The evidence: how a member's life in this container has ended, as one small JSON object for a later reader. From the
 * stop request on it says how far the stop is, for a member that is killed before its end. Like the tombstone it is a
 * projection of the state. It goes to the platform's termination log, of which Kubernetes keeps 4096 bytes and shows
 * the first ones, so what tells most comes first.
 */
import type { Role } from '../config.ts';
import { EXIT } from '../exit.ts';
import type { AbsenceRecord, HurryRecord } from './course.ts';
import { cleanText, type DeathReason, type HistoryEntry } from './tombstone.ts';

export interface Evidence {
  /** One sentence, for a reader who sees no more. */
  readonly Summary: string;
  /** The version of this object: a key may be added under the same one. */
  readonly Version: 1;
  /** Absent: the configuration does not tell. */
  readonly Name?: string;
  readonly Role?: Role;
  /** The pod that it belonged to. */
  readonly Session?: string;
  /** What is wrong with a configuration from which nothing was started. */
  readonly Problems?: readonly string[];
  readonly Reason?: DeathReason;
  /** The child's own, 128+n for signals. */
  readonly ExitCode?: number;
  readonly Signal?: string;
  /** What the container exits with. */
  readonly ContainerExitCode?: number;
  /** As in the tombstone: `signal TERM`, `mains finished`, `request`, `liveness`. Absent: there was no request. */
  readonly StopReason?: string;
  /** What the command last said of itself, by STATUS= of sd_notify(3). */
  readonly Status?: string;
  /** The stop was not over when this was written, and was here. */
  readonly Unfinished?: StageName;
  /** The members that it still holds for. */
  readonly WaitsFor?: readonly string[];
  /** What ended it by KILL; absent: nothing did. */
  readonly ForcedBy?: Forcer;
  /** From the stop request to the death. */
  readonly StopMs?: number;
  /** The whole budget of the stop: what was asked for, else what is declared. */
  readonly GraceMs?: number;
  /** What was left of it at the death; negative: it was over. */
  readonly GraceLeftMs?: number;
  readonly Phases?: readonly PhaseTime[];
  /** Another stop signal ended what was waited for. */
  readonly Hurried?: HurryRecord;
  /** The times in the stop in which no command ran. */
  readonly Absences?: readonly AbsenceRecord[];
  readonly Connections?: Connections;
  readonly Busy?: Busy;
  /** Restarts of the child in this container. */
  readonly Restarts: number;
  readonly OomKills: number;
  readonly Born?: string;
  readonly StopRequested?: string;
  readonly Died?: string;
}

export type Forcer = 'sexton' | 'OOM killer' | 'an unknown sender';

export interface PhaseTime {
  readonly Phase: StageName;
  /** The signal that was sent at the beginning of a rung. */
  readonly Signal?: string;
  /** How many processes the signal has reached besides the command's own. */
  readonly Others?: number;
  readonly Ms: number;
}

/** What an adaptive drain saw. */
export interface Connections {
  readonly New: number;
  readonly Ignored: number;
  /** From the stop request to the last new one; absent: there was none. */
  readonly LastNewMs?: number;
  /** At its end. */
  readonly Open?: number;
  /** Why the drain was over. */
  readonly Ended: string;
}

/** What the application answered to `--idle-when` in the drain: `idle`, a number, or what went wrong. */
export interface Busy {
  readonly BusyFrom: string;
  readonly BusyTo: string;
  /** From the stop request to the last answer that was not idle. */
  readonly BusyMs: number;
}

/** `, 7 still running`; empty for an application that was idle. */
export function stillBusy(says: string): string {
  if (says === 'idle') return '';
  return /^\d/.test(says) ? `, ${says} still running` : `, still busy (${says})`;
}

/** Kubernetes keeps so much of a container's termination message. */
export const MAX_EVIDENCE_BYTES = 4096;
/** The longest texts; a stop reason is one of ours and shorter. */
export const MAX_EVIDENCE_TEXT = 256;

/**
 * The stages of a stop, or of a life that has failed. `wake`: the supervisor starts, or has not seen the other members
 * yet. `start`: the child is not there yet. `ladder`: `signal` was sent. `rest`: the same for what an ended child has left
 * behind.
 */
export type StageName = 'wake' | 'start' | 'hold' | 'drain' | 'linger' | 'pre-stop' | 'ladder' | 'rest';

/** The evidence of a refused start: nothing is known but the reason. */
export function refusalOf(name: string | undefined, problems: readonly string[]): Evidence {
  const [first = 'unknown'] = problems;
  const more = problems.length > 1 ? ` (and ${problems.length - 1} more)` : '';
  const code = { ExitCode: EXIT.sexton, ContainerExitCode: EXIT.sexton };
  return {
    Summary: `never started: ${cleanText(first, MAX_EVIDENCE_TEXT - 50)}${more}, exit code ${EXIT.sexton}`,
    Version: 1,
    ...(name !== undefined && { Name: name }),
    Reason: 'never-started',
    ...code,
    Restarts: 0,
    OomKills: 0,
    Problems: thatFit(problems.map((problem) => cleanText(problem, 2 * MAX_EVIDENCE_TEXT))),
  };
}

/** As many as leave room for all else. */
function thatFit(problems: readonly string[]): readonly string[] {
  let bytes = 0;
  return problems.filter((problem) => {
    bytes += Buffer.byteLength(JSON.stringify(problem)) + 1;
    return bytes <= MAX_EVIDENCE_BYTES - 1_024;
  });
}

/** One line of JSON of at most 4096 bytes. What is too long loses whole keys from the end, but never the summary. */
export function formatEvidence(evidence: Evidence): string {
  const entries = entriesOf(evidence);
  for (let count = entries.length; count > 1; count--) {
    const text = `${JSON.stringify(Object.fromEntries(entries.slice(0, count)))}\n`;
    if (Buffer.byteLength(text) <= MAX_EVIDENCE_BYTES) return text;
  }
  return `${JSON.stringify({ Summary: cleanText(evidence.Summary, MAX_EVIDENCE_TEXT) })}\n`;
}

/** These keys of an evidence that the host completes: without its braces. */
export function openEvidence(evidence: Partial<Evidence>): string {
  return JSON.stringify(Object.fromEntries(entriesOf(evidence))).slice(1, -1);
}

function entriesOf(evidence: Partial<Evidence>): readonly (readonly [string, unknown])[] {
  return Object.entries(evidence).map(([key, value]) => [
    key,
    typeof value === 'string' ? cleanText(value, MAX_EVIDENCE_TEXT) : value,
  ]);
}

/** One sentence: `stopped in 4.2 s (signal TERM): drain 2.1 s, QUIT 2.1 s, exit code 0, not forced`. */
export function summaryOf(
  evidence: Omit<Evidence, 'Summary'>,
  { history }: { readonly history: readonly HistoryEntry[] },
): string {
  const { Reason, StopReason, Unfinished } = evidence;
  if (Unfinished !== undefined) return unfinishedText(evidence, Unfinished);
  const end = exitText(evidence);
  if (Reason === 'never-started' || evidence.Born === undefined)
    return [`never started: ${whyNever(evidence, history)}`, end].join(', ');
  if (Reason === 'oom') return [`killed by the OOM killer`, end, ...restartsOf(evidence)].join(', ');
  if (StopReason !== undefined && evidence.StopMs !== undefined)
    return stopSummary(evidence, StopReason, evidence.StopMs);
  if (evidence.ForcedBy !== undefined)
    return [`killed by ${evidence.ForcedBy}`, end, ...restartsOf(evidence)].join(', ');
  return [Reason === 'stopped' ? 'interrupted' : 'ended by itself', end, ...restartsOf(evidence)].join(', ');
}

function stopSummary(evidence: Omit<Evidence, 'Summary'>, why: string, stopMs: number): string {
  const { Phases = [], ForcedBy, GraceLeftMs, Hurried } = evidence;
  const phases = Phases.slice(-MAX_PHASES).map((phase) => phaseText(phase, evidence));
  const parts = [
    ...phases,
    ...(Hurried === undefined
      ? []
      : [`hurried by another ${Hurried.Signal.slice(3)} after ${seconds(Hurried.AfterMs)}`]),
    exitText(evidence),
    forcedText(ForcedBy),
    ...(GraceLeftMs === undefined ? [] : [graceText(GraceLeftMs)]),
    ...restartsOf(evidence),
  ];
  return `stopped in ${seconds(stopMs)} (${why}): ${parts.join(', ')}`;
}

/** The summary of a member that was killed in its stop: it could write nothing after this. */
function unfinishedText(evidence: Omit<Evidence, 'Summary'>, stage: StageName): string {
  const { Phases = [], StopReason, WaitsFor = [] } = evidence;
  const past = Phases.filter(({ Ms, Signal }) => Ms > 0 || Signal !== undefined).slice(-MAX_PHASES);
  const names = WaitsFor.length === 0 ? '' : ` for ${WaitsFor.join(', ')}`;
  const isTold = stage === 'ladder' || stage === 'rest';
  const now = isTold ? 'the command had not ended' : `${STAGE_WORDS[stage]}${names}, the command was not told to stop`;
  const phases = past.map((phase) => phaseText(phase, {}));
  return `asked to stop (${StopReason}): ${[...phases, now].join(', ')}; if nothing later is written it was killed from outside`;
}

const STAGE_WORDS = {
  wake: 'waiting for its supervisor',
  start: 'starting',
  hold: 'holding',
  drain: 'draining',
  linger: 'lingering',
  'pre-stop': 'in its pre-stop hook',
} as const satisfies Record<Exclude<StageName, 'ladder' | 'rest'>, string>;

const MAX_PHASES = 6;

function phaseText({ Phase, Signal, Others, Ms }: PhaseTime, about: Pick<Evidence, 'Connections' | 'Busy'>): string {
  const { Connections, Busy } = about;
  const counted = Connections === undefined ? '' : `, ${Connections.New} connections`;
  const seen = Phase === 'drain' ? `${counted}${Busy === undefined ? '' : stillBusy(Busy.BusyTo)}`.slice(2) : '';
  if (Others !== undefined) return `${Signal?.slice(3)} ${seconds(Ms)} (and ${Others} more)`;
  return `${Signal?.replace(/^SIG/, '') ?? Phase} ${seconds(Ms)}${seen === '' ? '' : ` (${seen})`}`;
}

function exitText(evidence: Omit<Evidence, 'Summary'>): string {
  const { ExitCode, Signal, ContainerExitCode } = evidence;
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
function whyNever({ StopReason }: Pick<Evidence, 'StopReason'>, history: readonly HistoryEntry[]): string {
  const refusal = history.findLast(({ Event }) => Event === 'refused' || Event === 'start failed');
  if (refusal !== undefined) return String(refusal.Why ?? refusal.Error).replace(/^cannot start: /, '');
  return StopReason === undefined ? 'there was nothing to do any more' : `stopped before (${StopReason})`;
}

/** `40 ms`, `4.2 s`, `23 s`, `130 s`; of whole milliseconds as `src/init/orders/closing.c` writes it. */
export function seconds(ms: number): string {
  if (ms < 0) return `-${seconds(-ms)}`;
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  return `${ms < 10_000 ? (Math.round(ms / 100) / 10).toFixed(1) : Math.round(ms / 1_000)} s`;
}

/** RFC 3339 with nanoseconds in milliseconds since 1970; Date.parse alone drops what is below a millisecond. */
export function msOf(text = ''): number | undefined {
  const ms = Date.parse(text.replace(/(\.\d{3})\d+/, '$1'));
  const [, below = ''] = /\.\d{3}(\d+)/.exec(text) ?? [];
  return Number.isNaN(ms) ? undefined : ms + Number(`0.${below}`);
}
