/**
 * `sexton restart [--grace 20s] [--by-rule 88] [--no-wait] [--graveyard DIR] [NAME...]`: asks the members of this pod to
 * stop as in a stop of the pod, and to start again in place when all have ended; and waits until they have.
 */

import type { Env } from '../../../config/env.ts';
import { formatDuration } from '../../../config/notation/duration.ts';
import { asked, RESTART_VERSION } from '../../../core/format/stop-request.ts';
import type { Tombstone } from '../../../core/format/tombstone.ts';
import { readBootId } from '../../../runtime/boot-id.ts';
import { SystemClock } from '../../../runtime/clock.ts';
import { leaveRequest } from '../../../runtime/graveyard/leave-request.ts';
import type { Members } from '../../../runtime/graveyard/members.ts';
import { warn } from '../../../text/errors.ts';
import { print } from '../../../text/print.ts';
import { findHere, type Here, readHere } from '../here.ts';
import { cannotBeAsked, pickTargets, type Target } from '../stop/targets.ts';
import { OUTLIVED } from '../stop/wait.ts';
import { badRestart, MAX_RESTARTED, type RestartArguments, readRestartArguments } from './arguments.ts';
import { waitForRestarts } from './wait.ts';

export async function restart(args: readonly string[], env: Env): Promise<void> {
  const request = readRestartArguments(args);
  const here = await findHere('restart', request.graveyard, env);
  const members = await readHere(here);
  const targets = targetsOf(members, request, here);
  const names = targets.map(({ name }) => name);
  const grace = request.graceMs === undefined ? 'the grace period of each' : formatDuration(request.graceMs);
  if (request.waits) await print(`restarting ${names.join(', ')} within ${grace}\n`);
  const clock = new SystemClock();
  const requestedMs = await ask(here, targets, request, clock);
  if (!request.waits) return void (await print(`asked to restart: ${names.join(', ')}\n`));
  const survivors = await waitForRestarts({
    dir: here.dir,
    targets,
    graceMs: request.graceMs,
    requestedMs,
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

/** All that live, or those that were named and whoever started after them. */
function targetsOf(members: Members, { names, byRule }: RestartArguments, here: Here): readonly Target[] {
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

/** Of those that live: the dead start nothing any more. */
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

/** The moment of the request, by which the members tell it from others. */
async function ask(
  { dir, member }: Here,
  targets: readonly Target[],
  { names, graceMs, byRule }: RestartArguments,
  clock: SystemClock,
): Promise<number> {
  const words = { ...asked(clock.now()), Version: RESTART_VERSION };
  const together = targets.map(({ name }) => name);
  const done: string[] = [];
  for (const { name, boot, host } of targets) {
    const left = await leaveRequest(dir, name, {
      ...words,
      Boot: boot,
      Incarnation: host,
      ...(graceMs === undefined ? {} : { GraceMs: graceMs }),
      ...(names.length === 0 ? {} : { Among: together }),
      ...(byRule === undefined ? {} : { ByRule: byRule }),
      By: `${member === undefined ? '' : `${member}, `}uid ${process.getuid?.() ?? '?'}, pid ${process.pid}`,
    });
    if (!left.ok) {
      const others = done.length === 0 ? '' : `; asked already, and restarting with all they tell: ${done.join(', ')}`;
      throw badRestart(`${left.trouble.message}${others}`);
    }
    done.push(name);
  }
  return words.RequestedMonotonic;
}
