/**
 * `sexton quit [--timeout 10s] PRESET|URL...`: asks sidecars that cannot be wrapped to leave, all at the same time, and waits until they
 * have. For the end of a command that `--quit` does not know of.
 */
import type { QuitAction } from '../core/config.ts';
import { QUIT_MS } from '../core/tasks.ts';
import { type ActionEnd, startAction } from '../runtime/probes/probe.ts';
import { formatDuration, parseSomeTime } from './duration.ts';
import { SextonError, warn } from './errors.ts';
import { flagLabel } from './given.ts';
import { print } from './print.ts';
import { parseQuits } from './quit-presets.ts';
import { refuseRest, takeToolFlags } from './tool-flags.ts';

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
const FLAGS = ['timeout'] as const;

function endOf(action: QuitAction, timeoutMs: number): Promise<ActionEnd> {
  return new Promise((resolve) => startAction(action, { timeoutMs, onEnd: resolve }));
}

/** Flags and words in any order. */
function readArguments(args: readonly string[]): { quits: readonly QuitAction[]; timeoutMs: number } {
  const words: string[] = [];
  let text = formatDuration(QUIT_MS);
  let left = args;
  while (left.length > 0) {
    const { flags, rest } = takeToolFlags('quit', left, FLAGS);
    text = flags.timeout ?? text;
    const [word, ...others] = rest;
    if (word?.startsWith('-')) refuseRest('quit', rest, FLAGS);
    if (word !== undefined) words.push(word);
    left = others;
  }
  if (words.length === 0) throw wrong('nobody is named; write a sidecar such as istio, or a URL');
  const timeout = parseSomeTime(text);
  if (!timeout.ok) throw wrong(`${flagLabel('timeout', text)}: ${timeout.why}`);
  const quits = parseQuits(words.join(','));
  if (!quits.ok) throw wrong(quits.why);
  return { quits: quits.value, timeoutMs: timeout.value };
}

function wrong(problem: string): SextonError {
  return new SextonError('badArguments', { subcommand: 'quit', problem });
}
