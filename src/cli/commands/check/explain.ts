/**
 * `sexton explain [-o text|json] [flags] [--] command`: the configuration that `run` would have here, and where
 * each value came from. Nothing is started.
 */
import { existsSync, readFileSync } from 'node:fs';
import type { Env } from '../../../config/env.ts';
import { resolveRun } from '../../../config/resolve.ts';
import { whyWithoutInit } from '../../../runtime/host/without-init.ts';
import { isLocalFile } from '../../../runtime/local-volume.ts';
import { ANOTHER_KERNEL, whyAwakeByFlags } from '../../../runtime/sleep/why-awake.ts';
import { SextonError } from '../../../text/errors.ts';
import { asWarning, outputWidth, print, printJson, withBoldHeader } from '../../../text/print.ts';
import { formatTable } from '../../../text/table.ts';
import { machine, NO_INIT, NO_NOTIFY, whyNode } from '../../machine.ts';
import { readLeadingFlags } from '../arguments.ts';

export async function explain(args: readonly string[], env: Env): Promise<void> {
  const { flags, rest: commandLine } = readLeadingFlags('explain', args);
  const why = whyNode(commandLine, env);
  // A command line copied from a manifest may begin with `run`, which is accepted.
  const resolution = await resolveRun(commandLine, env, { ...machine, whyNode: why });
  if (!resolution.ok) throw new SextonError('badConfiguration', { problems: resolution.problems });
  const { run, sources, warnings, awakeFor } = resolution;
  if (run.member.notifies && why === NO_INIT) throw new SextonError('badConfiguration', { problems: [NO_NOTIFY] });
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
    return void (await printJson({ ...rest, command: program.argv, sources, node, warnings, notes }));
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

/**
 * How the kernel reports changes in the graveyard here; undefined: there is no graveyard, no init, or nothing to be seen.
 * The readers are src/init/supervisor/directory.c and src/runtime/graveyard/file-events.ts.
 */
async function watchingNote(graveyard: string | undefined): Promise<string | undefined> {
  if (graveyard === undefined || whyWithoutInit() !== undefined) return undefined;
  if (!(await isLocalFile(graveyard)))
    return `the supervisor does not sleep, and takes an inotify instance: ${ANOTHER_KERNEL}`;
  const lack = lackOfDnotify();
  if (lack === undefined) return undefined;
  if (lack === 'none') return 'init watches the graveyard by dnotify, without an inotify instance';
  return `init watches the graveyard by one of the inotify instances of its uid, as this kernel has no dnotify (fs.dir-notify-enable is ${lack})`;
}

/** undefined: /proc does not tell. A kernel that is built without dnotify does not have its switch. */
function lackOfDnotify(): 'none' | '0' | 'missing' | undefined {
  try {
    return readFileSync(`${SWITCHES}/dir-notify-enable`, 'utf8').trim() === '0' ? '0' : 'none';
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT' && existsSync(SWITCHES);
    return isMissing ? 'missing' : undefined;
  }
}

const SWITCHES = '/proc/sys/fs';
