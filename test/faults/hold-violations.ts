/**
 * A sidecar that is asked to stop with its pod serves on while its mains live: it gets its stop signal late enough.
 *
 * This holds where the sidecar can have known a main: its tombstone had been there for a while, on a volume without
 * faults.
 */
import { asksTo, earliestFinishFor, isPodStop, livesAt } from './asks.ts';
import { DESTRUCTIVE, ONLY_IN_PLACE, UNWRITABLE } from './ending.ts';
import { type ApplicationLife, stopSignalsOf } from './lives.ts';
import { type MemberPlan, mainsOf } from './members.ts';
import { hitsOf, type RoundRecord } from './record.ts';

/** A supervisor has read by then what was written, or the machine has stood still. */
const KNOWN_AFTER_MS = 1_500;

export function holdViolations(record: RoundRecord, member: MemberPlan, life: ApplicationLife): string[] {
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
  const served = mainsOf(members).filter((main) => livesAt(record, main, first.atMs));
  const damages = hitsOf(record, [...DESTRUCTIVE, ...UNWRITABLE, ...ONLY_IN_PLACE]).filter(
    (it) => it.fromMs < first.atMs,
  );
  const known = served.filter(({ name }) => {
    const writtenMs = record.writtenMs.get(name) ?? Number.POSITIVE_INFINITY;
    return ask.written.includes(name) && damages.length === 0 && writtenMs + KNOWN_AFTER_MS < ask.fromMs;
  });
  return known.map(({ name }) => `got its stop signal while ${name} still lived and was known`);
}
