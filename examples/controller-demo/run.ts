/**
 * Two candidates for one lease; the one that leads is stopped. Twice: as they are, and under sexton with a pre-stop
 * hook that releases the lease. `node run.ts [seconds]`: how long the lease is good for, 5 when nothing is said; that
 * of a Kubernetes controller is 15.
 *
 * Exits with 0 when the second took over after a release with the hook, after the expiry without, and never two worked
 * at a time.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Actor, freePort, NODE, onStage, printTable, reportOf, SEXTON, type Stage, until } from '../stage.ts';

interface Told {
  readonly at: number;
  readonly who: string;
  readonly event: 'is there' | 'leads' | 'works' | 'lost the lease';
  readonly after?: 'release' | 'expiry';
}

interface Outcome {
  /** From the last work of the first to the first work of the second. */
  readonly handOverMs: number;
  readonly after: string | undefined;
  readonly areTwoAtWork: boolean;
  readonly code: number;
}

type Start = (port: number, env: Readonly<Record<string, string>>) => Actor;

const CONTROLLER = join(import.meta.dirname, 'controller.mjs');
const leaseSeconds = Number(process.argv[2] ?? 5);

await onStage('controller', async (stage) => {
  console.log(`Two candidates for a lease of ${leaseSeconds} s; the one that leads is stopped.\n`);
  const [asTheyAre, withHook] = await Promise.all([
    rehearse(stage, 'bare', (_port, env) => stage.launch(NODE, [CONTROLLER], env)),
    rehearse(stage, 'hook', (port, env) => {
      const hook = ['--pre-stop', `POST http://127.0.0.1:${port}/abdicate`, '--grace-period', '30s'];
      return stage.launch(SEXTON, ['run', ...hook, '--log-level', 'error', '--', NODE, CONTROLLER], env);
    }),
  ]);
  printTable(
    ['', 'NOBODY WORKED FOR', 'LEASE FREE BY', 'TWO AT WORK', 'EXIT CODE OF THE FIRST'],
    [
      ['as they are', ...cells(asTheyAre)],
      ['with sexton and a hook', ...cells(withHook)],
    ],
  );
  console.log(`\nThe first under sexton, by its report:\n${reportOf(join(stage.folder('hook'), 'first.end'))}`);
  const isSafe = !asTheyAre.areTwoAtWork && !withHook.areTwoAtWork;
  return isSafe && asTheyAre.after === 'expiry' && withHook.after === 'release';
});

async function rehearse(stage: Stage, name: string, start: Start): Promise<Outcome> {
  const home = stage.folder(name);
  const LOG = join(home, 'log');
  const shared = { LEASE: stage.folder(join(name, 'lease')), LEASE_MS: String(leaseSeconds * 1_000), LOG };
  const candidate = async (who: string): Promise<Actor> => {
    const port = await freePort();
    const end = join(home, `${who}.end`);
    return start(port, { ...shared, NAME: who, PORT: String(port), SEXTON_TERMINATION_LOG: end });
  };
  const has = (whose: string, what: string) => told(LOG).some(({ who, event }) => who === whose && event === what);
  const first = await candidate('first');
  await until('the first works', () => has('first', 'works'));
  const second = await candidate('second');
  await until('the second is there', () => has('second', 'is there'));
  first.process.kill('SIGTERM');
  const code = await first.ended;
  await until('the second works', () => has('second', 'works'));
  second.process.kill('SIGTERM');
  await second.ended;
  return outcomeOf(told(LOG), code);
}

function told(log: string): readonly Told[] {
  if (!existsSync(log)) return [];
  const lines = readFileSync(log, 'utf8').split('\n');
  // What follows the last line feed may be half of a line.
  return lines.slice(0, -1).map((line) => JSON.parse(line));
}

function outcomeOf(story: readonly Told[], code: number): Outcome {
  const took = story.findIndex(({ who, event }) => who === 'second' && event === 'leads');
  const last = story.findLastIndex(({ who, event }) => who === 'first' && event === 'works');
  const next = story.find(({ who, event }) => who === 'second' && event === 'works');
  return {
    handOverMs: (next?.at ?? Number.NaN) - (story[last]?.at ?? Number.NaN),
    after: story[took]?.after,
    areTwoAtWork: last > took,
    code,
  };
}

function cells({ handOverMs, after, areTwoAtWork, code }: Outcome): readonly string[] {
  return [`${handOverMs} ms`, after ?? 'nobody', areTwoAtWork ? 'yes' : 'no', String(code)];
}
