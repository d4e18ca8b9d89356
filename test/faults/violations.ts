/**
 * What a round violated: sexton's claims are compared with what was really done and with what the applications logged.
 *
 * Only lower bounds on times count, because no slow machine makes something happen too early.
 */
import {
  asksTo,
  earliestFinishFor,
  isPodStop,
  livesAt,
  mayHaveBeenAlone,
  reasonToStopMs,
  stoodStill,
  wasKilled,
} from './asks.ts';
import { DESTRUCTIVE, ONLY_IN_PLACE, UNWRITABLE } from './ending.ts';
import { isKillDue, mayHaveHungUp, silentStatuses, statusesOf } from './kill.ts';
import { type ApplicationLife, containersOf, livesOf, stopSignalsOf } from './lives.ts';
import { type MemberPlan, mainsOf } from './members.ts';
import { type ContainerLife, hitsOf, type RoundRecord } from './record.ts';
import { tombstoneViolations } from './tombstone-violations.ts';

/** Strict: also what is only true of a machine that is not too busy to read what was written a second ago. */
export function violationsOf(record: RoundRecord, isStrict: boolean): string[] {
  return record.plan.members.flatMap((member) => {
    const lives = livesOf(record, member);
    return [
      ...containersOf(record, member.name).flatMap((container) => {
        const own = lives.filter((it) => it.container === container);
        return [
          ...startViolations(record, member, container, own),
          ...statusViolations(record, member, container, own),
          ...own.flatMap((life) => lifeViolations(record, member, life)),
        ];
      }),
      ...(isStrict ? lives.flatMap((life) => holdViolations(record, member, life)) : []),
      ...tombstoneViolations(record, member, lives),
    ].map((it) => `${member.name}: ${it}`);
  });
}

/** An application is started, and no more often than it may be. */
function startViolations(
  record: RoundRecord,
  member: MemberPlan,
  container: ContainerLife,
  lives: readonly ApplicationLife[],
): string[] {
  if (!member.willRestart && lives.length > 1) return [`was started ${lives.length} times in one container`];
  if (lives.length > 0 || member.isGated) return [];
  const isExcused =
    wasKilled(record, container) ||
    mayHaveBeenAlone(record, container) ||
    asksTo(record, container).length > 0 ||
    (container.status === 129 && mayHaveHungUp(record, container)) ||
    (member.role === 'sidecar' && earliestFinishFor(record, member) <= container.untilMs);
  return isExcused ? [] : [`was never started in a container that nobody stopped (it exited ${container.status})`];
}

/** The container's exit code is the one that follows from what happened. */
function statusViolations(
  record: RoundRecord,
  member: MemberPlan,
  container: ContainerLife,
  lives: readonly ApplicationLife[],
): string[] {
  const allowed = new Set<number>();
  const last = lives.at(-1);
  const isAsked = asksTo(record, container).length > 0;
  const isStopped = isAsked || (member.role === 'sidecar' && earliestFinishFor(record, member) <= container.untilMs);
  if (wasKilled(record, container)) allowed.add(137);
  for (const status of last === undefined ? [] : statusesOf(record, member, last)) {
    // Once it got a stop signal it counts as stopped, whatever else happens to it.
    const isToldToStop = last !== undefined && stopSignalsOf(last).length > 0;
    const isOwn = member.role === 'main' || !isStopped || !isToldToStop || status === 137;
    if (isOwn || stoodStill(record, container, last)) allowed.add(status);
  }
  if (member.role === 'sidecar' && isStopped) allowed.add(0);
  for (const status of silentStatuses(record, member, container, last)) allowed.add(status);
  if (last === undefined && (member.isGated || mayHaveBeenAlone(record, container))) allowed.add(125);
  if (allowed.has(container.status)) return [];
  return [`its container exited ${container.status}, where ${[...allowed].join(' or ') || 'none'} would be right`];
}

/** An application gets no stop signal or KILL without a reason, and each signal only once. */
function lifeViolations(record: RoundRecord, member: MemberPlan, life: ApplicationLife): string[] {
  const found: string[] = [];
  const stops = stopSignalsOf(life);
  const reasonMs = reasonToStopMs(record, member, life.container);
  const [first] = stops;
  if (first !== undefined && first.atMs < reasonMs)
    found.push(`got signal ${first.detail} without a reason, life from ${life.fromMs}`);
  for (const { signal } of [{ signal: 15 }, { signal: 2 }, { signal: 3 }]) {
    const times = stops.filter((it) => Number(it.detail) === signal).length;
    if (times > 1) found.push(`got signal ${signal} ${times} times in one life`);
  }
  for (const { detail } of stops)
    if (!member.ladder.some((it) => it.signal === Number(detail)))
      found.push(`got signal ${detail}, which is not its ladder's`);
  const hups = life.signals.filter((it) => Number(it.detail) === 1).length;
  const sent = hitsOf(record, ['foreign-signals'], member.name);
  if (hups > sent.length) found.push(`got ${hups} HUP, and ${sent.length} were sent`);
  const due = sent.filter((it) => it.fromMs > life.fromMs && it.untilMs < Math.min(first?.atMs ?? 0, reasonMs));
  if (due.length > 0 && hups === 0 && life.said !== undefined)
    found.push('lost a HUP that came long before its stop signal');
  if (life.said === undefined && !life.isStruck && !wasKilled(record, life.container))
    if (!isKillDue(record, member, life)) found.push('was killed without a reason, or before its time');
  return found;
}

/** A supervisor has read by then what was written, or the machine has stood still. */
const KNOWN_AFTER_MS = 1_500;

/**
 * A sidecar that is asked to stop with its pod serves on while its mains live: it gets its stop signal late enough.
 * Demanded where it can have known them: their tombstones had been there for a while, on a volume that nothing befell.
 */
function holdViolations(record: RoundRecord, member: MemberPlan, life: ApplicationLife): string[] {
  const [first] = stopSignalsOf(life);
  if (member.role !== 'sidecar' || member.hold !== 'always' || first === undefined) return [];
  if (earliestFinishFor(record, member) <= first.atMs) return [];
  const asks = asksTo(record, life.container);
  const [ask] = asks;
  if (ask === undefined || !asks.every(isPodStop)) return [];
  const { graceMs, declareGrace, members } = record.plan;
  const earliest = Math.min(
    ...record.happenings.filter((it) => isPodStop(it) || it.kind === 'stop-one').map((it) => it.fromMs),
  );
  const grace = Math.min(graceMs, ...hitsOf(record, ['delete-again']).map((it) => it.value ?? graceMs));
  if (declareGrace && first.atMs >= earliest + grace - Math.min(2_000, grace / 2)) return [];
  const served = mainsOf(members).filter((it) => livesAt(record, it, ask.fromMs - KNOWN_AFTER_MS, first.atMs));
  const damages = hitsOf(record, [...DESTRUCTIVE, ...UNWRITABLE, ...ONLY_IN_PLACE]).filter(
    (it) => it.fromMs < first.atMs,
  );
  const known = served.filter(({ name }) => {
    const writtenMs = record.writtenMs.get(name) ?? Number.POSITIVE_INFINITY;
    return ask.written.includes(name) && damages.length === 0 && writtenMs + KNOWN_AFTER_MS < ask.fromMs;
  });
  return known.map(({ name }) => `got its stop signal while ${name} still lived and was known`);
}
