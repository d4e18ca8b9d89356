/**
 * The parts of `npm run test:faults`, in their order. Each is a program of its own whose exit code is its verdict; the
 * real rounds come after them, see `run.ts`.
 */
export interface Part {
  readonly name: string;
  /** Arguments of Node. */
  readonly argv: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

export const PARTS: readonly Part[] = [
  { name: 'simulated pods', argv: ['test/sim/run.ts', '--runs', '1000000'] },
  { name: 'hostile graveyards', argv: ['test/hostile/run.ts', '--seconds', '600'] },
  // It must end as it does without.
  {
    name: 'all tests of pods, K01-K19 and J01-J18 among them, with supervisors that are killed',
    argv: ['test/run.ts', 'test/pods/'],
    env: { TEST_SUPERVISOR_KILLS: '1' },
  },
  {
    name: 'P12: 500 supervisors are killed',
    argv: ['test/run.ts', '--grep', 'P12 leaves', 'test/pid1/undisturbed'],
    env: { TEST_ROUNDS: '500' },
  },
  { name: 'stops while no supervisor can be started, 20 of each', argv: ['test/stops/run.ts', '--rounds', '20'] },
  { name: 'a soak of 20 minutes', argv: ['test/scale/soak.ts', '--minutes', '20'] },
];

/** With `--containers`: the same in containers of an engine. */
export const IN_CONTAINERS: readonly Part[] = [
  {
    name: 'K01-K19 and J01-J18 in containers with supervisors that are killed',
    argv: ['test/run.ts', '--containers', '--grep', String.raw`[JK]\d\d`, 'test/pods/', 'test/pid1/'],
    env: { TEST_SUPERVISOR_KILLS: '1' },
  },
];
