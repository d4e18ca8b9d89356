/**
 * `sexton restart` in a container without a graveyard: there is one member, and PID 1 is asked by a signal.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { isRestartRequest } from '../../../core/ladder.ts';
import { ASSUMED_GRACE_MS } from '../../../core/pod/deadline.ts';
import { RESTART_SIGNAL } from '../../../core/signals.ts';
import { formatDuration } from '../../notation/duration.ts';
import type { RunConfig } from '../../resolve.ts';
import { warn } from '../../text/errors.ts';
import { print } from '../../text/print.ts';
import { findCommand } from '../solo.ts';
import { LOOK_AGAIN_MS, MARGIN_MS, OUTLIVED } from '../stop/wait.ts';
import { badRestart, type RestartArguments } from './arguments.ts';

export async function restartSolo({ member }: RunConfig, request: RestartArguments): Promise<void> {
  const { name, gracePeriodMs } = member;
  const { names, graceMs, byRule, waits } = request;
  if (names.length > 0)
    throw badRestart(`${names.join(', ')}: without a graveyard there is only ${name}; give no name`);
  if (graceMs !== undefined)
    throw badRestart('--grace: without a graveyard a restart has the declared grace period; leave it out');
  if (byRule !== undefined) throw badRestart('--by-rule: needs a graveyard; leave it out');
  if (!isRestartRequest(member, RESTART_SIGNAL))
    throw badRestart(
      `${name} takes no requests: with --stop-signals none, and under the name of another init, PID 1 only passes signals on`,
    );
  const before = findCommand();
  signalInit();
  if (!waits) return void (await print(`asked to restart: ${name}\n`));
  const graceText = gracePeriodMs === undefined ? '' : ` within ${formatDuration(gracePeriodMs)}`;
  await print(`restarting ${name}${graceText}\n`);
  const startMs = performance.now();
  const endMs = startMs + (gracePeriodMs ?? ASSUMED_GRACE_MS) + MARGIN_MS;
  for (;;) {
    const now = findCommand();
    if (now !== undefined && now.pid !== before?.pid)
      return void (await print(
        `${name} restarted, after ${formatDuration(Math.round(performance.now() - startMs))}\n`,
      ));
    if (performance.now() >= endMs) break;
    await sleep(LOOK_AGAIN_MS);
  }
  process.exitCode = OUTLIVED;
  warn(`not restarted yet: ${name}; see the log of this container`);
}

function signalInit(): void {
  try {
    process.kill(1, RESTART_SIGNAL);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw badRestart(
      `cannot signal PID 1: ${code === 'EPERM' ? `uid ${process.getuid?.()} may not; run it as the user of PID 1` : message}`,
    );
  }
}
