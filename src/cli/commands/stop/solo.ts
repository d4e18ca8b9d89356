/**
 * `sexton stop` in a container without a graveyard: there is one member, and PID 1 is asked by a signal, as the
 * platform asks it.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { formatDuration } from '../../../config/notation/duration.ts';
import { formatSignal } from '../../../config/notation/stop/signals.ts';
import type { RunConfig } from '../../../config/run-config.ts';
import { ASSUMED_GRACE_MS } from '../../../core/pod/deadline.ts';
import { SIGTERM } from '../../../core/signals.ts';
import { warn } from '../../../text/errors.ts';
import { print } from '../../../text/print.ts';
import { badArguments } from '../arguments.ts';
import { findCommand } from '../solo.ts';
import type { StopArguments } from './request.ts';
import { LOOK_AGAIN_MS, MARGIN_MS, OUTLIVED } from './wait.ts';

export async function stopSolo({ member }: RunConfig, { names, graceMs, waits }: StopArguments): Promise<void> {
  const { name, gracePeriodMs, stopSignals } = member;
  if (names.length > 0)
    throw badArguments('stop', `${names.join(', ')}: without a graveyard there is only ${name}; give no name`);
  if (graceMs !== undefined)
    throw badArguments('stop', '--grace: without a graveyard a stop has the declared grace period; leave it out');
  // With --stop-signals none there is no stop request: TERM is passed on to the command.
  const signal = stopSignals.includes(SIGTERM) ? SIGTERM : (stopSignals[0] ?? SIGTERM);
  const grace = gracePeriodMs === undefined ? '' : ` within ${formatDuration(gracePeriodMs)}`;
  await print(`stopping ${name}${grace}: PID 1 gets ${formatSignal(signal)}\n`);
  if (waits)
    await print(`this call ends with the container of ${name}: exit code 137; to return before that, give --no-wait\n`);
  signalInit(signal);
  if (!waits) return;
  const endMs = performance.now() + (gracePeriodMs ?? ASSUMED_GRACE_MS) + MARGIN_MS;
  while (findCommand() !== undefined) {
    if (performance.now() >= endMs) {
      process.exitCode = OUTLIVED;
      return warn(`the grace period is over, but ${name} still runs; see the log of this container`);
    }
    await sleep(LOOK_AGAIN_MS);
  }
  await print(`${name} has ended\n`);
}

function signalInit(signal: number): void {
  try {
    process.kill(1, signal);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw badArguments(
      'stop',
      `cannot signal PID 1: ${code === 'EPERM' ? `uid ${process.getuid?.()} may not; run it as the user of PID 1` : message}`,
    );
  }
}
