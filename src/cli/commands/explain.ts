/**
 * `sexton explain [-o text|json] [flags] [--] command`: the configuration that `run` would have here, and where
 * each value came from. Nothing is started.
 */

import type { Env } from '../../config/env.ts';
import { resolveRun } from '../../config/resolve.ts';
import { whyAwakeByFlags } from '../../runtime/sleep/why-awake.ts';
import { SextonError } from '../../text/errors.ts';
import { asWarning, outputWidth, print, withBoldHeader } from '../../text/print.ts';
import { formatTable } from '../../text/table.ts';
import { machine, whyNode } from '../machine.ts';
import { readLeadingFlags } from './arguments.ts';
import { watchingNote } from './watching.ts';

export async function explain(args: readonly string[], env: Env): Promise<void> {
  const { flags, rest: commandLine } = readLeadingFlags('explain', args);
  const why = whyNode(commandLine, env);
  // A command line copied from a manifest may begin with `run`, which is accepted.
  const resolution = await resolveRun(commandLine, env, { ...machine, whyNode: why });
  if (!resolution.ok) throw new SextonError('badConfiguration', { problems: resolution.problems });
  const { run, sources, warnings, awakeFor } = resolution;
  const needed = whyAwakeByFlags(awakeFor);
  const watching = await watchingNote(run.graveyard);
  const notes = [
    ...resolution.notes,
    ...(needed === undefined ? [] : [`the supervisor does not sleep: ${needed}`]),
    ...(watching === undefined ? [] : [watching]),
  ];
  const node = why === undefined ? NO_NODE : `there is a Node process from the start: ${why}`;
  if (flags.output === 'json') {
    const { program, ...rest } = run;
    await print(
      `${JSON.stringify({ ...rest, command: program.argv, sources, node, warnings, notes }, undefined, 2)}\n`,
    );
    return;
  }
  // A value of several lines takes a row for each.
  const rows = sources.flatMap(({ key, value, source }) => value.split('\n').map((line) => [key, line, source]));
  const table = withBoldHeader(formatTable(['KEY', 'VALUE', 'SOURCE'], rows, outputWidth()));
  const lines = [
    `node: ${node}\n`,
    ...notes.map((note) => `note: ${note}\n`),
    ...warnings.map((warning) => `${asWarning('warning:')} ${warning}\n`),
  ];
  await print(`${table}${lines.join('')}`);
}

const NO_NODE =
  'no Node process until the command cannot start, is killed at the end of its grace period or leaves processes behind, or the termination log is to be written';
