/**
 * What a subcommand that is the first process of its container leaves in the termination log when it fails.
 */
import { leaveRefusal } from '../runtime/termination-log.ts';
import type { Env } from './env.ts';
import { DEFAULT_TERMINATION_LOG, parseTerminationLog } from './observe-values.ts';

export async function leaveLastWord(error: unknown, env: Env): Promise<void> {
  const named = parseTerminationLog(env.SEXTON_TERMINATION_LOG ?? '');
  const log = named.ok ? { path: named.value, isNamed: true } : { path: DEFAULT_TERMINATION_LOG, isNamed: false };
  await leaveRefusal(log, undefined, [error instanceof Error ? error.message : String(error)]);
}
