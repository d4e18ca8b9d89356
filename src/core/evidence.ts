/**
 * The evidence: how a member's life in this container has ended, as one small JSON object for whoever asks afterwards; and from the stop request
 * on how far the stop is, for whoever is killed before its end. Like the tombstone it is a projection of the state. It goes to the platform's termination log, of which Kubernetes keeps 4096 bytes and shows
 * the first ones, so what tells most comes first.
 */
import { bornOf, type Chronicle } from './chronicle.ts';
import type { MemberConfig, Role } from './config.ts';
import { EXIT } from './exit.ts';
import { blockersOf } from './order.ts';
import { SIGKILL, signalName } from './signals.ts';
import type { StageName } from './stages.ts';
import type { State } from './state.ts';
import { summaryOf } from './summary.ts';
import { cleanText, type DeathReason } from './tombstone.ts';

export interface Evidence {
  /** One sentence, for a reader who sees no more. */
  readonly Summary: string;
  /** Of this object: a key may be added under the same one. */
  readonly Version: 1;
  /** Absent: the configuration does not tell. */
  readonly Name?: string;
  readonly Role?: Role;
  /** Which pod it was of. */
  readonly Session?: string;
  /** What is wrong with the configuration, of which nothing was started. */
  readonly Problems?: readonly string[];
  readonly Reason?: DeathReason;
  /** The child's own, 128+n for signals. */
  readonly ExitCode?: number;
  readonly Signal?: string;
  /** What the container exits with. */
  readonly ContainerExitCode?: number;
  /** As in the tombstone: `signal TERM`, `mains finished`, `request`, `liveness`. Absent: nobody asked. */
  readonly StopReason?: string;
  /** The stop was not over when this was written, and was here. */
  readonly Unfinished?: StageName;
  /** Of a hold: the members that are still needed. */
  readonly WaitsFor?: readonly string[];
  /** Who ended it by KILL; absent: nobody did. */
  readonly ForcedBy?: Forcer;
  /** From the stop request to the death. */
  readonly StopMs?: number;
  /** Declared: the whole budget of a stop. */
  readonly GraceMs?: number;
  /** What was left of it at the death; negative: it was over. */
  readonly GraceLeftMs?: number;
  readonly Phases?: readonly PhaseTime[];
  readonly Connections?: Connections;
  /** Of the child, in this container. */
  readonly Restarts: number;
  readonly OomKills: number;
  readonly Born?: string;
  readonly StopRequested?: string;
  readonly Died?: string;
}

export type Forcer = 'sexton' | 'OOM killer' | 'somebody else';

export interface PhaseTime {
  readonly Phase: StageName;
  /** Of a rung: what was sent at its beginning. */
  readonly Signal?: string;
  readonly Ms: number;
}

/** What an adaptive drain saw. */
export interface Connections {
  readonly New: number;
  readonly Ignored: number;
  /** At its end. */
  readonly Open?: number;
  /** Why the drain was over. */
  readonly Ended: string;
}

/** Kubernetes keeps so much of a container's termination message. */
export const MOST_EVIDENCE_BYTES = 4096;
/** The longest texts; a stop reason is one of ours and shorter. */
const MOST_TEXT = 256;

/** Of a member whose life is over, or that is being stopped; what is not known is not there. */
export function evidenceOf(config: MemberConfig, state: State): Evidence {
  const { child, chronicle, stop, failing, deadline } = state;
  const gone = child.is === 'gone' ? child : undefined;
  const diedMs = chronicle.diedMonotonic;
  const began = stop?.atMs ?? failing?.sinceMs;
  const phases = phasesOf(chronicle);
  const facts = {
    Version: 1,
    Name: config.name,
    Role: config.role,
    Session: config.session,
    Reason: gone?.reason,
    ExitCode: gone?.status,
    Signal: gone === undefined || chronicle.exit?.signal === undefined ? undefined : signalName(chronicle.exit.signal),
    ContainerExitCode: gone?.code,
    StopReason: stop?.reason ?? failing?.why,
    ...unfinishedOf(config, state),
    ForcedBy: forcerOf(state),
    StopMs: began === undefined || diedMs === undefined ? undefined : span(began, diedMs),
    GraceMs: config.gracePeriodMs,
    GraceLeftMs: deadline?.kills === true && diedMs !== undefined ? Math.round(deadline.atMs - diedMs) : undefined,
    Phases: phases.length === 0 ? undefined : phases,
    Connections: connectionsOf(state),
    Restarts: Math.max(0, state.births - 1),
    OomKills: chronicle.tally.oomKills ?? 0,
    Born: bornOf(chronicle),
    StopRequested: chronicle.stopRequested ?? failing?.since,
    Died: chronicle.died,
  };
  const known = Object.entries(facts).filter(([, value]) => value !== undefined);
  const evidence = Object.fromEntries(known) as unknown as Omit<Evidence, 'Summary'>;
  return { Summary: cleanText(summaryOf(evidence, chronicle), MOST_TEXT), ...evidence };
}

