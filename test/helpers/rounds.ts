/** Repeats a test many times, a few at a time, with random choices. A failure shows the seed that repeats them. */

import { atOnce, byEngine } from './engine.ts';

export function roundsOr(usual: number, inPodman: number): number {
  return Number(process.env.TEST_ROUNDS ?? byEngine({ namespaces: usual, podman: inPodman }));
}

export const SEED = Number(process.env.TEST_SEED ?? Date.now() % 1_000_000);

/** Numbers from 0 up to 1, the same for the same seed (mulberry32). */
export function chance(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Runs `round` for 0 to `count` - 1 or until it is enough, at most `width` at once. The first failure ends it. */
export async function inRounds(
  count: number,
  width: number,
  round: (index: number) => Promise<void>,
  isEnough: () => boolean = () => false,
): Promise<void> {
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < count && !isEnough()) {
      const index = next++;
      await round(index).catch((cause) => {
        next = count;
        throw new Error(`round ${index} of ${count}, seed ${SEED}: ${cause instanceof Error ? cause.message : cause}`, {
          cause,
        });
      });
    }
  };
  await Promise.all(Array.from({ length: atOnce(width) }, lane));
}
