/** Chance in the words of a plan. Another order of rolls gives another plan. */
export interface Dice {
  isTrue(probability: number): boolean;
  /** A whole number from `least` to `most`. */
  between(least: number, most: number): number;
  oneOf<T>(choices: readonly [T, ...T[]]): T;
  weighted<T>(choices: readonly (readonly [weight: number, choice: T])[]): T;
}

export function dice(random: () => number): Dice {
  const between = (least: number, most: number): number => least + Math.floor(random() * (most - least + 1));
  return {
    isTrue: (probability) => random() < probability,
    between,
    oneOf: (choices) => choices[between(0, choices.length - 1)] ?? choices[0],
    weighted: (choices) => {
      let left = random() * choices.reduce((sum, [weight]) => sum + weight, 0);
      for (const [weight, choice] of choices) {
        left -= weight;
        if (left < 0) return choice;
      }
      const last = choices.at(-1);
      if (last === undefined) throw new Error('internal error: nothing to choose from');
      return last[1];
    },
  };
}
