/**
 * Four times the same stop, each as PID 1 of a PID namespace of its own: TERM, and KILL when the grace period is over.
 * `node run.ts [seconds]`: the grace period, 5 when nothing is said; Kubernetes gives 30.
 *
 * Exits with 0 when each ended as the README says, with 2 when this machine has no PID namespaces for us.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { NODE, onStage, printTable, reportOf, SEXTON, type Stage, until } from '../stage.ts';

interface Case {
  readonly who: string;
  readonly argv: readonly string[];
  readonly expected: { readonly code: number; readonly cleaned: boolean | undefined };
}

interface Outcome {
  readonly code: number;
  readonly ms: number;
  /** undefined: it has nothing to clean up. */
  readonly cleaned: boolean | undefined;
}

const HERE = import.meta.dirname;
const graceMs = Number(process.argv[2] ?? 5) * 1_000;
const plain = [NODE, join(HERE, 'plain.mjs')];
const wrapped = ['/bin/sh', '-c', `${NODE} ${join(HERE, 'careful.mjs')} & wait`];
const underSexton = [SEXTON, 'run', '--log-level', 'error', '--'];

const CASES: readonly Case[] = [
  { who: 'a program without a handler', argv: plain, expected: { code: 137, cleaned: undefined } },
  { who: 'the same under sexton', argv: [...underSexton, ...plain], expected: { code: 143, cleaned: undefined } },
  { who: 'a shell around a careful program', argv: wrapped, expected: { code: 137, cleaned: false } },
  { who: 'the same under sexton', argv: [...underSexton, ...wrapped], expected: { code: 143, cleaned: true } },
];

/**
 * The first process that the shell starts is PID 1, and it mounts a /proc of its own. The shell reports how it ended,
 * and only that: it is what makes 137 of a KILL. Should the shell be killed, PID 1 goes with it.
 */
const REPORT = 'exec 3>&2 2>/dev/null; (exec "$@" 2>&3 3>&-); exit $?';
const PID_1 = ['/bin/sh', '-c', REPORT, 'sh', 'unshare', '--mount-proc', '--', 'setpriv', '--pdeathsig', 'KILL', '--'];

const unshare = usableUnshare();
if (unshare === undefined) {
  console.error(
    'cannot make a PID namespace: the demo needs Linux, unshare and setpriv (util-linux), and root or user namespaces',
  );
  process.exitCode = 2;
} else {
  console.log(`Each is PID 1 and gets TERM; after ${graceMs / 1_000} s, the grace period, KILL.\n`);
  await onStage('signal', async (stage) => {
    const outcomes = await Promise.all(
      CASES.map(({ argv, expected }, index) =>
        stop(stage, index, [...unshare, ...argv], expected.cleaned !== undefined),
      ),
    );
    const rows = outcomes.map(({ code, ms, cleaned }, index) => [
      CASES[index]?.who ?? '',
      String(ms),
      String(code),
      cleaned === undefined ? 'has none' : cleaned ? 'yes' : 'no',
    ]);
    printTable(['PID 1', 'MS UNTIL GONE', 'EXIT CODE', 'CLEAN-UP RAN?'], rows);
    const end = join(stage.folder(String(CASES.length - 1)), 'end');
    console.log(`\nThe last one, by its report:\n${reportOf(end)}`);
    return CASES.every(({ expected: { code, cleaned } }, index) => {
      const outcome = outcomes[index];
      return outcome?.code === code && outcome.cleaned === cleaned;
    });
  });
}

/** What a platform does: TERM to PID 1, and KILL when the grace period is over. */
async function stop(stage: Stage, index: number, argv: readonly string[], cleansUp: boolean): Promise<Outcome> {
  const home = stage.folder(String(index));
  const [READY, CLEANED] = [join(home, 'ready'), join(home, 'cleaned')];
  const env = { READY, CLEANED, SEXTON_TERMINATION_LOG: join(home, 'end') };
  const { process: outside, ended } = stage.launch(argv[0] ?? '', argv.slice(1), env);
  await until('the program is ready', () => existsSync(READY) || outside.exitCode !== null);
  const pid1 = onlyChildOf(outside.pid ?? 0);
  const from = performance.now();
  process.kill(pid1, 'SIGTERM');
  const timer = setTimeout(() => process.kill(pid1, 'SIGKILL'), graceMs);
  const code = await ended;
  clearTimeout(timer);
  return { code, ms: Math.round(performance.now() - from), cleaned: cleansUp ? existsSync(CLEANED) : undefined };
}

/** PID 1 of the namespace, by the number that it has out here. */
function onlyChildOf(pid: number): number {
  const [child = ''] = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ');
  if (!(Number(child) > 1)) throw new Error('cannot find PID 1: it has ended; see the messages above');
  return Number(child);
}

/** Root makes the namespace as it is; others need a user namespace around it. */
function usableUnshare(): readonly string[] | undefined {
  const ways = [
    ['unshare', '--pid', '--', ...PID_1],
    ['unshare', '--pid', '--user', '--map-root-user', '--', ...PID_1],
  ];
  return ways.find(([file = '', ...args]) => spawnSync(file, [...args, '/bin/true']).status === 0);
}
