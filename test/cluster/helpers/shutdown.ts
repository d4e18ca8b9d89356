/**
 * The shutdown of a node, as systemd announces it to a kubelet. A real systemd-logind runs on a bus of its own, where
 * no service manager can switch the machine off. The kubelet of this machine is started again with that bus and the
 * time that it asks for. `powerOff` is the call that `systemctl poweroff` makes. Logind announces it to the kubelet,
 * waits until that is ready, fails to switch off, and takes it back.
 */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { waitFor } from '../../helpers/wait.ts';
import { Kubelet, whyNotThisNode } from './kubelet.ts';

const LOGIND = '/lib/systemd/systemd-logind';
const PYTHON = '/usr/bin/python3';
const SERVICE_MANAGER = join(import.meta.dirname, '../programs/no-service-manager.py');
const OBJECT = ['org.freedesktop.login1', '/org/freedesktop/login1', 'org.freedesktop.login1.Manager'] as const;

export async function whyNoShutdown(): Promise<string | undefined> {
  const missing = [LOGIND, '/usr/bin/dbus-daemon', '/usr/bin/busctl'].find((path) => !existsSync(path));
  const why = await whyNotThisNode();
  if (why !== undefined) return why;
  if (missing !== undefined) return `there is no ${missing}; apt-get install systemd dbus`;
  const hasModules = spawnSync(PYTHON, ['-c', 'import dbus, gi']).status === 0;
  return hasModules ? undefined : 'apt-get install python3-dbus python3-gi';
}

export class Shutdown {
  readonly #dir = mkdtempSync(join(tmpdir(), 'sx-shutdown-'));
  readonly #helpers: ChildProcess[] = [];
  readonly #kubelet = new Kubelet();

  /** `forPods` and then `forCritical` seconds are what the kubelet asks logind for. */
  async begin(forPods: number, forCritical: number): Promise<void> {
    const inhibitMs = (forPods + forCritical) * 2_000;
    const bus = join(this.#dir, 'bus');
    const configs = {
      'bus.conf': `<busconfig><type>system</type><listen>unix:path=${bus}</listen><auth>EXTERNAL</auth><policy context="default"><allow user="*"/><allow own="*"/><allow send_destination="*"/><allow receive_sender="*"/></policy></busconfig>`,
      'logind.conf': `[Login]\nInhibitDelayMaxSec=${inhibitMs}ms\nKillUserProcesses=no\n`,
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
    const fields = {
      shutdownGracePeriod: `${forPods + forCritical}s`,
      shutdownGracePeriodCriticalPods: `${forCritical}s`,
    };
    await this.#kubelet.restartWith(fields, { DBUS_SYSTEM_BUS_ADDRESS: this.#address });
    await waitFor('the kubelet delays a shutdown', () =>
      this.#asksLogind('call', 'ListInhibitors').includes('kubelet'),
    );
  }

  powerOff(): void {
    this.#asksLogind('call', 'PowerOff', 'b', 'false');
  }

  /** The kubelet as it was before. */
  async end(): Promise<void> {
    await this.#kubelet.end();
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
}
