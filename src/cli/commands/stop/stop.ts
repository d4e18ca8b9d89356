/**
 * `sexton stop` asks the members of this pod to stop, from inside any of its containers, and waits until they are dead.
 * Members that are asked together stop in order and within one deadline.
 */
import { unlink } from 'node:fs/promises';
import type { Env } from '../../../config/env.ts';
import type { Tombstone } from '../../../core/format/tombstone.ts';
import { ASSUMED_GRACE_MS } from '../../../core/pod/deadline.ts';
import { type Clock, SystemClock } from '../../../runtime/clock.ts';
import { Liveness } from '../../../runtime/graveyard/liveness.ts';
import { volumeAt } from '../../../runtime/graveyard/volume.ts';
import { warn } from '../../../text/errors.ts';
import { print } from '../../../text/print.ts';
import { findHereOrSolo, type Here, readHere } from '../here.ts';
import {
  ask,
  cannotBeAsked,
  pickTargets,
  readStopArguments,
  type StopArguments,
  type Target,
  withinText,
} from './request.ts';
import { stopSolo } from './solo.ts';
import { waitForEnds } from './wait.ts';

export async function stop(args: readonly string[], env: Env): Promise<void> {
  const request = readStopArguments('stop', args);
  const here = await findHereOrSolo('stop', request.graveyard, env);
  if (here.dir === undefined) return stopSolo(here.run, request);
  const { alive, dead, deaf, doubtful } = pickTargets(here, await readHere(here), request);
  for (const { name, why } of doubtful)
    warn(`${name} may be dead: its liveness socket cannot be asked (${why}); it is asked to stop anyway`);
  if (request.waits && alive.length > 0) await print(whatWillHappen(alive, request, here));
  const clock = new SystemClock();
  const { paths, askedMs } = await ask(here, alive, request, clock.now());
  for (const tombstone of dead) await print(`${tombstone.Name} was dead already: ${howItEnded(tombstone)}\n`);
  if (deaf.length > 0) warn(cannotBeAsked(deaf, 'stop'));
  if (!request.waits) {
    if (paths.size > 0) await print(`asked to stop: ${[...paths.keys()].join(', ')}\n`);
    return;
  }
  const liveness = new Liveness({ volume: volumeAt(here.dir), clock, onChange: () => {} });
  try {
    await liveness.follow([...paths.keys()]);
    await waitForEnds({
      dir: here.dir,
      targets: alive,
      askedMs,
      clock,
      endOf: endByStop(liveness, clock),
      endMsOf: ({ boot }, tombstone) => {
        if (request.graceMs !== undefined) return askedMs + request.graceMs;
        return (tombstone?.Boot === boot ? tombstone.Deadline : undefined) ?? askedMs + ASSUMED_GRACE_MS;
      },
      // The member may have been unable to remove it.
      onEnd: ({ name }) => unlink(paths.get(name) ?? '').catch(() => {}),
      late: 'the grace period is over, but not dead',
    });
  } finally {
    liveness.stop();
  }
}

/** Printed before the request: a `kubectl exec` in a container that it stops never prints the rest. */
function whatWillHappen(targets: readonly Target[], request: StopArguments, { member }: Here): string {
  const names = targets.map(({ name }) => name);
  const first = `stopping ${names.join(', ')} ${withinText(request)}\n`;
  if (member === undefined || !names.includes(member)) return first;
  return `${first}this call runs in the container of ${member} and ends with it: exit code 137 means that it was stopped; to return before that, give --no-wait\n`;
}

/** By its tombstone, or by the loss of its liveness socket, whether that was closed before or after we connected. */
function endByStop(liveness: Liveness, clock: Clock) {
  const silentSince = new Map<string, number>();
  return ({ name }: Target, tombstone: Tombstone | undefined): string | undefined => {
    if (tombstone?.Died !== undefined) return howItEnded(tombstone);
    const { kind } = liveness.of(name);
    if (kind !== 'lost' && kind !== 'refused') return void silentSince.delete(name);
    const nowMs = clock.now().mono;
    const sinceMs = silentSince.get(name) ?? nowMs;
    silentSince.set(name, sinceMs);
    return nowMs - sinceMs >= LOST_AFTER_MS ? 'lost, exit code unknown' : undefined;
  };
}

/** A member writes its death before it closes its socket. A death that is not there after this time will not come. */
const LOST_AFTER_MS = 2_000;

function howItEnded({ Reason, ExitCode, Signal }: Tombstone): string {
  const code = ExitCode === undefined ? 'exit code unknown' : `exit code ${ExitCode}`;
  return [Reason ?? 'dead', code, ...(Signal === undefined ? [] : [Signal])].join(', ');
}
