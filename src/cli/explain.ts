/**
 * `sexton explain [--format table|json] [flags] [--] command`: the configuration that `run` would have here, and where each
 * value came from. Nothing is started.
 */
import { resolveRun } from './config.ts';
import type { Env } from './env.ts';
import { SextonError } from './errors.ts';
import { machine } from './machine.ts';
import { outputWidth, print } from './print.ts';
import { formatTable } from './table.ts';
import { formatOf, takeToolFlags } from './tool-flags.ts';

export async function explain(args: readonly string[], env: Env): Promise<void> {
  const { flags, rest: commandLine } = takeToolFlags('explain', args, ['format']);
  const format = formatOf('explain', flags.format);
  // `run` before the flags, as people copy it from a manifest, is understood too.
  const resolution = await resolveRun(commandLine, env, machine);
  if (!resolution.ok) throw new SextonError('badConfiguration', { problems: resolution.problems });
  const { run, sources, warnings, notes } = resolution;
  if (format === 'json') {
    const { program, ...rest } = run;
    await print(`${JSON.stringify({ ...rest, command: program.argv, sources, warnings, notes }, undefined, 2)}\n`);
    return;
  }
  // A list of several lines is a row each.
  const rows = sources.flatMap(({ key, value, source }) => value.split('\n').map((line) => [key, line, source]));
  const table = formatTable(['KEY', 'VALUE', 'SOURCE'], rows, outputWidth());
  const lines = [...notes.map((note) => `note: ${note}\n`), ...warnings.map((warning) => `warning: ${warning}\n`)];
  await print(`${table}${lines.join('')}`);
}
