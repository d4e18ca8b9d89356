/** The timeline of a run: its members, the faults, and what each member did, in virtual milliseconds. */
import { Coverage } from './coverage.ts';
import type { Scenario } from './scenario.ts';
import { simulate } from './simulate.ts';

const WIDTH = 9;

export async function timelineOf(scenario: Scenario): Promise<readonly string[]> {
  const lines: string[] = [];
  const column = Math.max(4, ...scenario.members.map(({ config }) => config.name.length)) + 2;
  const breach = await simulate(scenario, new Coverage(), (atMs, who, what) => {
    lines.push(`${String(atMs).padStart(WIDTH)} ms  ${who.padEnd(column)}${what}`);
  });
  const end = breach === undefined ? 'no law is broken' : `"${breach.law}" is broken by ${breach.who}: ${breach.what}`;
  return [...headOf(scenario), ...lines, end];
}

function headOf({ seed, policy, graceMs, volume, members, faults, race }: Scenario): readonly string[] {
  const { stale, ...rest } = volume;
  return [
    `seed ${seed}: restart policy ${policy}, grace ${graceMs} ms, volume ${JSON.stringify(rest)}`,
    ...stale.map(({ name, is, of }) => `  found at the start: ${name}, ${is}, of ${of}`),
    ...members.map(
      ({ config, lives, ...own }) =>
        `  ${config.name}: ${declared(config)}; ${JSON.stringify(own)}; lives ${JSON.stringify(lives)}`,
    ),
    ...faults.map(({ do: what, atMs, ...details }) => `  fault at ${atMs} ms: ${what} ${JSON.stringify(details)}`),
    ...(race === undefined ? [] : [`  race: ${JSON.stringify(race)}`]),
  ];
}

function declared(config: object): string {
  const isEmpty = (value: unknown): boolean => Array.isArray(value) && value.length === 0;
  const pairs = Object.entries(config).filter(([key, value]) => !DULL.has(key) && !isEmpty(value));
  return JSON.stringify(Object.fromEntries(pairs));
}

const DULL: ReadonlySet<string> = new Set(['name', 'stopSignals', 'solo', 'reload', 'quit', 'startFailureCode']);
