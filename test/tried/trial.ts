/** One row under one init: a PID namespace whose PID 1 gets a signal from outside, and KILL when its time is over. */
import { statusOf } from '../helpers/container.ts';
import { launchInNamespaces } from '../helpers/namespaces.ts';
import { childrenOf, nameOf, send } from '../helpers/process.ts';
import { waitFor, within } from '../helpers/wait.ts';
import { GRACE_MS, type Outcome, type Reaction, type ReloadRow, type Row } from './row.ts';
import { type OpenSite, openSite, type Site } from './site.ts';
import { behind, type Subject } from './subjects.ts';

export interface Trial<T> {
  readonly result: T;
  readonly output: string;
}

export function tryStop(row: Row, subject: Subject): Promise<Trial<Outcome>> {
  const { begin, signal = 'SIGTERM', graceMs = GRACE_MS, judge } = row;
  return inContainer(row, subject, async (site, container) => {
    await begin?.(site);
    const sentMs = performance.now();
    container.send(signal);
    let isKilled = false;
    const kill = setTimeout(() => {
      isKilled = true;
      void container.kill();
    }, graceMs);
    const { code, endMs } = await within('the container ends', container.ended);
    clearTimeout(kill);
    const work = await judge(site);
    return { ...work, isKilled, code, ms: Math.round(endMs - sentMs) };
  });
}

/** Nothing tells that a signal was ignored, so this is how long it is waited for. */
const IGNORED_MS = 2_000;

export function tryReload(row: ReloadRow, subject: Subject): Promise<Trial<Reaction>> {
  return inContainer(row, subject, async (site, container) => {
    container.send(row.signal);
    const heard = waitFor('the signal is heard', () => row.isHeard(site), IGNORED_MS).then(
      () => 'heard' as const,
      () => 'ignored' as const,
    );
    const reaction = await Promise.race([heard, container.ended.then(() => 'gone' as const)]);
    await container.kill();
    await heard;
    return reaction;
  });
}

interface Running {
  readonly ended: Promise<{ readonly code: number; readonly endMs: number }>;
  send(signal: NodeJS.Signals): void;
  /** Answers whether it still ran. */
  kill(): Promise<boolean>;
}

async function inContainer<T>(
  row: Row | ReloadRow,
  subject: Subject,
  use: (site: Site, container: Running) => Promise<T>,
): Promise<Trial<T>> {
  const open = await openSite();
  const { site, close } = open;
  try {
    const container = await launch(row, subject, open);
    try {
      const result = await use(site, container);
      return { result, output: site.output() };
    } catch (error) {
      throw new Error(`${row.title} (${subject}): ${(error as Error).message}\n${site.output().slice(-2_000)}`, {
        cause: error,
      });
    } finally {
      await container.kill();
    }
  } finally {
    await close();
  }
}

async function launch(row: Row | ReloadRow, subject: Subject, { site, collect }: OpenSite): Promise<Running> {
  const { argv, env, mounts } = await row.prepare(site);
  const mounted = mounts === undefined ? [] : ['sh', '-c', [...mounts, 'exec "$@"'].join(' && '), 'sh'];
  const launched = launchInNamespaces({
    argv: [...mounted, ...behind(subject, argv)],
    env: { ...site.env, ...env },
    dir: site.dir,
    stdio: ['ignore', 'pipe', 'pipe'],
    terminal: false,
    user: undefined,
    hardened: false,
    tmpfs: undefined,
    memoryMb: undefined,
    sees: [],
  });
  const { process: child } = launched;
  for (const stream of [child.stdout, child.stderr]) stream?.setEncoding('latin1').on('data', collect);
  let endMs = 0;
  let hasEnded = false;
  child.once('exit', () => {
    endMs = performance.now();
    hasEnded = true;
  });
  const ended = new Promise<{ code: number; endMs: number }>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve({ code: statusOf(code, signal), endMs }));
  });
  const running: Running = {
    ended,
    send: (signal) => {
      const [pid1] = childrenOf(child.pid ?? 0);
      if (pid1 === undefined || !send(pid1, signal)) throw new Error('PID 1 is gone before its signal');
    },
    kill: async () => !hasEnded && launched.kill(),
  };
  try {
    await waitFor(`${row.title} is ready (${subject})`, () => {
      if (hasEnded) throw new Error('the container has ended before it was ready');
      return row.isReady(site, (name) => namesBelow(child.pid ?? 0).includes(name));
    });
  } catch (error) {
    await running.kill();
    throw new Error(`${row.title} (${subject}): ${(error as Error).message}\n${site.output().slice(-2_000)}`, {
      cause: error,
    });
  }
  return running;
}

/** Of all descendants. */
function namesBelow(pid: number): string[] {
  return childrenOf(pid).flatMap((child) => [nameOf(child), ...namesBelow(child)]);
}
