/** Rules of a restart in place, broken on purpose, like those of `mutations.ts`. */
import type { Mutation } from './mutations.ts';

export const RESTART_MUTATIONS: readonly Mutation[] = [
  {
    breaks: 'in a restart nothing starts before all have ended',
    file: 'core/lifecycle/restarting.ts',
    from: '  if (names.length > 0) return;\n',
    to: '',
  },
  {
    breaks: 'in a restart a member is started again behind its gates',
    file: 'core/lifecycle/stop/restart-end.ts',
    from: 'chronicle: { ...chronicle, started: undefined, healthy: undefined, exit, last },',
    to: 'chronicle: { ...chronicle, exit, last },',
  },
  {
    breaks: 'after a restart all live again',
    file: 'core/pod/restart.ts',
    from: 'return hasEnded ? undefined : Math.max(ownMs, Deadline) + STALE_AFTER_MS;',
    to: 'return StopRequested === undefined ? undefined : Math.max(ownMs, Deadline) + 1_000_000_000;',
  },
  {
    breaks: 'who was not asked for a restart learns of it from others',
    file: 'core/lifecycle/restarting.ts',
    from: '  for (const ask of restartsOfOthers(draft.config, draft.state)) askForRestart(draft, ask);\n',
    to: '',
  },
  {
    breaks: 'who is born after the request of a restart takes no part',
    file: 'core/pod/restart.ts',
    from: 'return ask.requestedMs < startedAtMs\n',
    to: 'return false\n',
  },
  {
    breaks: 'the platform’s stop beats a restart',
    file: 'core/lifecycle/request.ts',
    from: '  if (stop === undefined || isRestarting(draft.state)) return onFirstRequest(draft, event);',
    to: '  if (stop === undefined) return onFirstRequest(draft, event);',
  },
  {
    breaks: 'the deadline of a restart is over with it',
    file: 'core/lifecycle/restarting.ts',
    from: '    deadline: undefined,\n',
    to: '',
  },
  {
    breaks: 'in a restart each asks after all others',
    file: 'core/pod/interest.ts',
    from: "if (business === 'restart' || peer.RestartRequested !== undefined || peer.RestartsPod) return true;",
    to: '',
  },
  {
    breaks: 'a restart that was gone through is not begun again',
    file: 'core/pod/restart.ts',
    from: 'ask.requestedMs <= lastMs) return undefined;',
    to: 'ask.requestedMs < lastMs) return undefined;',
  },
];
