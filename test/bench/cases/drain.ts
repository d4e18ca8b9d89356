/**
 * The cost of a drain: CPU time of init, the supervisor and its helper in each second of a drain of 15 s. The scenes go
 * from no connections to a flood or 20,000 open ones, with a probe each second. Pod and clients are network namespaces
 * with a wire between them. `load.c` makes the load on the same machine, so its rate stands beside the figures.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { AWAKE, isSupervisor } from '../../helpers/container.ts';
import { SEXTON } from '../../helpers/paths.ts';
import { childrenOf, programOf } from '../../helpers/process.ts';
import { waitFor, within } from '../../helpers/wait.ts';
import { inside, KUBELET, wire } from '../../runtime/traffic/places.ts';
import { type Case, Samples } from '../measurement.ts';

const QUIET = 'min=15s,quiet=15s,max=15s';
const PORT = 8080;
/** The first of 16 addresses of the pod. */
const POD = '10.77.0.32';
const POD_SPACE = ['unshare', '--net', '--pid', '--fork', '--mount-proc', '--kill-child=KILL', '--'];
const HOLD = 20_000;
const WATCHED_MS = 14_500;

interface Scene {
  readonly name: string;
  readonly drain: string;
  readonly flood?: true;
  readonly hold?: true;
  readonly probe?: true;
}

const SCENES: readonly Scene[] = [
  { name: 'fixed, no connections', drain: '15s' },
  { name: 'adaptive, no connections', drain: QUIET },
  { name: 'adaptive, a probe each second', drain: `${QUIET},ignore=${KUBELET}`, probe: true },
  { name: 'adaptive, a flood and the probe', drain: `${QUIET},ignore=${KUBELET}`, flood: true, probe: true },
  { name: 'adaptive, 20,000 open and the probe', drain: `${QUIET},ignore=${KUBELET}`, hold: true, probe: true },
  {
    name: 'inflight, 20,000 open and the probe',
    drain: `min=1s,quiet=2s,max=15s,inflight,ignore=${KUBELET}`,
    hold: true,
    probe: true,
  },
];

export const drain: Case = {
  name: 'drain',
  rounds: 1,
  async run({ programs, rounds }) {
    const cpu = new Samples([]);
    const notes: string[] = [];
    for (let round = 0; round < rounds; round++) {
      for (const scene of SCENES) {
        const { ns, story } = await play(scene, programs.load);
        cpu.add(scene.name, ns / (WATCHED_MS / 1_000));
        const share = ((ns / (WATCHED_MS * 1e6)) * 100).toFixed(2);
        notes.push(`${scene.name}: ${share} % of one core (aim: at most 2 %)${story}`);
      }
    }
    return [{ title: 'drain: CPU time in each second', unit: 'ns', figures: cpu.figures(), notes }];
  },
};

async function play(scene: Scene, load: string): Promise<{ readonly ns: number; readonly story: string }> {
  const started: ChildProcess[] = [];
  const start = (argv: readonly string[], stderr: 'pipe' | 'inherit' = 'inherit'): ChildProcess => {
    const [file = '', ...rest] = argv;
    const child = spawn(file, rest, { stdio: ['pipe', 'pipe', stderr] });
    started.push(child);
    return child;
  };
  try {
    const flags = [
      '--log-format=json',
      `--drain=${scene.drain}`,
      '--grace-period=60s',
      '--stop=TERM:1s,KILL',
      ...AWAKE,
    ];
    const pod = start([...POD_SPACE, SEXTON, ...flags, '--', load, 'serve', `${PORT}`], 'pipe');
    let log = '';
    pod.stderr?.on('data', (chunk) => {
      log += String(chunk);
    });
    await firstLine(pod);
    const client = start(['unshare', '--net', '--', 'cat']);
    const [pid = 0] = childrenOf(pod.pid ?? 0);
    await waitFor('the client has a network of its own', () => programOf(client.pid ?? 0).endsWith('/cat'));
    wire(client.pid ?? 0, pid);
    const enter = inside(client.pid ?? 0);
    for (let last = 32; last < 48; last += 1)
      spawnSync('nsenter', [...inside(pid).slice(1), 'ip', 'address', 'add', `10.77.0.${last}/24`, 'dev', 'eth0']);
    if (scene.hold) await firstLine(start([...enter, load, 'hold', POD, `${PORT}`, `${HOLD}`]));
    if (scene.probe) start([...enter, load, 'probe', POD, `${PORT}`, KUBELET]);
    const flood = scene.flood ? start([...enter, load, 'flood', POD, `${PORT}`, '16']) : undefined;
    const flooded = flood === undefined ? undefined : firstLine(flood);
    await sleep(1_000);
    const supervisor = childrenOf(pid).find(isSupervisor) ?? 0;
    const before = cpuOf(pid, supervisor);
    process.kill(pid, 'SIGTERM');
    await sleep(WATCHED_MS);
    const ns = cpuOf(pid, supervisor) - before;
    const count = await flooded;
    await within('the drain is over', once(pod, 'close'));
    return {
      ns,
      story: `${count === undefined ? '' : `; ${Math.round(Number(count) / 16)} connections per second`}${wordsOf(log)}`,
    };
  } finally {
    for (const child of started) child.kill('SIGKILL');
  }
}

/** What the drain has seen, as its line in the log has it. */
function wordsOf(log: string): string {
  const line = log.split('\n').find((it) => it.includes('the drain is over'));
  if (line === undefined) return '';
  const { why, afterMs, connections, ignored, open } = JSON.parse(line) as Record<string, unknown>;
  return `; ${why} after ${afterMs} ms, ${connections} counted, ${ignored} not, ${open} open`;
}

async function firstLine(child: ChildProcess): Promise<string> {
  if (child.stdout === null) throw new Error('cannot read what it says');
  const [line] = (await within('it says something', once(createInterface(child.stdout), 'line'))) as [string];
  return line;
}

/** Nanoseconds: of init, the supervisor, and the helper that it has in a drain. */
function cpuOf(init: number, supervisor: number): number {
  return [init, supervisor, ...childrenOf(supervisor)].map(ranOf).reduce((sum, ns) => sum + ns, 0);
}

/** Nanoseconds that all threads of a process have run: the first field of schedstat. */
export function ranOf(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`);
  return threads
    .map((thread) => Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'latin1').split(' ')[0]))
    .reduce((sum, ns) => sum + ns, 0);
}
