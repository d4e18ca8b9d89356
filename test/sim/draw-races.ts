/** Races: what comes at the worst moment. Their own dice keep a run without a race what it was. */
import { Dice } from './dice.ts';
import type { MemberScenario, Race } from './scenario.ts';

export function drawRace(seed: number, members: readonly MemberScenario[]): Race | undefined {
  const dice = new Dice(seed, 4);
  if (!dice.chance(0.1)) return undefined;
  const fromMs = dice.short(5_000);
  const isOfEnd = dice.chance(0.5);
  // A command that would not end by itself has no prepared end.
  const ending = [...members.keys()].filter((index) => members[index]?.lives[0]?.endsAfterMs !== undefined);
  const [first = 0, ...others] = isOfEnd && ending.length > 0 ? ending : members.keys();
  const who = dice.pick([first, ...others]);
  if (isOfEnd)
    return {
      fromMs,
      who,
      at: 'prepared end',
      what: dice.pick(['sexton stop', 'sexton restart']),
      graceMs: dice.chance(0.5) ? undefined : dice.pick([1_500, 4_000]),
      among: dice.chance(0.7) ? undefined : [members[who]?.config.name ?? ''],
    };
  return dice.pick<Race>([
    { fromMs, who, at: 'sleep', what: 'signal', signal: dice.pick([15, 15, 10]) },
    { fromMs, who, at: 'sleep', what: 'end', code: dice.pick([0, 0, 7]) },
    { fromMs, who, at: 'sleep', what: 'KILL' },
  ]);
}
