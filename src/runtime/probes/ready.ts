/**
 * The look at a start gate: whether a process in another container is ready, by its own endpoint. Where nothing listens
 * there may be nothing to wait for.
 */
import type { ReadyAction } from '../../core/config.ts';
import type { Attempt, Tell } from './attempt.ts';
import { attemptHttp } from './http.ts';

export function attemptReady({ call, optional, hint }: ReadyAction, tell: Tell): Attempt {
  return attemptHttp(call, (ok, detail) => {
    if (detail === REFUSED && optional) return tell(true, 'nothing listens there');
    const isMissing = detail === REFUSED || detail === 'status 404';
    tell(ok, isMissing && hint !== undefined ? `${detail}; ${hint}` : detail);
  });
}

const REFUSED = 'connection refused';
