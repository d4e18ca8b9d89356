/**
 * `sexton restart` asks the members of this pod to stop as in a stop of the pod. They start again in place when all
 * have ended. It waits until they have.
 */
import type { Env } from '../../../config/env.ts';
import { MAX_START_AFTER, type Tombstone } from '../../../core/format/tombstone.ts';
import { ASSUMED_GRACE_MS } from '../../../core/pod/deadline.ts';
import { hasGoneThrough } from '../../../core/pod/restart.ts';
import type { Round } from '../../../core/state/state.ts';
import { SystemClock } from '../../../runtime/clock.ts';
import type { Members } from '../../../runtime/graveyard/members.ts';
import { warn } from '../../../text/errors.ts';
import { print } from '../../../text/print.ts';
import { refusalOf } from '../arguments.ts';
import { findHere, type Here, readHere } from '../here.ts';
import {
  ask,
  cannotBeAsked,
  pickTargets,
  readStopArguments,
  type StopArguments,
  type Target,
  withinText,
} from './request.ts';
import { waitForEnds } from './wait.ts';

export async function restart(args: readonly string[], env: Env): Promise<void> {
  const request = readStopArguments('restart', args);
  const here = await findHere('restart', request.graveyard, env);
  const targets = targetsOf(await readHere(here), request, here);
  const names = targets.map(({ name }) => name);
  if (request.waits) await print(`restarting ${names.join(', ')} ${withinText(request)}\n`);
  const clock = new SystemClock();
  const { askedMs } = await ask(here, targets, request, clock.now());
  if (!request.waits) return void (await print(`asked to restart: ${names.join(', ')}\n`));
  const among = request.names.length === 0 ? undefined : names;
  let deadlineMs = askedMs + (request.graceMs ?? ASSUMED_GRACE_MS);
  await waitForEnds({
    dir: here.dir,
    targets,
    askedMs,
    clock,
    endOf: (_, tombstone) => {
      if (tombstone?.RestartRequested === askedMs) deadlineMs = Math.max(deadlineMs, tombstone.Deadline ?? 0);
      return endByRestart(tombstone, { requestedMs: askedMs, among, byRule: request.byRule });
    },
    endMsOf: () => deadlineMs + STARTING_MS,
    late: 'not restarted yet',
  });
}

/** What it may take until a command that was started again has started, its gates and its probes. */
const STARTING_MS = 60_000;

function endByRestart(tombstone: Tombstone | undefined, round: Round): string | undefined {
  if (tombstone === undefined) return undefined;
  const { StopRequested, Started, Died, ExitCode = 'unknown' } = tombstone;
  if (Died !== undefined) return `ended, exit code ${ExitCode}`;
  const isAgain = hasGoneThrough(tombstone, round) && StopRequested === undefined && Started !== undefined;
  return isAgain ? 'restarted' : undefined;
}

const badRestart = refusalOf('restart');

/** All living members, or those that were named and the members that started after them. */
function targetsOf(members: Members, request: StopArguments, here: Here): readonly Target[] {
  const { names, byRule } = request;
  const { alive, dead, deaf } = pickTargets(here, members, request);
  const [first] = dead;
  if (first !== undefined) throw badRestart(`${first.Name} is dead, and no restart in place brings it back`);
  const wanted = { ...request, names: withFollowers(members.members, names) };
  const targets = names.length === 0 ? alive : pickTargets(here, members, wanted).alive;
  // Each tombstone holds the names of those that take part.
  if (names.length > 0 && targets.length > MAX_START_AFTER)
    throw badRestart(
      `${targets.length} members start after them: at most ${MAX_START_AFTER}; give no name to restart all`,
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
