/** Like `mutations.ts`, for init without a supervisor. Only the law `stop without a supervisor` notices them. */
import type { Mutation } from './mutations.ts';

export const LOSS_MUTATIONS: readonly Mutation[] = [
  {
    breaks: 'a stop that was acknowledged is not forgotten with its supervisor',
    file: 'core/lifecycle/prepared/fallback.ts',
    from: 'waitMs, atMs: Math.floor(stop.atMs + waitedMs)',
    to: 'waitMs, atMs: undefined',
  },
  {
    breaks: 'the host waits for no longer than a part of the grace period',
    file: 'core/lifecycle/prepared/fallback.ts',
    from: "budgetMs * (role === 'sidecar' ? 0.75 : 0.5)",
    to: "budgetMs * (role === 'sidecar' ? 1 : 1)",
  },
  {
    breaks: 'a stop that sexton decided on ends in the KILL of the host if its supervisor is lost',
    file: 'core/pod/deadline.ts',
    from: 'climb?.killed === false && climb.killAtMs !== undefined ?',
    to: 'climb === null ?',
  },
  {
    breaks: 'a supervisor that has not begun to act owes a commit',
    file: 'core/lifecycle/lifecycle.ts',
    from: '  if (!draft.state.hasCaughtUp) wakeAt(draft, now.mono + BEGINNING_MS);\n',
    to: '',
  },
  {
    breaks: 'a supervisor that has to leave owes a commit',
    file: 'core/lifecycle/stop/quitting.ts',
    from: '  wakeAt(draft, now.mono + maxWritingMs(deadline, now.mono));\n',
    to: '',
  },
  {
    breaks: 'a supervisor that dies soon after its first commit has failed to start',
    file: '../test/sim/starts.ts',
    from: 'hangs ? HANG : this.#hasCommitted ? SHORT_LIFE : FAILED_START',
    to: 'hangs ? HANG : this.#hasCommitted ? 0 : FAILED_START',
  },
  {
    breaks: 'init alone waits with the first stop request, and then sends the stop signal',
    file: '../test/sim/grace.ts',
    from: 'const waitsUntilMs = (stop?.atMs ?? NEVER) + waitMs;',
    to: 'const waitsUntilMs = NEVER;',
  },
];
