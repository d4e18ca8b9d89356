/** Writes the termination log when a subcommand fails that is the first process of its container. */
import type { Env } from '../../../config/env.ts';
import { DEFAULT_TERMINATION_LOG, parseTerminationLog } from '../../../config/notation/actions/observe.ts';
import { leaveRefusal } from '../../../runtime/log/termination-log.ts';

export async function leaveLastWord(error: unknown, env: Env): Promise<void> {
  const named = parseTerminationLog(env.SEXTON_TERMINATION_LOG ?? '');
  const log = named.ok ? { path: named.value, isNamed: true } : { path: DEFAULT_TERMINATION_LOG, isNamed: false };
  await leaveRefusal(log, undefined, [error instanceof Error ? error.message : String(error)]);
}
