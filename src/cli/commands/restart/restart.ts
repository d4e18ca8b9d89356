/**
 * `sexton restart` asks the members of this pod to stop as in a stop of the pod, and to start again in place when all
 * have ended. It waits until they have.
 */

import type { Env } from '../../../config/env.ts';
import { formatDuration } from '../../../config/notation/duration.ts';
import { asked, RESTART_VERSION } from '../../../core/format/stop-request.ts';
import { MAX_START_AFTER, type Tombstone } from '../../../core/format/tombstone.ts';
import { readBootId, SystemClock } from '../../../runtime/clock.ts';
import type { Members } from '../../../runtime/graveyard/members.ts';
import { type SextonError, warn } from '../../../text/errors.ts';
import { print } from '../../../text/print.ts';
import { badArguments } from '../arguments.ts';
import { findHere, type Here, readHere } from '../here.ts';
import { readStopArguments, type StopArguments } from '../stop/arguments.ts';
import { ask } from '../stop/ask.ts';
import { cannotBeAsked, pickTargets, type Target } from '../stop/targets.ts';
import { OUTLIVED } from '../stop/wait.ts';
import { waitForRestarts } from './wait.ts';

export async function restart(args: readonly string[], env: Env): Promise<void> {
  const request = readStopArguments('restart', args);
  const here = await findHere('restart', request.graveyard, env);
  const members = await readHere(here);
  const targets = targetsOf(members, request, here);
  const names = targets.map(({ name }) => name);
  const grace = request.graceMs === undefined ? 'the grace period of each' : formatDuration(request.graceMs);
  if (request.waits) await print(`restarting ${names.join(', ')} within ${grace}\n`);
  const clock = new SystemClock();
  const words = { ...asked(clock.now()), Version: RESTART_VERSION };
  await ask(here, targets, request, words);
  if (!request.waits) return void (await print(`asked to restart: ${names.join(', ')}\n`));
  const survivors = await waitForRestarts({
    dir: here.dir,
    targets,
    graceMs: request.graceMs,
    requestedMs: words.RequestedMonotonic,
    now: () => clock.now().mono,
    onEnd: async ({ name }, what, tookMs) => {
      await print(`${name} ${what}, after ${formatDuration(Math.round(tookMs))}\n`);
    },
  });
  if (survivors.length === 0) return;
  process.exitCode = OUTLIVED;
  const who = survivors.map(({ name, phase }) => `${name} (${phase})`).join(', ');
  warn(`not restarted yet: ${who}; see sexton status and the log of that container`);
}

/** Each tombstone holds the names of those that take part. */
const MAX_RESTARTED = MAX_START_AFTER;

function badRestart(problem: string): SextonError {
  return badArguments('restart', problem);
}

/** All living members, or those that were named and the members that started after them. */
function targetsOf(members: Members, { names, byRule }: StopArguments, here: Here): readonly Target[] {
  const wanted = names.length === 0 ? [] : withFollowers(members.members, names);
  const { alive, dead, deaf } = pickTargets(members, names, readBootId(), 'restart');
  const [first] = dead;
  if (first !== undefined) throw badRestart(`${first.Name} is dead, and no restart in place brings it back`);
  const targets = names.length === 0 ? alive : pickTargets(members, wanted, readBootId(), 'restart').alive;
  if (targets.length === 0) throw badRestart(`no member is alive in the graveyard ${here.dir} (${here.source})`);
  if (names.length > 0 && targets.length > MAX_RESTARTED)
    throw badRestart(
      `${targets.length} members start after them: at most ${MAX_RESTARTED}; give no name to restart all`,
    );
  if (deaf.length > 0) warn(cannotBeAsked(deaf, 'restart'));
  if (
    byRule !== undefined &&
    !members.members.some(({ RestartsAll, Died }) => RestartsAll === true && Died === undefined)
  )
    throw badRestart(
      `--by-rule ${byRule}: no member has a rule that restarts all containers; give one --restart-rules ${byRule}=restart-all, as in its manifest`,
    );
  return targets;
}

/** Adds the living members that started after them; the dead start nothing any more. */
function withFollowers(members: readonly Tombstone[], names: readonly string[]): readonly string[] {
  const all = new Set(names);
  for (let isNews = true; isNews; ) {
    isNews = false;
    for (const { Name, StartAfter = [], Died } of members) {
      if (all.has(Name) || Died !== undefined || !StartAfter.some((name) => all.has(name))) continue;
      all.add(Name);
      isNews = true;
    }
  }
  return [...all];
}
