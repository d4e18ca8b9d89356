/**
 * The clock and the timers of the runtime in a simulated container. Entries of the agenda take the place of timers, so a
 * frozen supervisor is late, and a dead one does nothing.
 */
import type { Clock, Timer } from '../../src/runtime/clock.ts';
import type { Actor, Agenda, Entry } from './agenda.ts';
import type { Dice } from './dice.ts';

interface SimTimer extends Timer {
  entry: Entry;
}

export function clockOf(agenda: Agenda, by: Actor, dice: Dice, wallNow: () => string): Clock {
  return {
    now: () => ({ mono: agenda.monoMs, wall: wallNow() }),
    timers: {
      performance: { now: () => agenda.monoMs },
      // Node's timers take whole milliseconds, and at least one; they are often late.
      setTimeout: (does, ms) => timerOf(agenda.in(Math.max(1, Math.trunc(ms)) + dice.short(6), by, does)),
      setInterval: (does, ms) => {
        const timer = timerOf(agenda.in(ms, by, () => turn()));
        const turn = (): void => {
          timer.entry = agenda.in(ms, by, turn);
          does();
        };
        return timer;
      },
      clearTimeout: (timer) => agenda.cancel((timer as SimTimer | undefined)?.entry),
      setImmediate: (does) => void agenda.in(0, by, does),
    },
  };
}

function timerOf(entry: Entry): SimTimer {
  const timer = { entry, unref: () => timer };
  return timer;
}
