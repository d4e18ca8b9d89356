/**
 * The tombstone as a projection of the state: nothing is kept for it alone, so it can be carved again at any time.
 */
import { bornOf } from './chronicle.ts';
import type { MemberConfig } from './config.ts';
import { restartsAll, restartsIfKilled } from './restart.ts';
import { signalName } from './signals.ts';
import type { State } from './state.ts';
import { MAX_MAINS, type Tombstone, VERSION } from './tombstone.ts';

export function tombstoneOf(config: MemberConfig, state: State): Tombstone {
  const { chronicle, child, stop, failing, deadline, witness } = state;
  return withoutUndefined({
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
    Mains: rosterToCarve(config),
    StartAfter: config.startAfter.map((gate) => gate.name),
    Restarts: Math.max(0, state.births - 1),
    Born: bornOf(chronicle),
    Started: chronicle.started,
    Healthy: chronicle.healthy,
    LastDied: chronicle.last?.at,
    LastExitCode: chronicle.last?.status,
    LastReason: chronicle.last?.reason,
    StopRequested: chronicle.stopRequested ?? failing?.since,
    StopReason: stop?.reason ?? failing?.why,
    StopScope: isOfContainer(state) ? 'container' : undefined,
    Deadline: deadline?.kills === true ? Math.round(deadline.atMs) : undefined,
    PodStopNotBefore: witness?.notBeforeMs === undefined ? undefined : Math.floor(witness.notBeforeMs),
    Died: chronicle.died,
    DiedMonotonic: chronicle.diedMonotonic,
    ExitCode: child.is === 'gone' ? child.status : undefined,
    Signal: child.is === 'gone' && chronicle.exit?.signal !== undefined ? signalName(chronicle.exit.signal) : undefined,
    Reason: child.is === 'gone' ? child.reason : undefined,
    Final: child.is === 'gone' ? child.final : undefined,
    History: chronicle.history,
  });
}

/** Only a whole one says whom it leaves out; where any main's end is enough it is nobody whose end is needed. */
function rosterToCarve({ mains, when }: MemberConfig): readonly string[] | undefined {
  if (when === 'any') return [];
  return mains.length === 0 || mains.length > MAX_MAINS ? undefined : mains;
}

/** Its stop, or its deadline, is nobody else's. */
function isOfContainer({ stop, deadline }: State): boolean {
  return stop?.alone === true || stop?.among !== undefined || (deadline?.kills === true && !deadline.shared);
}

/** Lists are few and short, but for the history, which is the same one as long as nothing is added. */
export function saysTheSame(a: Tombstone, b: Tombstone): boolean {
  const [pairs, others] = [Object.entries(a), Object.entries(b)];
  return (
    a.History === b.History &&
    pairs.length === others.length &&
    pairs.every(([key, value], index) => {
      const [name, other] = others[index] ?? [];
      return key === name && (value === other || (Array.isArray(value) && String(value) === String(other)));
    })
  );
}

type Optional<T> = { [Key in keyof T]: T[Key] | undefined };

function withoutUndefined(fields: Optional<Tombstone>): Tombstone {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as unknown as Tombstone;
}
