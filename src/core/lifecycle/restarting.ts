/** A restart in place: requested, joined, and ended by another start. */
import { EXIT, statusOf } from '../exit.ts';
import { isAhead, passOn, restartsOfOthers, unendedIn } from '../pod/restart.ts';
import { restartsAllOn } from '../restart.ts';
import { type Draft, isDue, note, say, sayOnce, update, wakeAt } from '../state/draft.ts';
import type { Event } from '../state/events.ts';
import type { Restart } from '../state/state.ts';
import { finishMember } from './stop/end.ts';
import { askForRestart, goOn } from './stop/record-stop.ts';

export function onRestartAsked(draft: Draft, { ask }: Event & { type: 'restartAsked' }): void {
  if (isAhead(draft.state, ask))
    return say(draft, 'warn', 'ignored a request to restart in place: its time has not come', { by: ask.by });
  askForRestart(draft, ask);
}

/** A rule: a member that missed the request takes part like all others. */
export function joinRestart(draft: Draft): void {
  for (const ask of restartsOfOthers(draft.config, draft.state)) askForRestart(draft, ask);
}

/** Starts again between the two lives, once the commands of all have ended. */
export function startAgain(draft: Draft): void {
  const { config, state } = draft;
  const { restart, peers, chronicle } = state;
  // A new supervisor reads the graveyard first.
  if (restart === undefined || peers === undefined) return;
  const { names, untilMs } = unendedIn(config, state, restart);
  wakeAt(draft, untilMs);
  if (names.length > 0) return;
  wakeAt(draft, restart.restUntilMs);
  if (restart.restUntilMs !== undefined && !isDue(draft, restart.restUntilMs)) return;
  if (restart.byRule !== undefined && !passRule(draft, restart, restart.byRule)) return;
  if (restart.next !== undefined) return goOn(draft, passOn(restart, restart.next));
  update(draft, {
    stop: undefined,
    deadline: undefined,
    traffic: undefined,
    idle: undefined,
    looks: {},
    podRestarts: state.podRestarts + 1,
    restart: { ...restart, restUntilMs: undefined, againSinceMs: state.now.mono },
    chronicle: { ...chronicle, stopRequested: undefined },
  });
  note(draft, 'restarted', { By: restart.by });
  say(draft, 'info', 'all have ended: starting again', { by: restart.by });
}

/** Exits by the restart rule: the platform then ends and restarts all containers, unless it knows no such rule. */
function passRule(draft: Draft, restart: Restart, code: number): boolean {
  const { config, state } = draft;
  const { child, deadline, now } = state;
  if (restartsAllOn(config, code)) {
    const after = child.is === 'unstarted' ? child.after : undefined;
    say(draft, 'info', `all have ended: exiting with ${code}, so that the platform restarts all containers`);
    const status = after === undefined ? EXIT.ok : statusOf(after);
    finishMember(draft, { status, reason: after === undefined ? 'never-started' : 'stopped', exit: after, code });
    return false;
  }
  const untilMs = Math.max(deadline?.atMs ?? now.mono, restart.restUntilMs ?? 0) + RULE_MS;
  wakeAt(draft, untilMs);
  if (!isDue(draft, untilMs)) return false;
  sayOnce(
    draft,
    `rule ${restart.requestedMs}`,
    'error',
    `the platform has not restarted all containers: starting again in place; check that a restartPolicyRules entry RestartAllContainers for ${code} is in the manifest and in the --restart-rules of one member`,
  );
  return true;
}

/** How long the platform may take to end all others once one has exited by its rule. */
const RULE_MS = 30_000;
