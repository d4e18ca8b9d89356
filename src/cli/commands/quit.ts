/**
 * `sexton quit [--timeout 10s] PRESET|URL...`: asks sidecars that cannot be wrapped to leave, all at the same time, and
 * waits until they have. For the end of a command that `--quit` does not know of.
 */
import { flagLabel } from '../../config/given.ts';
import { formatDuration, parseSomeTime } from '../../config/notation/duration.ts';
import { parseQuits } from '../../config/notation/sidecars.ts';
import type { QuitAction } from '../../core/config.ts';
import { QUIT_MS } from '../../core/lifecycle/tasks.ts';
import { type ActionEnd, startAction } from '../../runtime/probes/probe.ts';
import { warn } from '../../text/errors.ts';
import { print } from '../../text/print.ts';
import { readArguments, refusalOf } from './arguments.ts';

const refuse = refusalOf('quit');

export async function quit(args: readonly string[]): Promise<void> {
  const { quits, timeoutMs } = readQuitArguments(args);
  const ends = await Promise.all(quits.map((action) => askToQuit(action, timeoutMs)));
  for (const [index, { ok, detail }] of ends.entries()) {
    const { name = '' } = quits[index] ?? {};
    if (ok) await print(`${name}: ${detail}\n`);
    else warn(`cannot make ${name} leave: ${detail}`);
  }
  if (ends.some(({ ok }) => !ok)) process.exitCode = NOT_GONE;
}

const NOT_GONE = 1;

function askToQuit(action: QuitAction, timeoutMs: number): Promise<ActionEnd> {
  return new Promise((resolve) => startAction(action, { timeoutMs, onEnd: resolve }));
}

function readQuitArguments(args: readonly string[]): { quits: readonly QuitAction[]; timeoutMs: number } {
  const { flags, words } = readArguments('quit', args, Number.POSITIVE_INFINITY);
  if (words.length === 0) throw refuse('no sidecar is named; write one such as istio, or a URL');
  const text = flags.timeout ?? formatDuration(QUIT_MS);
  const timeout = parseSomeTime(text);
  if (!timeout.ok) throw refuse(`${flagLabel('timeout', text)}: ${timeout.why}`);
  const quits = parseQuits(words.join(','));
  if (!quits.ok) throw refuse(quits.why);
  return { quits: quits.value, timeoutMs: timeout.value };
}
