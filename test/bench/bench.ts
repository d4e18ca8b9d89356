/**
 * `npm run bench -- [case...] [--rounds N] [--json FILE]`: sexton against other inits and bare Node, all in the same run, round by
 * round. A measurement and never a test: a missed aim is printed, and only what could not be run makes it exit 1.
 */
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { check } from './cases/check.ts';
import { drain } from './cases/drain.ts';
import { exit } from './cases/exit.ts';
import { growth } from './cases/growth.ts';
import { idle300 } from './cases/idle-300.ts';
import { mainsEnd } from './cases/mains-end.ts';
import { memory } from './cases/memory.ts';
import { orphans } from './cases/orphans.ts';
import { peerDeath } from './cases/peer-death.ts';
import { probes } from './cases/probes.ts';
import { report } from './cases/report.ts';
import { signal, stop } from './cases/signal.ts';
import { start } from './cases/start.ts';
import type { Case, Measurement } from './measurement.ts';
import { buildPrograms } from './programs.ts';
import { jsonOf, machineLine, tableOf } from './report.ts';
import { findSubjects } from './subjects.ts';

const CASES: readonly Case[] = [
  start,
  signal,
  stop,
  exit,
  memory,
  orphans,
  probes,
  drain,
  peerDeath,
  mainsEnd,
  growth,
  report,
  check,
  idle300,
];

async function bench(
  wanted: readonly Case[],
  rounds: number | undefined,
  jsonFile: string | undefined,
): Promise<boolean> {
  const machine = machineLine();
  const subjects = findSubjects();
  const programs = buildPrograms();
  const done: Measurement[] = [];
  let ok = true;
  print(machine);
  for (const name of subjects.missing) print(`left out, not there: ${name}`);
  for (const it of wanted) {
    try {
      const measurements = await it.run({ programs, subjects, rounds: rounds ?? it.rounds });
      for (const measurement of measurements) print(`\n${tableOf(measurement)}`);
      done.push(...measurements);
    } catch (error) {
      ok = false;
      print(`\n${it.name}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  print(`\nall in ${(performance.now() / 1000).toFixed(0)} s`);
  if (jsonFile !== undefined) writeFileSync(jsonFile, jsonOf(machine, done));
  return ok;
}

/** undefined, with a word on stderr: the command line makes no sense. */
function readArguments(): { wanted: Case[]; rounds: number | undefined; json: string | undefined } | undefined {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: { rounds: { type: 'string' }, json: { type: 'string' } },
    });
    const unknown = positionals.filter((name) => !CASES.some((it) => it.name === name));
    if (unknown.length > 0) throw new Error(`no such case: ${unknown.join(', ')}`);
    if (values.rounds !== undefined && !/^[1-9][0-9]{0,4}$/.test(values.rounds))
      throw new Error('--rounds takes a number from 1');
    const wanted =
      positionals.length === 0
        ? CASES.filter(({ isLong }) => !isLong)
        : CASES.filter((it) => positionals.includes(it.name));
    return { wanted, rounds: values.rounds === undefined ? undefined : Number(values.rounds), json: values.json };
  } catch (error) {
    process.stderr.write(`bench: ${error instanceof Error ? error.message : String(error)}\n`);
    process.stderr.write(
      `usage: npm run bench -- [${CASES.map(({ name }) => name).join('|')}...] [--rounds N] [--json FILE]\n`,
    );
    return undefined;
  }
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

const given = readArguments();
if (given === undefined) process.exitCode = 2;
else if (!(await bench(given.wanted, given.rounds, given.json))) process.exitCode = 1;
