/**
 * A sandbox of an agent: its container does nothing (`sleep infinity`), and tools come into it by exec. Each tool leaves
 * processes behind. Counted are the zombies, with `sleep` as PID 1 and with sexton. `node run.ts [orphans]`: 1,000 when
 * nothing is said.
 *
 * Exits with 0 when all orphans are zombies without sexton and none is with it, with 2 when this machine has no PID
 * namespaces for us.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { childrenOf, type Namespaces, NO_NAMESPACE, usableNamespaces } from '../namespace.ts';
import { onStage, printTable, SEXTON, type Stage, until } from '../stage.ts';

const COMMAND = ['sleep', 'infinity'];
const CASES = [
  { who: COMMAND.join(' '), argv: COMMAND },
  { who: 'the same under sexton', argv: [SEXTON, 'run', '--', ...COMMAND] },
];
const EXECS = 20;
const orphans = Number(process.argv[2] ?? 1_000);
/** What a tool does that starts a server or a browser, and does not end it. */
const TOOL = `for i in $(seq ${Math.ceil(orphans / EXECS)}); do (sleep 0.1 &); done`;

const namespaces = usableNamespaces();
if (namespaces === undefined) {
  console.error(NO_NAMESPACE);
  process.exitCode = 2;
} else {
  await onStage('sandbox', async (stage) => {
    const zombies: number[] = [];
    for (const { argv } of CASES) zombies.push(await zombiesIn(stage, namespaces, argv));
    printTable(
      ['PID 1', 'EXECS', 'ZOMBIES'],
      CASES.map(({ who }, index) => [who, String(EXECS), String(zombies[index])]),
    );
    const [without = 0, withSexton] = zombies;
    return without >= orphans && withSexton === 0;
  });
}

async function zombiesIn(stage: Stage, { prefix, join }: Namespaces, argv: readonly string[]): Promise<number> {
  const [file = '', ...args] = [...prefix, ...argv];
  const { pid: outside = 0 } = stage.launch(file, args).process;
  const runs = (pid: number): boolean => nameOf(pid) === COMMAND[0];
  const findInit = (): number | undefined => childrenOf(outside).find((pid) => runs(pid) || childrenOf(pid).some(runs));
  await until('the command runs', () => findInit() !== undefined);
  const init = findInit() ?? 0;
  const [enter = '', ...into] = join(init);
  for (let count = 0; count < EXECS; count += 1) {
    const { status, stderr } = spawnSync(enter, [...into, '/bin/sh', '-c', TOOL], { encoding: 'utf8' });
    if (status !== 0) throw new Error(`the exec ended with ${status}: ${stderr}`);
  }
  const commands = runs(init) ? 0 : 1;
  await until('all orphans have ended', () => {
    return childrenOf(init).filter((pid) => !isZombie(pid)).length === commands;
  });
  const zombies = (): number => childrenOf(init).filter(isZombie).length;
  // A PID 1 that reaps does so at once: on a busy machine within this time.
  for (let tries = 0; tries < 100 && zombies() > 0; tries += 1) await sleep(20);
  return zombies();
}

function nameOf(pid: number): string {
  return statOf(pid).replace(/^\d+ \((.*)\) .*/s, '$1');
}

/** proc_pid_stat(5): the state stands behind the name. */
function isZombie(pid: number): boolean {
  return /\) Z /.test(statOf(pid));
}

/** Empty: it has gone. */
function statOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return '';
  }
}
