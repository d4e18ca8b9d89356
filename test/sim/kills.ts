/**
 * Sexton's own KILL in a requested stop never comes before the request to this very container plus its grace period.
 * That is the period that it declares, or the one that the request names. Requests to other members are no reason.
 */
import { graceOf } from '../../src/core/pod/deadline.ts';
import { SIGKILL } from '../../src/core/signals.ts';
import type { Container } from './container.ts';

/** Milliseconds by which times may be off that were rounded on the way. */
const ROUNDING_MS = 2;

/** Why this KILL is too early; undefined: it is not, or it ends something that sexton itself decided on. */
export function earlyKill(container: Container): string | undefined {
  const { member, brain, asked, requests, restarts, world } = container;
  const { config } = member;
  const { stop, climb } = brain?.state ?? {};
  if (stop?.origin !== 'platform' || climb?.killAtMs !== undefined) return undefined;
  if (config.ladder?.some(({ signal }) => signal === SIGKILL) === true) return undefined;
  world.judges('own grace period');
  const ends = [
    ...asked.map(({ atMs }) => endOf(atMs, config.gracePeriodMs ?? Number.POSITIVE_INFINITY)),
    ...[...requests, ...restarts].map(({ atMs, graceMs }) => endOf(atMs, graceMs ?? graceOf(config))),
  ];
  const endMs = Math.min(...ends);
  if (world.agenda.nowMs >= endMs) return undefined;
  if (endMs === Number.POSITIVE_INFINITY) return 'KILL, and it has declared no grace period';
  return `KILL ${Math.round(endMs - world.agenda.nowMs)} ms before its own request and grace period allow it`;
}

/** With what own KILL is ahead of the platform's. */
function endOf(atMs: number, graceMs: number): number {
  return atMs + graceMs - Math.min(500, graceMs / 20) - ROUNDING_MS;
}
