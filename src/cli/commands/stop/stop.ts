/**
 * `sexton stop` asks the members of this pod to stop, from inside any of its containers, and waits until they are dead.
 * Members that are asked together stop in order and within one deadline.
 */
import { unlink } from 'node:fs/promises';
import type { Env } from '../../../config/env.ts';
import { formatDuration } from '../../../config/notation/duration.ts';
import { asked } from '../../../core/format/stop-request.ts';
import type { Tombstone } from '../../../core/format/tombstone.ts';
import { readBootId, SystemClock } from '../../../runtime/clock.ts';
import { warn } from '../../../text/errors.ts';
import { print } from '../../../text/print.ts';
import { badArguments } from '../arguments.ts';
import { findHereOrSolo, type Here, readHere } from '../here.ts';
import { readStopArguments, type StopArguments } from './arguments.ts';
import { ask } from './ask.ts';
import { stopSolo } from './solo.ts';
import { cannotBeAsked, pickTargets, type Target, type Targets } from './targets.ts';
import { type End, OUTLIVED, waitForEnds } from './wait.ts';

export async function stop(args: readonly string[], env: Env): Promise<void> {
  const request = readStopArguments('stop', args);
  const here = await findHereOrSolo('stop', request.graveyard, env);
  if (here.dir === undefined) return stopSolo(here.run, request);
  const targets = await findTargets(here, request.names);
  for (const { name, why } of targets.doubtful)
    warn(`${name} may be dead: its liveness socket cannot be asked (${why}); it is asked to stop anyway`);
  if (request.waits && targets.alive.length > 0) await print(whatWillHappen(targets.alive, request, here));
  const clock = new SystemClock();
  const paths = await ask(here, targets.alive, request, asked(clock.now()));
  for (const tombstone of targets.dead) await print(`${tombstone.Name} was dead already: ${howItEnded(tombstone)}\n`);
  if (targets.deaf.length > 0) warn(cannotBeAsked(targets.deaf));
  if (!request.waits) {
    if (paths.size > 0) await print(`asked to stop: ${[...paths.keys()].join(', ')}\n`);
    return;
  }
  const survivors = await waitForEnds({
    dir: here.dir,
    targets: targets.alive,
    graceMs: request.graceMs,
    now: () => clock.now().mono,
    onEnd: async ({ name }, end, tookMs) => {
      // The member may have been unable to remove it.
      await unlink(paths.get(name) ?? '').catch(() => {});
      await print(`${name} ${wordsFor(end)}, after ${formatDuration(Math.round(tookMs))}\n`);
    },
  });
  if (survivors.length === 0) return;
  process.exitCode = OUTLIVED;
  const who = survivors.map(({ name, phase }) => `${name} (${phase})`).join(', ');
  warn(`the grace period is over, but not dead: ${who}; see sexton status and the log of that container`);
}

/** Printed before the request: a `kubectl exec` in a container that it stops never prints the rest. */
function whatWillHappen(targets: readonly Target[], { graceMs }: StopArguments, { member }: Here): string {
  const names = targets.map(({ name }) => name);
  const grace = graceMs === undefined ? 'the grace period of each' : formatDuration(graceMs);
  const first = `stopping ${names.join(', ')} within ${grace}\n`;
  if (member === undefined || !names.includes(member)) return first;
  return `${first}this call runs in the container of ${member} and ends with it: exit code 137 means that it was stopped; to return before that, give --no-wait\n`;
}

async function findTargets(here: Here, names: readonly string[]): Promise<Targets> {
  const targets = pickTargets(await readHere(here), names, readBootId());
  if (targets.alive.length === 0 && targets.dead.length === 0)
    throw badArguments('stop', `no member is alive in the graveyard ${here.dir} (${here.source})`);
  return targets;
}

function wordsFor(end: End): string {
  switch (end.is) {
    case 'dead':
      return howItEnded(end.tombstone);
    case 'reborn':
      return 'ended, and its container runs again';
    case 'lost':
      return 'lost, exit code unknown';
    default:
      return end satisfies never;
  }
}

function howItEnded({ Reason, ExitCode, Signal }: Tombstone): string {
  const code = ExitCode === undefined ? 'exit code unknown' : `exit code ${ExitCode}`;
  return [Reason ?? 'dead', code, ...(Signal === undefined ? [] : [Signal])].join(', ');
}
