/** The tombstone and the evidence as projections of the state, so they can be written again at any time. */
import type { MemberConfig } from '../../config.ts';
import { absencesIn, hurryIn } from '../../format/course.ts';
import {
  type Busy,
  type Connections,
  type Evidence,
  type Forcer,
  formatEvidence,
  MAX_EVIDENCE_TEXT,
  openEvidence,
  type PhaseTime,
  summaryOf,
} from '../../format/evidence.ts';
import { cleanText, MAX_MAINS, openTombstone, type Tombstone, VERSION } from '../../format/tombstone.ts';
import { blockersOf } from '../../pod/order.ts';
import { restartsAll, restartsIfKilled } from '../../restart.ts';
import { SIGKILL, signalName } from '../../signals.ts';
import type { Chronicle } from '../../state/chronicle.ts';
import type { State } from '../../state/state.ts';

export function tombstoneOf(config: MemberConfig, state: State): Tombstone {
  const { chronicle, child, stop, failing, deadline, podStopBound, restart } = state;
  return withoutUndefined<Tombstone>({
    Version: VERSION,
    Name: config.name,
    Role: config.role,
    Session: config.session,
    Generation: state.generation,
    Boot: state.bootId,
    Incarnation: `${state.hostId}-${state.births}`,
    Phase: state.phase,
    RestartPolicy: config.restartPolicy,
    RestartsIfKilled: restartsIfKilled(config) || undefined,
    RestartsAll: restartsAll(config) || undefined,
    RestartsPod: config.restartPodOn.codes.length > 0 || config.restartPodOn.liveness || undefined,
    Mains: rosterToWrite(config),
    StartAfter: config.startAfter.map((gate) => gate.name),
    Restarts: Math.max(0, state.births - 1),
    Born: chronicle.firstBorn,
    Started: chronicle.started,
    Healthy: chronicle.healthy,
    Status: state.notified?.status,
    LastDied: chronicle.last?.at,
    LastExitCode: chronicle.last?.status,
    LastReason: chronicle.last?.reason,
    StopRequested: chronicle.stopRequested ?? failing?.since,
    StopReason: stop?.reason ?? failing?.why,
    StopScope: isOfContainer(state) ? 'container' : undefined,
    RestartRequested: restart?.requestedMs,
    RestartBy: restart?.by,
    RestartAmong: restart?.among,
    RestartGraceMs: restart?.graceMs,
    RestartByRule: restart?.byRule,
    RestartsPassed: restart?.passed?.map(({ requestedMs }) => requestedMs),
    PodRestarts: state.podRestarts === 0 ? undefined : state.podRestarts,
    Busy: state.traffic !== undefined && state.traffic.ended === undefined ? state.idle?.says : undefined,
    Deadline: deadline?.kills === true ? Math.round(deadline.atMs) : undefined,
    PodStopNotBefore: podStopBound?.notBeforeMs === undefined ? undefined : Math.floor(podStopBound.notBeforeMs),
    Died: chronicle.died,
    DiedMonotonic: chronicle.diedMonotonic,
    ExitCode: child.is === 'gone' ? child.status : undefined,
    Signal: child.is === 'gone' && chronicle.exit?.signal !== undefined ? signalName(chronicle.exit.signal) : undefined,
    Reason: child.is === 'gone' ? child.reason : undefined,
    Final: child.is === 'gone' ? child.final : undefined,
    History: chronicle.history,
  });
}

/** Only a complete roster shows which mains it leaves out; where the end of any main is enough it is empty. */
function rosterToWrite({ mains, when }: MemberConfig): readonly string[] | undefined {
  if (when === 'any') return [];
  return mains.length === 0 || mains.length > MAX_MAINS ? undefined : mains;
}

/** Whether its stop or its deadline is its own and not that of the pod. */
function isOfContainer({ stop, deadline }: State): boolean {
  return stop?.alone === true || stop?.among !== undefined || (deadline?.kills === true && !deadline.shared);
}

type Optional<T> = { [Key in keyof T]: T[Key] | undefined };

export function withoutUndefined<T extends object>(fields: Optional<T>): T {
  const kept: Partial<T> = {};
  for (const key in fields) if (fields[key] !== undefined) kept[key] = fields[key];
  return kept as T;
}

