/**
 * `sexton explain [-o text|json] [flags] [--] command`: the configuration that `run` would have here, and where
 * each value came from. Nothing is started.
 */
import { existsSync, readFileSync } from 'node:fs';
import { between, intervalText } from '../../../check/stop/interval.ts';
import { drainOf } from '../../../check/stop/plan.ts';
import type { Env } from '../../../config/env.ts';
import { resolveRun } from '../../../config/resolve.ts';
import type { RunConfig, SignalTo } from '../../../config/run-config.ts';
import type { MemberConfig } from '../../../core/config.ts';
import { ladderOf } from '../../../core/ladder.ts';
import { predictLateMs } from '../../../core/lifecycle/stop/untold.ts';
import { ordersOf, wordsOf } from '../../../core/orders.ts';
import { ASSUMED_GRACE_MS, lastTurnMs } from '../../../core/pod/deadline.ts';
import { SIGTERM, signalName } from '../../../core/signals.ts';
import { initialState } from '../../../core/state/state.ts';
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
  const stop = whomStopReaches(run, why === NO_INIT);
  const orders = why === NO_INIT ? [] : firstOrders(run.member);
  if (flags.output === 'json') {
    const { program, ...rest } = run;
    return void (await printJson({ ...rest, command: program.argv, sources, node, stop, orders, warnings, notes }));
  }
  // A value of several lines takes a row for each.
  const rows = sources.flatMap(({ key, value, source }) => value.split('\n').map((line) => [key, line, source]));
  const table = withBoldHeader(formatTable(['KEY', 'VALUE', 'SOURCE'], rows, outputWidth()));
  const lines = [
    `node: ${node}\n`,
    `stop: ${stop}\n`,
    ...orders.map((order) => `init: ${order}\n`),
    ...notes.map((note) => `note: ${note}\n`),
    ...warnings.map((warning) => `${asWarning('warning:')} ${warning}\n`),
  ];
  await print(`${table}${lines.join('')}`);
}

const NO_NODE =
  'no Node process until the command cannot start, is killed at the end of its grace period or leaves processes behind unasked';

/** The orders that init carries out without a supervisor while the command runs and no other member is known. */
function firstOrders(member: MemberConfig): readonly string[] {
  const now = { mono: 0, wall: '0' };
  const state = initialState({ hostId: '', bootId: '', startedAtMs: 0, now, solo: member.solo });
  const running = { is: 'alive', id: 1, pid: 1, sinceMs: 0 } as const;
  return wordsOf(ordersOf(member, { ...state, births: 1, child: running, peers: {} }), 0);
}

/** Init does this in src/init/children/roots.c, and src/runtime/host/execa.ts where there is none. */
function whomStopReaches({ member, host: { signalTo } }: RunConfig, isWithoutInit: boolean): string {
  const [{ signal }] = ladderOf(member, SIGTERM);
  const name = signalName(signal).slice('SIG'.length);
  if (isWithoutInit)
    return `${name} reaches ${signalTo === 'first' ? 'the first process' : 'the process group'} alone: ${NO_INIT}`;
  const { gracePeriodMs } = member;
  const { minMs, maxMs } = drainOf(member);
  const lastMs = lastTurnMs({ sinceMs: 0, atMs: gracePeriodMs ?? ASSUMED_GRACE_MS });
  const isAlone = member.solo && member.role === 'main';
  const [from, until] = [Math.min(minMs, lastMs), isAlone ? Math.min(maxMs, lastMs) : lastMs].map((sentMs) =>
    predictLateMs(member, SIGTERM, sentMs),
  );
  const late =
    from === undefined || until === undefined
      ? 'what has not had it gets none, as it is not known when KILL comes without --grace-period'
      : `what has not had it gets it ${intervalText(between(from, until))} after the stop request`;
  return `${name} reaches ${WHOM[signalTo]}; ${late}`;
}

const WHOM: Readonly<Record<SignalTo, string>> = {
  tree: 'parents before their children (the process group where sexton is neither PID 1 nor a subreaper)',
  group: 'the process group, and what the first process has left behind',
  first: 'the first process, and what that has left behind',
};

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
