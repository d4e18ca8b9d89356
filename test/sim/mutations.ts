/**
 * Rules of core, runtime and simulated init, broken on purpose, each in one place and found by its exact text. A
 * simulator that lets one of these pass would let the same mistake pass in a change.
 */

import { LOSS_MUTATIONS } from './loss-mutations.ts';
import { RESTART_MUTATIONS } from './restart-mutations.ts';
import { SHELL_MUTATIONS } from './shell-mutations.ts';

export interface Mutation {
  /** The rule that does not hold any more. */
  readonly breaks: string;
  /** A path from src. */
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

export const MUTATIONS: readonly Mutation[] = [
  {
    breaks: 'a sidecar does not stop before every main has finished',
    file: 'core/pod/finished.ts',
    from: "finished >= (config.when === 'all' ? standings.length : 1)",
    to: 'finished >= 1',
  },
  {
    breaks: 'under OnFailure a main that has failed will be born again',
    file: 'core/restart.ts',
    from: "return policy === 'Never' || (policy === 'OnFailure' && succeeded);",
    to: "return policy === 'Never' || policy === 'OnFailure';",
  },
  {
    breaks: 'a sidecar stops when its mains have finished',
    file: 'core/pod/finished.ts',
    from: "standings.filter((standing) => standing.is === 'dead' && standing.final).length",
    to: "standings.filter((standing) => standing.is === 'dead' && standing.final && !standing.lost).length",
  },
  {
    breaks: 'another session does not exist',
    file: 'core/pod/standing.ts',
    from: 'return config.session !== undefined && Session !== undefined && Session !== config.session;',
    to: 'return config.session !== undefined && Session !== undefined && Session === undefined;',
  },
  {
    breaks: 'another boot does not exist',
    file: 'core/pod/standing.ts',
    from: 'isOfAnotherBoot(state, tombstone) ||\n',
    to: '',
  },
  {
    breaks: 'a death that was found at the start is doubted for 10 s',
    file: 'core/pod/standing.ts',
    from: 'const STALE_AFTER_MS = 10_000;',
    to: 'const STALE_AFTER_MS = 0;',
  },
  {
    breaks: 'a sidecar that is asked to stop serves on while mains live',
    file: 'core/pod/hold.ts',
    from: "return blockers.names.length > 0 || (config.role === 'sidecar' && checkFirstSight(draft, stop));",
    to: "return config.role === 'main' && blockers.names.length > 0;",
  },
  {
    breaks: 'a member stops when all who started after it are dead',
    file: 'core/pod/order.ts',
    from: 'if (dependsOnUs && !(quorumIsEnough && mains.includes(name))) needed.add(name);',
    to: '',
  },
  {
    breaks: 'who never started holds nobody up',
    file: 'core/pod/finished.ts',
    from: "return standing.is === 'alive' || (standing.is === 'unsure' && !standing.waiting);",
    to: "return standing.is !== 'absent';",
  },
  {
    breaks: 'the deadline never moves later',
    file: 'core/pod/deadline.ts',
    from: 'return b.atMs < a.atMs ? b : a;',
    to: 'return b;',
  },
  {
    breaks: 'own KILL comes before the platform’s',
    file: 'core/pod/deadline.ts',
    from: 'return budget.atMs - Math.min(500, lengthOf(budget) / 20);',
    to: 'return budget.atMs + 500;',
  },
  {
    breaks: 'whoever waits for its turn stops 2 s before the deadline',
    file: 'core/pod/deadline.ts',
    from: 'return budget.atMs - Math.min(2_000, lengthOf(budget) / 2);',
    to: 'return budget.atMs;',
  },
  {
    breaks: 'a child that a failed probe has told to end is not told again by the stop',
    file: 'core/lifecycle/stop/climb.ts',
    from: 'if (climb !== undefined) return update(draft, { climb: { ...climb, why } });',
    to: '',
  },
  {
    breaks: 'the ladder begins with its first rung, not with KILL',
    file: 'core/lifecycle/stop/climb.ts',
    from: "if (firstRung === 'toSend') sendRung(draft);",
    to: "if (firstRung === 'toSend') killNow(draft, 'mutation');",
  },
  {
    breaks: 'what the host has passed on already is not sent again',
    file: 'core/lifecycle/stop/forward-once.ts',
    from: "beginClimb(draft, { why: 'stop', killAtMs: undefined }, 'sent');",
    to: "beginClimb(draft, { why: 'stop', killAtMs: undefined });",
  },
  {
    breaks: 'a stop that sexton decided on ends with its own KILL',
    file: 'core/lifecycle/rules.ts',
    from: "killAtMs: stop.origin === 'self' ? ownBudget(draft).atMs : undefined",
    to: 'killAtMs: undefined',
  },
  {
    breaks: 'the container exits with the command’s code',
    file: 'core/exit.ts',
    from: 'return exit.signal === undefined ? (exit.code ?? EXIT.sexton) : EXIT.signalBase + exit.signal;',
    to: 'return exit.code ?? 0;',
  },
  {
    breaks: 'a sidecar that was stopped leaves with 0',
    file: 'core/exit.ts',
    from: 'return ending.stopped && !ending.overdue ? EXIT.ok : ending.status;',
    to: 'return ending.status;',
  },
  {
    breaks: 'what a command leaves behind is killed when it does not end',
    file: 'core/lifecycle/stop/climb.ts',
    from: "beginClimb(draft, { why: 'rest', killAtMs: killAt });",
    to: "beginClimb(draft, { why: 'rest', killAtMs: undefined });",
  },
  {
    breaks: 'a start gate waits for what it names',
    file: 'core/pod/gates.ts',
    from: "return time !== undefined && Phase !== 'backoff' && Phase !== 'starting';",
    to: 'return true;',
  },
  {
    breaks: 'the next supervisor hears of what its predecessor has not acknowledged before it acts',
    file: 'core/lifecycle/lifecycle.ts',
    from: 'if (draft.state.hasCaughtUp) advance(draft);',
    to: 'advance(draft);',
  },
  {
    breaks: 'a member that came to its end in an earlier supervisor leaves in the next one',
    file: 'core/lifecycle/lifecycle.ts',
    from: '  leaveIfDone(draft);\n  resumeTasks(draft);',
    to: '  resumeTasks(draft);',
  },
  {
    breaks: 'who dies says whether another life will follow',
    file: 'core/lifecycle/stop/record.ts',
    from: "Final: child.is === 'gone' ? child.final : undefined,",
    to: "Final: child.is === 'gone' ? true : undefined,",
  },
  {
    breaks: 'a container that a rule restarts is not over',
    file: 'core/restart.ts',
    from: 'return !restartRules.some((rule) => matches(rule, code)) && isFinalUnder(restartPolicy, code === 0);',
    to: 'return isFinalUnder(restartPolicy, code === 0);',
  },
  {
    breaks: 'NotIn matches every code but those it names',
    file: 'core/restart.ts',
    from: 'return codes.includes(code) !== except;',
    to: 'return codes.includes(code);',
  },
  {
    breaks: 'a main that was killed is not over when a rule restarts it',
    file: 'core/pod/standing.ts',
    from: 'return RestartsIfKilled !== true && isFinalUnder(',
    to: 'return isFinalUnder(',
  },
  {
    breaks: 'another generation does not exist',
    file: 'core/pod/standing.ts',
    from: 'isOfAnotherGeneration(state, tombstone) ||\n',
    to: '',
  },
  {
    breaks: 'where a rule restarts all, a death that was found at the start is doubted for 10 s',
    file: 'core/pod/standing.ts',
    from: 'return restartsAll(config) || Object.values(state.peers ?? {}).some(declare);',
    to: 'return false;',
  },
  {
    breaks: 'that all may be restarted is known to all',
    file: 'core/pod/interest.ts',
    from: 'if (RestartsAll === true && !restartsAll(config)) return true;',
    to: '',
  },
  {
    breaks: 'a sidecar for which no mains are named hears of each main',
    file: 'core/pod/interest.ts',
    from: "if (config.role === 'sidecar' && config.mains.length === 0 && Role === 'main') return true;",
    to: '',
  },
  {
    breaks: 'a deadline of others ends waiting, and never a command',
    file: 'core/lifecycle/stop/climb.ts',
    from: 'const deadlineMs = deadline?.kills === true ? killAtMs(deadline) : undefined;',
    to: 'const others = Object.values(draft.state.peers ?? {}).map(({ tombstone }) => tombstone.Deadline ?? Infinity);\n  const ends = [deadline?.kills === true ? killAtMs(deadline) : Infinity, ...others.filter((atMs) => atMs > (draft.state.stop?.atMs ?? Infinity))];\n  const deadlineMs = Math.min(...ends) < Infinity ? Math.min(...ends) : undefined;',
  },
  {
    breaks: 'a container that is stopped alone serves on for nobody',
    file: 'core/pod/hold.ts',
    from: '  if (stop.alone === true) return false;\n',
    to: '',
  },
  {
    breaks: 'the deadline of one that is stopped alone is nobody else’s',
    file: 'core/pod/deadline.ts',
    from: "if (tombstone.StopRequested === undefined || tombstone.StopScope === 'container') return false;",
    to: 'if (tombstone.StopRequested === undefined) return false;',
  },
  {
    breaks: 'only a word that is later than the own request tells that the pod was not stopped',
    file: 'core/pod/alone.ts',
    from: 'return PodStopNotBefore !== undefined && PodStopNotBefore >= stop.atMs && !isForeign(config, state, peer);',
    to: 'return PodStopNotBefore !== undefined && !isForeign(config, state, peer);',
  },
  {
    breaks: 'a member that was not asked counts its own hook of the platform, and 2 s',
    file: 'core/pod/alone.ts',
    from: 'notBeforeMs: lookedMs - config.platformPreStopMs - SPREAD_MS',
    to: 'notBeforeMs: lookedMs + SPREAD_MS',
  },
  {
    breaks: 'the same signal right behind the first is the same request',
    file: 'core/lifecycle/request.ts',
    from: '  if (isSameRequest(draft, event)) return;\n',
    to: '',
  },
  {
    breaks: 'the same signal from outside is the same request however late where a grace period is declared',
    file: 'core/lifecycle/request.ts',
    from: 'return isRepeated || at.mono',
    to: 'return at.mono',
  },
  {
    breaks: 'a reflex holds no longer than the state that it was made from',
    file: 'core/lifecycle/prepared/reflexes.ts',
    from: "keys.every((key) => key === 'now' || before.state[key] === after.state[key])",
    to: 'keys.length > 0',
  },
  {
    breaks: 'a sidecar of several mains ends by the word of all of them',
    file: 'core/lifecycle/prepared/reflexes.ts',
    from: '{ needed: names.length, signal, holds, mains }',
    to: '{ needed: 1, signal, holds, mains }',
  },
  {
    breaks: 'init leaves with the code that the container exits with',
    file: 'core/lifecycle/prepared/prepared-ends.ts',
    from: "code: isSame ? 'same' : first.exit",
    to: 'code: 0',
  },
  {
    breaks: 'a prepared end is final only when no other life will follow',
    file: 'core/lifecycle/prepared/prepared-ends.ts',
    from: 'to: range.to, final: first.final, text',
    to: 'to: range.to, final: true, text',
  },
  {
    breaks: 'a prepared stop gives way to a supervisor before anything is due',
    file: 'core/lifecycle/prepared/prepared-ends.ts',
    from: 'graceMs / 2, ...dueMs)',
    to: 'graceMs)',
  },
  {
    breaks: 'init passes a held stop request on when all mains have ended',
    file: '../test/sim/reflexes.ts',
    from: 'return mains.every(',
    to: 'return mains.some(',
  },
  {
    breaks: 'an end that init has told stays what was told',
    file: 'core/lifecycle/child.ts',
    from: 'if (isWritten) endAsWritten(draft, child);\n  else ',
    to: '',
  },
  {
    breaks: 'a signal that init has sent with the end of the mains is behind us',
    file: 'core/lifecycle/stop/stop-sent.ts',
    from: " : undefined }, 'sent');",
    to: ' : undefined });',
  },
  {
    breaks: 'who sleeps hears of every tombstone that matters',
    file: 'runtime/graveyard/watch-list.ts',
    from: 'if (isQuiet && !isRelevant) quiet.push(Name);',
    to: 'quiet.push(Name);',
  },
  {
    breaks: 'who sleeps hears of the end of every handle that it holds',
    file: 'runtime/graveyard/watch-list.ts',
    from: "if (contact === 'held') held[Name] = hostOf(Incarnation);",
    to: '',
  },
  {
    breaks: 'init lets nobody go who has not heard of an event',
    file: '../test/sim/container.ts',
    from: 'if (this.queue.length > 0 || ',
    to: 'if (',
  },
  {
    breaks: 'init lets nobody go who may not have heard of a change',
    file: '../test/sim/container.ts',
    from: 'this.#vigil?.fired !== undefined || isGroupLeft',
    to: 'isGroupLeft',
  },
  {
    breaks: 'the time that is due wakes',
    file: '../test/sim/container.ts',
    from: "this.#nap === nap ? this.wake('the time') : undefined",
    to: 'undefined',
  },
  ...RESTART_MUTATIONS,
  ...LOSS_MUTATIONS,
  ...SHELL_MUTATIONS,
];
