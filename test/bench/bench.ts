/**
 * `npm run bench -- [case...] [--rounds N] [--pods N] [--minutes N]`: sexton against other inits and bare Node, all in
 * the same run, round by round; pods and minutes are those of `fleet`. A measurement and never a test: a missed aim is printed, and only what could not be run makes it exit 1.
 */
import { parseArgs } from 'node:util';
import { drain } from './cases/drain.ts';
import { exit } from './cases/exit.ts';
import { fleet } from './cases/fleet.ts';
import { growth } from './cases/growth.ts';
import { limited } from './cases/limited.ts';
import { mainsEnd } from './cases/mains-end.ts';
import { memory } from './cases/memory.ts';
import { peerDeath } from './cases/peer-death.ts';
import { probes } from './cases/probes.ts';
import { signal, stop } from './cases/signal.ts';
import { start } from './cases/start.ts';
import { wake } from './cases/wake.ts';
import { workingSet } from './cases/working-set.ts';
import type { Case, Fleet } from './measurement.ts';
import { buildPrograms } from './programs.ts';
import { machineLine, tableOf } from './report.ts';
import { findSubjects } from './subjects.ts';

const CASES: readonly Case[] = [
  start,
  signal,
  stop,
  exit,
  memory,
  workingSet,
  probes,
  drain,
  peerDeath,
  mainsEnd,
  wake,
  growth,
  fleet,
  limited,
];

async function bench({ wanted, rounds, fleet: fleetSize }: Given): Promise<boolean> {
  const subjects = findSubjects();
  const programs = buildPrograms();
  let ok = true;
  print(machineLine());
  for (const name of subjects.missing) print(`left out, not there: ${name}`);
  for (const it of wanted) {
    try {
      const measurements = await it.run({ programs, subjects, rounds: rounds ?? it.rounds, fleet: fleetSize });
      for (const measurement of measurements) print(`\n${tableOf(measurement)}`);
    } catch (error) {
      ok = false;
      print(`\n${it.name}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  print(`\nall in ${(performance.now() / 1000).toFixed(0)} s`);
  return ok;
}

interface Given {
  readonly wanted: readonly Case[];
  readonly rounds: number | undefined;
  readonly fleet: Fleet;
}

/** Undefined, with a message on stderr: the command line is invalid. */
function readArguments(): Given | undefined {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        rounds: { type: 'string' },
        pods: { type: 'string', default: '100' },
        minutes: { type: 'string', default: '1' },
      },
    });
    const unknown = positionals.filter((name) => !CASES.some((it) => it.name === name));
    if (unknown.length > 0) throw new Error(`no such case: ${unknown.join(', ')}`);
    const wanted =
      positionals.length === 0
        ? CASES.filter(({ isLong }) => !isLong)
        : CASES.filter((it) => positionals.includes(it.name));
    const { rounds, pods, minutes } = values;
    return {
      wanted,
      rounds: rounds === undefined ? undefined : countFrom('rounds', rounds),
      fleet: { pods: countFrom('pods', pods), minutes: countFrom('minutes', minutes) },
    };
  } catch (error) {
    process.stderr.write(`bench: ${error instanceof Error ? error.message : String(error)}\n`);
    process.stderr.write(
      `usage: npm run bench -- [${CASES.map(({ name }) => name).join('|')}...] [--rounds N] [--pods N] [--minutes N]\n`,
    );
    return undefined;
  }
}

function countFrom(flag: string, text: string): number {
  if (!/^[1-9][0-9]{0,4}$/.test(text)) throw new Error(`--${flag} takes a number from 1`);
  return Number(text);
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

const given = readArguments();
if (given === undefined) process.exitCode = 2;
else if (!(await bench(given))) process.exitCode = 1;
