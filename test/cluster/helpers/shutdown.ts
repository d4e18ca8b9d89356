/**
 * The shutdown of a node, as systemd announces it to a kubelet. A real systemd-logind runs on a bus of its own, where
 * no service manager can switch the machine off. The kubelet of this machine is started again as it was, except for the
 * bus and the time that it asks for. `powerOff` is the call that `systemctl poweroff` makes. Logind announces it to the
 * kubelet, waits until that is ready, fails to switch off, and takes it back.
 */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import {
  existsSync,
  globSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { waitFor } from '../../helpers/wait.ts';
import { ask } from './api.ts';
import type { PodObject } from './objects.ts';

const LOGIND = '/lib/systemd/systemd-logind';
const PYTHON = '/usr/bin/python3';
const SERVICE_MANAGER = join(import.meta.dirname, '../programs/no-service-manager.py');
const OBJECT = ['org.freedesktop.login1', '/org/freedesktop/login1', 'org.freedesktop.login1.Manager'] as const;
const ASKED = 'TEST_NODE_SHUTDOWN';

export async function whyNoShutdown(): Promise<string | undefined> {
  if (process.env[ASKED] !== '1') return `${ASKED}=1 allows it to shut the node down: all pods on it are stopped`;
  const missing = [LOGIND, '/usr/bin/dbus-daemon', '/usr/bin/busctl'].find((path) => !existsSync(path));
  if (missing !== undefined) return `there is no ${missing}; apt-get install systemd dbus`;
  if (spawnSync(PYTHON, ['-c', 'import dbus, gi']).status !== 0) return 'apt-get install python3-dbus python3-gi';
  if (kubeletsHere().length !== 1) return 'the kubelet of the cluster is no process of this machine';
  const { items } = await ask<{ items: readonly unknown[] }>('GET', '/api/v1/nodes');
  return items.length === 1 ? undefined : 'the cluster has other nodes than this machine';
}

export class Shutdown {
  readonly #dir = mkdtempSync(join(tmpdir(), 'sx-shutdown-'));
  readonly #helpers: ChildProcess[] = [];
  readonly #before: Kubelet;
  #now: number;

  constructor() {
    const [kubelet] = kubeletsHere();
    if (kubelet === undefined) throw new Error('there is no kubelet here');
    this.#before = kubelet;
    this.#now = kubelet.pid;
  }

  /** `forPods` and then `forCritical` seconds are what the kubelet asks logind for. */
  async begin(forPods: number, forCritical: number): Promise<void> {
    const inhibitMs = (forPods + forCritical) * 2_000;
    const bus = join(this.#dir, 'bus');
    const configs = {
      'bus.conf': `<busconfig><type>system</type><listen>unix:path=${bus}</listen><auth>EXTERNAL</auth><policy context="default"><allow user="*"/><allow own="*"/><allow send_destination="*"/><allow receive_sender="*"/></policy></busconfig>`,
      'logind.conf': `[Login]\nInhibitDelayMaxSec=${inhibitMs}ms\nKillUserProcesses=no\n`,
      'kubelet.yaml': `${readFileSync(this.#before.config, 'utf8')}\nshutdownGracePeriod: ${forPods + forCritical}s\nshutdownGracePeriodCriticalPods: ${forCritical}s\n`,
    };
    for (const [name, text] of Object.entries(configs)) writeFileSync(join(this.#dir, name), text);
    this.#help('dbus-daemon', [`--config-file=${join(this.#dir, 'bus.conf')}`, '--nofork', '--nopidfile']);
    await waitFor('the bus is there', () => existsSync(bus));
    this.#help(PYTHON, [SERVICE_MANAGER]);
    const steps = [
      'mkdir -p /run/systemd && mount -t tmpfs none /run/systemd && mkdir /run/systemd/inhibit',
      `mount --bind ${join(this.#dir, 'logind.conf')} /etc/systemd/logind.conf && exec ${LOGIND}`,
    ];
    this.#help('unshare', ['-m', 'sh', '-c', steps.join(' && ')]);
    await waitFor('logind answers', () => this.#asksLogind('get-property', 'InhibitDelayMaxUSec').startsWith('t '));
    await this.#restart(join(this.#dir, 'kubelet.yaml'), { DBUS_SYSTEM_BUS_ADDRESS: this.#address });
    await waitFor('the kubelet delays a shutdown', () =>
      this.#asksLogind('call', 'ListInhibitors').includes('kubelet'),
    );
  }

  powerOff(): void {
    this.#asksLogind('call', 'PowerOff', 'b', 'false');
  }

  /** The kubelet as it was before. */
  async end(): Promise<void> {
    if (this.#now !== this.#before.pid) await this.#restart(this.#before.config, {});
    for (const helper of this.#helpers) helper.kill('SIGTERM');
    rmSync(this.#dir, { recursive: true, force: true });
  }

  get #address(): string {
    return `unix:path=${join(this.#dir, 'bus')}`;
  }

  #help(file: string, args: readonly string[]): void {
    const environment = { ...process.env, DBUS_SYSTEM_BUS_ADDRESS: this.#address };
    this.#helpers.push(spawn(file, args, { env: environment, stdio: 'ignore' }));
  }

  #asksLogind(verb: string, ...args: readonly string[]): string {
    try {
      const all = [`--address=${this.#address}`, verb, ...OBJECT, ...args];
      return execFileSync('busctl', all, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
    } catch (error) {
      if (args[0] === 'PowerOff') throw error;
      return '';
    }
  }

  async #restart(config: string, more: Readonly<Record<string, string>>): Promise<void> {
    const { argv, env, cwd, log, config: before, pidFile } = this.#before;
    process.kill(this.#now, 'SIGTERM');
    await waitFor('the kubelet has ended', () => !existsSync(`/proc/${this.#now}`) || isZombie(this.#now));
    const since = new Date();
    const output = openSync(log, 'a');
    const [file = '', ...args] = argv.map((word) => (word === before ? config : word));
    const kubelet = spawn(file, args, {
      cwd,
      env: { ...env, ...more },
      detached: true,
      stdio: ['ignore', output, output],
    });
    kubelet.unref();
    this.#now = kubelet.pid ?? 0;
    if (pidFile !== undefined) writeFileSync(pidFile, `${this.#now}\n`);
    await waitFor('the node is ready', async () => (await readySince()) >= since, 90_000);
  }
}

interface Kubelet {
  readonly pid: number;
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly config: string;
  readonly log: string;
  /** Whoever started the kubelet may look for its PID there. */
  readonly pidFile: string | undefined;
}

function kubeletsHere(): readonly Kubelet[] {
  return globSync('/proc/[0-9]*/comm').flatMap((path) => {
    const dir = path.replace(/\/comm$/, '');
    try {
      return readFileSync(path, 'utf8') === 'kubelet\n' ? describeKubelet(dir) : [];
    } catch {
      return []; // It has ended.
    }
  });
}

function describeKubelet(dir: string): readonly Kubelet[] {
  const argv = readFileSync(`${dir}/cmdline`, 'utf8').split('\0').slice(0, -1);
  const pairs = readFileSync(`${dir}/environ`, 'utf8').split('\0').filter(Boolean);
  const env = Object.fromEntries(
    pairs.map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]),
  );
  const config = argv[argv.indexOf('--config') + 1];
  if (config === undefined || !argv.includes('--config')) return [];
  const pid = Number(dir.slice('/proc/'.length));
  const pidFile = globSync(join(config, '../../**/kubelet.pid')).find(
    (path) => readFileSync(path, 'utf8').trim() === `${pid}`,
  );
  return [{ pid, argv, env, cwd: readlinkSync(`${dir}/cwd`), config, log: readlinkSync(`${dir}/fd/1`), pidFile }];
}

function isZombie(pid: number): boolean {
  return /\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
}

/** When the kubelet has told last that its node is ready. */
async function readySince(): Promise<Date> {
  type Node = Pick<PodObject, 'metadata'> & {
    status: { conditions: { type: string; status: string; lastHeartbeatTime: string }[] };
  };
  const { items } = await ask<{ items: Node[] }>('GET', '/api/v1/nodes');
  const ready = items[0]?.status.conditions.find((it) => it.type === 'Ready');
  return ready?.status === 'True' ? new Date(ready.lastHeartbeatTime) : new Date(0);
}
