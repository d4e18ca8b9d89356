/**
 * Four times the same stop, each as PID 1 of a PID namespace of its own: TERM, and KILL when the grace period is over.
 * `node run.ts [seconds]`: the grace period, 5 when nothing is said; Kubernetes gives 30.
 *
 * Exits with 0 when each ended as the README says, with 2 when this machine has no PID namespaces for us.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { initOf, NO_NAMESPACE, usableNamespaces } from '../namespace.ts';
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

const namespaces = usableNamespaces();
if (namespaces === undefined) {
  console.error(NO_NAMESPACE);
  process.exitCode = 2;
} else {
  console.log(`Each is PID 1 and gets TERM; after ${graceMs / 1_000} s, the grace period, KILL.\n`);
  await onStage('signal', async (stage) => {
    const outcomes = await Promise.all(
      CASES.map(({ argv, expected }, index) =>
        stop(stage, index, [...namespaces.prefix, ...argv], expected.cleaned !== undefined),
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
  const pid1 = initOf(outside.pid ?? 0);
  const from = performance.now();
  process.kill(pid1, 'SIGTERM');
  const timer = setTimeout(() => process.kill(pid1, 'SIGKILL'), graceMs);
  const code = await ended;
  clearTimeout(timer);
  return { code, ms: Math.round(performance.now() - from), cleaned: cleansUp ? existsSync(CLEANED) : undefined };
}
