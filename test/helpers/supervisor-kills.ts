/**
 * TEST_SUPERVISOR_KILLS=SEED kills the supervisor of every container at random moments; every test must pass all the
 * same. TEST_SUPERVISOR_KILLS_TALLY=FILE grows by a byte with each kill. Tests that kill supervisors themselves, by
 * `killSupervisors`, may kill too many.
 */
import { appendFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Container } from './container.ts';
import { childrenOf, send } from './process.ts';
import { chance } from './rounds.ts';

/** Fewer than init takes for a supervisor that cannot be started at all. */
const KILLS = 3;
const seed = process.env.TEST_SUPERVISOR_KILLS;
const tally = process.env.TEST_SUPERVISOR_KILLS_TALLY;
const random = chance(Number(seed ?? 0));

export function killSupervisorAtRandom(
  pid1: () => number | undefined,
  isSupervisor: (pid: number) => boolean,
  over: Promise<unknown>,
): void {
  if (seed === undefined) return;
  let isOver = false;
  const end = (): void => {
    isOver = true;
  };
  over.then(end, end);
  void (async () => {
    for (let left = KILLS; left > 0 && !isOver; ) {
      // Half of them fall into its start.
      await sleep(random() < 0.5 ? random() * 150 : random() * 1_200, undefined, { ref: false });
      const parent = isOver ? undefined : pid1();
      const pid = parent === undefined ? undefined : childrenOf(parent).find(isSupervisor);
      if (pid === undefined || !send(pid, 'SIGKILL')) continue;
      left -= 1;
      if (tally !== undefined) appendFileSync(tally, '.');
    }
  })();
}

/** Kills the supervisors of a container, half of them in their start, until it ends. Resolves to how many it hit. */
export async function killSupervisors(container: Container, chances: () => number, times: number): Promise<number> {
  let hits = 0;
  let isOver = false;
  const over = container.ended.then(() => {
    isOver = true;
  });
  for (let n = 0; n < times && !isOver; n += 1) {
    const delayMs = chances() < 0.5 ? chances() * 150 : chances() * 600;
    const pid = await Promise.race([container.supervisor().catch(() => undefined), over]);
    if (typeof pid !== 'number') break;
    await sleep(delayMs);
    if (send(pid, 'SIGKILL')) hits += 1;
  }
  return hits;
}
