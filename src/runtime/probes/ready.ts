/**
 * The look at a start gate: whether a process in another container is ready, by its own endpoint. Where nobody listens there may be
 * nobody to wait for.
 */
import type { ReadyAction } from '../../core/config.ts';
import { attemptHttp } from './http.ts';
import type { Attempt, Tell } from './probe.ts';

export function attemptReady({ call, optional, hint }: ReadyAction, tell: Tell): Attempt {
  return attemptHttp(call, (ok, detail) => {
    if (detail === REFUSED && optional) return tell(true, 'nobody is there');
    const isMissing = detail === REFUSED || detail === 'status 404';
    tell(ok, isMissing && hint !== undefined ? `${detail}; ${hint}` : detail);
  });
}

const REFUSED = 'connection refused';
