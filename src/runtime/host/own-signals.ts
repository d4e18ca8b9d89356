/**
 * Receives every signal that Node can handle without harm, as Linux's numbers, for a host that is not init. Node shows
 * neither the sender of a signal nor any real-time signal.
 */
import { constants } from 'node:os';
import { onExit } from 'signal-exit';
import { signalNumber } from '../../core/signals.ts';

/**
 * Not taken: KILL and STOP cannot be. A handler for what the CPU raises would be entered again for ever (BUS FPE ILL
 * SEGV). CHLD is Node's own. PIPE would come from our own writes to a log whose reader is gone. TTIN and TTOU have to
 * stop us as job control wants. PROF belongs to the profiler.
 */
const NOT_TAKEN: ReadonlySet<string> = new Set(
  ['KILL', 'STOP', 'BUS', 'FPE', 'ILL', 'SEGV', 'CHLD', 'PIPE', 'TTIN', 'TTOU', 'PROF'].map((name) => `SIG${name}`),
);

/** Returns what puts everything back. */
export function takeSignals(onSignal: (signal: number) => void): () => void {
  const taken = new Map<NodeJS.Signals, () => void>();
  const seen = new Set<number>();
  for (const name of Object.keys(constants.signals) as NodeJS.Signals[]) {
    const number = signalNumber(name);
    if (number === undefined || NOT_TAKEN.has(name)) continue;
    // An alias (IOT, POLL) gets a listener that reports nothing. Otherwise signal-exit would be alone on it and end the
    // process.
    const listener = seen.has(number) ? () => {} : () => onSignal(number);
    seen.add(number);
    taken.set(name, listener);
    process.on(name, listener);
  }
  // signal-exit raises a signal again, to die of it, when its listener is the only one. A library may bring it along.
  // `true` means "handled". It is registered after our own listeners, which signal-exit has to count.
  const stopHandling = onExit(() => true);
  return () => {
    stopHandling();
    for (const [name, listener] of taken) process.off(name, listener);
  };
}
