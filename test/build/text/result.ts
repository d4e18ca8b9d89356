/** A list of results, printed by one Node to be compared with that of another. */

/** What was asked, and the answer as JSON. */
export type Result = readonly [name: string, answer: string];

export function row(name: string, make: () => unknown): Result {
  try {
    return [name, JSON.stringify(make()) ?? 'undefined'];
  } catch (error) {
    return [name, `throws ${error}`];
  }
}

export function print(results: readonly Result[]): void {
  process.stdout.write(JSON.stringify(results));
}
