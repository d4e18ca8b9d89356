/**
 * `sexton quit [--timeout 10s] PRESET|URL...`: asks sidecars that cannot be wrapped to leave, and waits until they have. For the end of
 * a command that `--quit` does not know of.
 */
import { writeSync } from 'node:fs';
import { parseArgs } from 'node:util';
import type { QuitAction } from '../core/config.ts';
import { QUIT_MS } from '../core/tasks.ts';
import { type ActionEnd, startAction } from '../runtime/probes/probe.ts';
import { formatDuration, parseSomeTime } from './duration.ts';
import { SextonError } from './errors.ts';
import { print } from './print.ts';
import { parseQuit } from './quit-presets.ts';

export async function quit(args: readonly string[]): Promise<void> {
  const { quits, timeoutMs } = readArguments(args);
  const ends = await Promise.all(quits.map((action) => endOf(action, timeoutMs)));
  for (const [index, { ok, detail }] of ends.entries()) {
    const { name = '' } = quits[index] ?? {};
    if (ok) await print(`${name}: ${detail}\n`);
    else warn(`cannot make ${name} leave: ${detail}`);
  }
  if (ends.some(({ ok }) => !ok)) process.exitCode = NOT_GONE;
}

const NOT_GONE = 1;

function endOf(action: QuitAction, timeoutMs: number): Promise<ActionEnd> {
  return new Promise((resolve) => startAction(action, { timeoutMs, onEnd: resolve }));
}

function readArguments(args: readonly string[]): { quits: readonly QuitAction[]; timeoutMs: number } {
  let parsed: { values: { timeout?: string | undefined }; positionals: string[] };
  try {
    parsed = parseArgs({ args: [...args], options: { timeout: { type: 'string' } }, allowPositionals: true });
  } catch (error) {
    throw wrong(error instanceof Error ? error.message : String(error));
  }
  const { values, positionals } = parsed;
  if (positionals.length === 0) throw wrong('nobody is named; write a preset such as istio, or a URL');
  const timeout = parseSomeTime(values.timeout ?? formatDuration(QUIT_MS));
  if (!timeout.ok) throw wrong(`--timeout ${values.timeout}: ${timeout.why}`);
  const quits = positionals.map((word) => {
    const quit = parseQuit(word);
    if (!quit.ok) throw wrong(quit.why);
    return quit.value;
  });
  return { quits, timeoutMs: timeout.value };
}

function wrong(problem: string): SextonError {
  return new SextonError('badArguments', { subcommand: 'quit', problem });
}

/** By descriptor, as all that sexton says on stderr. */
function warn(text: string): void {
  try {
    writeSync(2, `sexton: ${text}\n`);
  } catch {
    // Nobody listens: the exit code has to do.
  }
}
