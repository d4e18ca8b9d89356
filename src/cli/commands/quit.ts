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
import { accepted, readArguments, refusalOf } from './arguments.ts';

const refuse = refusalOf('quit');

export async function quit(args: readonly string[]): Promise<void> {
  const { flags, words } = readArguments('quit', args);
  if (words.length === 0) throw refuse('no sidecar is named; write one such as istio, or a URL');
  const text = flags.timeout ?? formatDuration(QUIT_MS);
  const timeoutMs = accepted('quit', flagLabel('timeout', text), parseSomeTime(text));
  const quits = parseQuits(words.join(','));
  if (!quits.ok) throw refuse(quits.why);
  const ends = await Promise.all(
    quits.value.map(async (action) => ({ name: action.name, ...(await askToQuit(action, timeoutMs)) })),
  );
  for (const { name, ok, detail } of ends) {
    if (ok) await print(`${name}: ${detail}\n`);
    else warn(`cannot make ${name} leave: ${detail}`);
  }
  if (ends.some(({ ok }) => !ok)) process.exitCode = NOT_GONE;
}

const NOT_GONE = 1;

function askToQuit(action: QuitAction, timeoutMs: number): Promise<ActionEnd> {
  return new Promise((onEnd) => startAction(action, { timeoutMs, onEnd }));
}
