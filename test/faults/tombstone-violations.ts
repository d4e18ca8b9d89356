/** Tombstones: a dead member's has the right code, unless a fault took the graveyard away. */
import type { Tombstone } from '../../src/core/format/tombstone.ts';
import { mayHaveBeenAlone, stoodStill, wasKilled } from './asks.ts';
import { DESTRUCTIVE, ONLY_IN_PLACE, UNWRITABLE } from './ending.ts';
import { mayHaveHungUp, silentStatuses, statusesOf } from './kill.ts';
import { type ApplicationLife, containersOf } from './lives.ts';
import type { MemberPlan } from './members.ts';
import { type ContainerLife, hitsOf, type RoundRecord } from './record.ts';

export function tombstoneViolations(
  record: RoundRecord,
  member: MemberPlan,
  lives: readonly ApplicationLife[],
): string[] {
  const container = containersOf(record, member.name).at(-1);
  if (container === undefined || wasKilled(record, container) || mayHaveBeenAlone(record, container)) return [];
  const last = lives.filter((it) => it.container === container).at(-1);
  const text = record.graveyard.get(member.name);
  if (mayBeDamaged(record, member, container, last)) return [];
  const isUnrecorded = stoodStill(record, container, last);
  if (text === undefined) return isUnrecorded ? [] : ['has no tombstone'];
  const tombstone = parse(text);
  if (tombstone === undefined) return [`its tombstone is no JSON: ${JSON.stringify(text.slice(0, 100))}`];
  const { Died, Phase, ExitCode, Reason } = tombstone;
  if (Died === undefined || Phase !== 'dead')
    return isUnrecorded ? [] : [`its death is not in its tombstone (${Phase})`];
  const wasHungUp = ExitCode === 129 && Reason === 'error' && mayHaveHungUp(record, container);
  const isReasonOfSilence = wasHungUp || Reason === 'never-started' || Reason === 'stopped';
  // A member that may neither rename nor remove its temporary file has to leave it there.
  const isStuck = isUnrecorded || hitsOf(record, ['read-only', 'take-permission']).length > 0;
  const left = [...record.graveyard.keys()].filter((it) => it.startsWith(`.${member.name}.`) && it.endsWith('.tmp'));
  return [
    ...(left.length > 0 && !isStuck ? [`left ${left.join(', ')} behind`] : []),
    ...codeViolations(record, member, container, last, ExitCode),
    ...(last === undefined && !isReasonOfSilence ? [`its reason is ${Reason}`] : []),
  ];
}

function codeViolations(
  record: RoundRecord,
  member: MemberPlan,
  container: ContainerLife,
  last: ApplicationLife | undefined,
  code: number | undefined,
): string[] {
  const allowed = new Set<number>(last === undefined ? [] : statusesOf(record, member, last));
  for (const status of silentStatuses(record, member, container, last)) allowed.add(status);
  if (last === undefined && member.isGated) allowed.add(125);
  if (last === undefined && member.role === 'sidecar') allowed.add(0);
  if (code !== undefined && allowed.has(code)) return [];
  return [`its tombstone says ${code}, where ${[...allowed].join(' or ')} would be right`];
}

/** Whether a fault may have damaged the volume after the application's last event. */
function mayBeDamaged(
  record: RoundRecord,
  { name }: MemberPlan,
  container: ContainerLife,
  last: ApplicationLife | undefined,
): boolean {
  const sinceMs = last?.lastMs ?? container.fromMs;
  const isAfter = (it: { readonly untilMs: number }): boolean => it.untilMs >= sinceMs;
  const destroyed = hitsOf(record, DESTRUCTIVE).filter((it) => it.kind !== 'tear' || it.member === name);
  if ([...destroyed, ...hitsOf(record, UNWRITABLE)].some(isAfter)) return true;
  // In place there is room only where nothing has cut the file short before.
  const isWritable = ({ written }: { readonly written: readonly string[] }): boolean =>
    written.includes(name) && destroyed.length === 0;
  return hitsOf(record, ONLY_IN_PLACE).some((it) => isAfter(it) && !isWritable(it));
}

function parse(text: string): Tombstone | undefined {
  try {
    return JSON.parse(text) as Tombstone;
  } catch {
    return undefined;
  }
}