/** Of a start that was refused: nothing is known but why. */
export function refusalOf(name: string | undefined, problems: readonly string[]): Evidence {
  const [first = 'unknown'] = problems;
  const more = problems.length > 1 ? ` (and ${problems.length - 1} more)` : '';
  const code = { ExitCode: EXIT.sexton, ContainerExitCode: EXIT.sexton };
  return {
    Summary: `never started: ${cleanText(first, MOST_TEXT - 50)}${more}, exit code ${EXIT.sexton}`,
    Version: 1,
    ...(name !== undefined && { Name: name }),
    Reason: 'never-started',
    ...code,
    Restarts: 0,
    OomKills: 0,
    Problems: thatFit(problems.map((problem) => cleanText(problem, 2 * MOST_TEXT))),
  };
}

/** As many as leave room for all else. */
function thatFit(problems: readonly string[]): readonly string[] {
  let bytes = 0;
  return problems.filter((problem) => {
    bytes += Buffer.byteLength(JSON.stringify(problem)) + 1;
    return bytes <= MOST_EVIDENCE_BYTES - 1_024;
  });
}

/** One line of JSON, at most 4096 bytes with its line end. What is too long loses whole keys from the end, but never the summary. */
export function formatEvidence(evidence: Evidence): string {
  const entries = Object.entries(evidence).map(([key, value]) => [
    key,
    typeof value === 'string' ? cleanText(value, MOST_TEXT) : value,
  ]);
  for (let count = entries.length; count > 1; count--) {
    const text = `${JSON.stringify(Object.fromEntries(entries.slice(0, count)))}\n`;
    if (Buffer.byteLength(text) <= MOST_EVIDENCE_BYTES) return text;
  }
  return `${JSON.stringify({ Summary: cleanText(evidence.Summary, MOST_TEXT) })}\n`;
}

function unfinishedOf(config: MemberConfig, state: State): Pick<Evidence, 'Unfinished' | 'WaitsFor'> {
  const Unfinished = state.child.is === 'gone' ? undefined : state.chronicle.stages.at(-1)?.name;
  if (Unfinished === undefined) return {};
  const names = Unfinished === 'hold' ? blockersOf(config, state).names : [];
  return { Unfinished, ...(names.length > 0 && { WaitsFor: names.slice(0, MOST_NAMED) }) };
}

const MOST_NAMED = 8;

/** Zero phases tell nothing, but that a signal was sent. */
function phasesOf({ stages, diedMonotonic }: Chronicle): readonly PhaseTime[] {
  return stages.flatMap(({ name, signal, sinceMs }, index) => {
    const untilMs = stages[index + 1]?.sinceMs ?? diedMonotonic ?? sinceMs;
    const time = {
      Phase: name,
      ...(signal !== undefined && { Signal: signalName(signal) }),
      Ms: span(sinceMs, untilMs),
    };
    return time.Ms === 0 && signal === undefined ? [] : [time];
  });
}

function span(sinceMs: number, untilMs: number): number {
  return Math.max(0, Math.round(untilMs - sinceMs));
}

/** A child that was killed, whoever did it. Our own KILL may have ended others of its group only: that is forced, too. */
function forcerOf({ child, chronicle }: State): Forcer | undefined {
  if (child.is === 'gone' && child.reason === 'oom') return 'OOM killer';
  if (chronicle.stages.some(({ name, signal }) => name === 'ladder' && signal === SIGKILL)) return 'sexton';
  const { exit } = chronicle;
  return exit?.signal === SIGKILL ? 'somebody else' : undefined;
}

function connectionsOf({ traffic }: State): Connections | undefined {
  // Zeros that nobody has counted would be a lie.
  if (traffic === undefined || traffic.unseen !== undefined) return undefined;
  const { connections, ignored, open, ended } = traffic;
  return {
    New: connections,
    Ignored: ignored,
    ...(open !== undefined && { Open: open }),
    Ended: ended ?? 'command ended',
  };
}
