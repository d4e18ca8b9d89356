/**
 * The parts of `npm run test:faults`, in their order. Each is a program of its own whose exit code is its verdict; the real rounds, which
 * come in between, are in `run.ts`.
 */
export interface Part {
  readonly name: string;
  /** Arguments of Node. */
  readonly argv: readonly string[];
}

export const PARTS: readonly Part[] = [{ name: 'simulated pods', argv: ['test/sim/run.ts', '--runs', '1000000'] }];
