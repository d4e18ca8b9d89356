/** Finds the valid word nearest to a wrong one, for messages. Case, dashes and underscores do not count. */

/** `undefined`: more than a third of the word would have to change, and neither begins the other or almost does so. */
export function nearest<const T extends string>(wrong: string, words: readonly T[]): T | undefined {
  const plain = normalise(wrong);
  if (plain === '') return undefined;
  const best = closest(wrong, words, 3);
  if (best !== undefined) return best;
  const begun = words.find((word) => isBeginning(plain, normalise(word)) || isBeginning(normalise(word), plain));
  const isAlmost = (word: string): boolean => {
    const beginning = normalise(word).slice(0, plain.length + 1);
    // An argument may have 128 KiB. To compare one with every flag would take a second.
    return plain.length <= beginning.length + 1 && editDistance(plain, beginning) <= 1;
  };
  return (
    begun ??
    (plain.length > 3 ? words.find(isAlmost) : undefined) ??
    words.find((word) => OFF.test(plain) && OFF.test(word))
  );
}

/** Words of which a list has mostly one. */
const OFF = /^(off|none|never|no|false)$/;

/** The remedy for a wrong word; `otherwise`: where no valid word is near. */
export function didYouMean(near: string | undefined, otherwise: string): string {
  return near === undefined ? otherwise : `did you mean ${near}?`;
}

/** The nearest word with at most one wrong letter in `share`. */
export function closest<const T extends string>(wrong: string, words: readonly T[], share: number): T | undefined {
  const plain = normalise(wrong);
  let best: T | undefined;
  let bestDistance = Math.max(1, Math.floor(plain.length / share)) + 1;
  for (const word of words) {
    const name = normalise(word);
    if (Math.abs(plain.length - name.length) >= bestDistance) continue;
    const distance = editDistance(plain, name);
    if (distance < bestDistance) {
      best = word;
      bestDistance = distance;
    }
  }
  return best;
}

/** Insertions, deletions, substitutions and swaps of neighbours that lead from `a` to `b`. */
export function editDistance(a: string, b: string): number {
  const rows = [Array.from({ length: b.length + 1 }, (_, column) => column)];
  const at = (row: number, column: number): number => rows[row]?.[column] ?? Number.POSITIVE_INFINITY;
  for (let row = 1; row <= a.length; row++) {
    const costs = [row];
    rows.push(costs);
    for (let column = 1; column <= b.length; column++) {
      const replaced = at(row - 1, column - 1) + (a[row - 1] === b[column - 1] ? 0 : 1);
      const cost = Math.min(at(row - 1, column) + 1, at(row, column - 1) + 1, replaced);
      const isSwap = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      costs.push(isSwap ? Math.min(cost, at(row - 2, column - 2) + 1) : cost);
    }
  }
  return at(a.length, b.length);
}

function isBeginning(short: string, long: string): boolean {
  return short.length >= 3 && long.startsWith(short);
}

function normalise(word: string): string {
  return word.toLowerCase().replace(/[-_]/g, '');
}
