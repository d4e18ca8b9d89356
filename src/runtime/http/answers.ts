/** The answer at each path. Nothing here changes anything, and nothing comes from outside but what members write. */
import type { MemberConfig } from '../../core/config.ts';
import {
  livenessOf,
  type OnDrain,
  readinessOf,
  startednessOf,
  type Verdict,
  waitsFor,
} from '../../core/lifecycle/ready/readiness.ts';
import { tombstoneOf } from '../../core/lifecycle/stop/record.ts';
import type { State } from '../../core/state/state.ts';
import { metricsOf } from './metrics.ts';

export interface Answer {
  readonly status: 200 | 404 | 503;
  readonly type: string;
  readonly body: string;
}

export interface View {
  readonly member: MemberConfig;
  readonly onDrain: OnDrain;
  /** undefined: nothing is known yet. */
  readonly state: State | undefined;
}

export const PATHS = ['/livez', '/readyz', '/startupz', '/metrics', '/status'] as const;

export function answerTo(path: string, { member, onDrain, state }: View): Answer {
  if (state === undefined) return plain(503, 'starting');
  switch (path as (typeof PATHS)[number]) {
    case '/livez':
      return answerOf(livenessOf(state));
    case '/startupz':
      return answerOf(startednessOf(state));
    case '/readyz':
      return answerOf(readinessOf(state, onDrain));
    case '/metrics':
      return { status: 200, type: 'text/plain; version=0.0.4; charset=utf-8', body: metricsOf(member, onDrain, state) };
    case '/status':
      return { status: 200, type: 'application/json', body: `${JSON.stringify(statusOf(member, onDrain, state))}\n` };
    default:
      return plain(404, `no such path; there are ${PATHS.join(', ')}`);
  }
}

/** The tombstone as it is now, and in front of it what no tombstone says. */
function statusOf(member: MemberConfig, onDrain: OnDrain, state: State): object {
  const ready = readinessOf(state, onDrain);
  return {
    IsLive: livenessOf(state).ok,
    IsStarted: startednessOf(state).ok,
    IsReady: ready.ok,
    ...(!ready.ok && { NotReady: ready.why }),
    WaitsFor: waitsFor(member, state) ?? null,
    ...tombstoneOf(member, state),
  };
}

function answerOf({ ok, why }: Verdict): Answer {
  return plain(ok ? 200 : 503, why);
}

function plain(status: Answer['status'], text: string): Answer {
  return { status, type: 'text/plain; charset=utf-8', body: `${text}\n` };
}
