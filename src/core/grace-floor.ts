/**
 * The grace floor: the shortest time that the platform may leave between its stop request and its KILL.
 *
 * TERM does not carry how long it is: the shutdown of a node, an eviction or `kubectl delete --grace-period` may leave less than the pod
 * declares. Who then still waits is killed without ever having heard its stop signal. So where a floor is declared all waiting ends before it,
 * a main's a little earlier than that of the sidecars it needs; what is left of the declared grace period then is the command's.
 */
import type { MemberConfig } from './config.ts';
import { lastTurnMs } from './deadline.ts';
import type { Stop } from './state.ts';

/** When nothing is waited for any more; undefined: no floor is declared, or the platform has not asked. */
export function floorTurnMs({ graceFloorMs, role }: MemberConfig, { asked }: Stop): number | undefined {
  if (graceFloorMs === undefined || asked === undefined) return undefined;
  const atMs = asked.atMs + graceFloorMs;
  const turnMs = lastTurnMs({ sinceMs: asked.atMs, atMs });
  return role === 'main' ? turnMs : (turnMs + atMs) / 2;
}