/** The evidence about a member that is dead or being stopped; unknown facts are absent. */
export function evidenceOf(config: MemberConfig, state: State): Evidence {
  const { child, chronicle, stop, failing, deadline } = state;
  const gone = child.is === 'gone' ? child : undefined;
  const diedMs = chronicle.diedMonotonic;
  const began = stop?.atMs ?? failing?.sinceMs;
  const phases = phasesOf(chronicle);
  const absences = absencesIn(chronicle.history, chronicle.stopRequested);
  const evidence = withoutUndefined<Omit<Evidence, 'Summary'>>({
    Version: 1,
    Name: config.name,
    Role: config.role,
    Session: config.session,
    Reason: gone?.reason,
    ExitCode: gone?.status,
    Signal: gone === undefined || chronicle.exit?.signal === undefined ? undefined : signalName(chronicle.exit.signal),
    ContainerExitCode: gone?.code,
    StopReason: stop?.reason ?? failing?.why,
    Status: state.notified?.status,
    ...unfinishedOf(config, state),
    ForcedBy: forcerOf(state),
    StopMs: began === undefined || diedMs === undefined ? undefined : span(began, diedMs),
    GraceMs: deadline?.kills === true ? Math.round(deadline.atMs - deadline.sinceMs) : config.gracePeriodMs,
    GraceLeftMs: deadline?.kills === true && diedMs !== undefined ? Math.round(deadline.atMs - diedMs) : undefined,
    Phases: phases.length === 0 ? undefined : phases,
    Hurried: hurryIn(chronicle.history, chronicle.stopRequested),
    Absences: absences.length === 0 ? undefined : absences,
    Connections: connectionsOf(state),
    Busy: busyOf(state),
    Restarts: Math.max(0, state.births - 1),
    OomKills: chronicle.tally.oomKills ?? 0,
    Born: chronicle.firstBorn,
    StopRequested: chronicle.stopRequested ?? failing?.since,
    Died: chronicle.died,
  });
  return { Summary: cleanText(summaryOf(evidence, chronicle), MAX_EVIDENCE_TEXT), ...evidence };
}

/**
 * Empty for a command that has failed by itself: the exit code says all that sexton knows. The platform may then show
 * the command's own last lines.
 */
export function terminationMessageOf(config: MemberConfig, state: State): string {
  const evidence = evidenceOf(config, state);
  const { Reason, StopReason, Born } = evidence;
  const failedByItself = Reason === 'error' && StopReason === undefined && Born !== undefined;
  return failedByItself ? '' : formatEvidence(evidence);
}

/** The records that the host completes and writes when the command ends. */
export interface OpenTexts {
  readonly tombstone: string;
  readonly evidence: string;
}

/** The records of a living member as they are, without what an end changes. */
export function openTextsOf(config: MemberConfig, state: State): OpenTexts {
  const { Version, Name, Role, Session, Status, GraceMs, Restarts, OomKills, Born } = evidenceOf(config, state);
  const kept = withoutUndefined({ Version, Name, Role, Session, Status, GraceMs, Restarts, OomKills, Born });
  return { tombstone: openTombstone(tombstoneOf(config, state)), evidence: openEvidence(kept) };
}

function unfinishedOf(config: MemberConfig, state: State): Pick<Evidence, 'Unfinished' | 'WaitsFor'> {
  const Unfinished = state.child.is === 'gone' ? undefined : state.chronicle.stages.at(-1)?.name;
  if (Unfinished === undefined) return {};
  const names = Unfinished === 'hold' ? blockersOf(config, state).names : [];
  return { Unfinished, ...(names.length > 0 && { WaitsFor: names.slice(0, MAX_WAITED_NAMES) }) };
}

const MAX_WAITED_NAMES = 8;

/** A phase of 0 ms is worth telling only if it sent a signal. */
function phasesOf({ stages, diedMonotonic }: Chronicle): readonly PhaseTime[] {
  return stages.flatMap(({ name, signal, sinceMs, others }, index) => {
    const untilMs = stages[index + 1]?.sinceMs ?? diedMonotonic ?? sinceMs;
    const time = {
      Phase: name,
      ...(signal !== undefined && { Signal: signalName(signal) }),
      ...(others !== undefined && { Others: others }),
      Ms: span(sinceMs, untilMs),
    };
    return time.Ms === 0 && signal === undefined ? [] : [time];
  });
}

function span(sinceMs: number, untilMs: number): number {
  return Math.max(0, Math.round(untilMs - sinceMs));
}

/**
 * What killed the child. Our own KILL counts even if it ended only others of its group. A KILL that another life has
 * followed does not count.
 */
function forcerOf({ child, chronicle }: State): Forcer | undefined {
  if (child.is === 'gone' && child.reason === 'oom') return 'OOM killer';
  const last = chronicle.stages.findLast(({ name }) => name !== 'rest');
  if (last?.name === 'ladder' && last.signal === SIGKILL) return 'sexton';
  const { exit } = chronicle;
  return exit?.signal === SIGKILL ? 'an unknown sender' : undefined;
}

function connectionsOf({ traffic, stop }: State): Connections | undefined {
  // Zeros without a count would mislead.
  if (traffic === undefined || traffic.unseen !== undefined) return undefined;
  const { connections, ignored, open, ended, lastMs } = traffic;
  return {
    New: connections,
    Ignored: ignored,
    ...(connections > 0 && lastMs !== undefined && stop !== undefined && { LastNewMs: span(stop.atMs, lastMs) }),
    ...(open !== undefined && { Open: open }),
    Ended: ended ?? 'command ended',
  };
}

function busyOf({ idle, stop, traffic }: State): Busy | undefined {
  if (idle === undefined || stop === undefined || traffic === undefined) return undefined;
  const { first, says, lastBusyMs = stop.atMs } = idle;
  return { BusyFrom: first, BusyTo: says, BusyMs: span(stop.atMs, lastBusyMs) };
}
