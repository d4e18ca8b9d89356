/**
 * Two nginx behind haproxy are restarted one after the other under constant load, as processes on this machine: without sexton and with it.
 * `node run.ts [rounds]`: how often, 3 times when nothing is said.
 *
 * Exits with 0 when no request failed with sexton and some failed without.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Load, type Result } from './load.ts';

interface Server {
  readonly name: string;
  readonly home: string;
  readonly port: number;
}

type Command = (server: Server) => readonly string[];

const HERE = import.meta.dirname;
const SEXTON = join(HERE, '..', '..', 'dist', 'sexton', 'sexton');
const NGINX = '/usr/sbin/nginx';
const HAPROXY = '/usr/sbin/haproxy';
/** Requests between two restarts. */
const PAUSE = 40;
const rounds = Number(process.argv[2] ?? 3);

const nginx: Command = ({ home }) => [NGINX, '-p', home, '-c', join(home, 'nginx.conf')];
const nginxUnderSexton: Command = (server) => {
  const leave = `exec:sh '${join(HERE, 'leave.sh')}' '${server.home}'`;
  const flags = ['--signals', 'TERM:QUIT', '--pre-stop', leave, '--grace-period', '30s', '--log-level', 'error'];
  return [SEXTON, 'run', ...flags, '--', ...nginx(server)];
};

for (const program of [NGINX, HAPROXY, SEXTON]) {
  if (existsSync(program)) continue;
  console.error(`cannot run this: there is no ${program}; apt-get install nginx-light haproxy, and npm run build`);
  process.exit(1);
}
const dir = mkdtempSync(join(tmpdir(), 'sexton-web-'));
const running = new Set<ChildProcess>();
try {
  console.log('Two nginx behind haproxy are restarted one after the other, with 40 requests a second.\n');
  const without = await rollingRestart('without', nginx);
  const withSexton = await rollingRestart('with', nginxUnderSexton);
  print('without sexton', without);
  print('with sexton', withSexton);
  process.exitCode = withSexton.failed === 0 && without.failed > 0 ? 0 : 1;
} finally {
  await Promise.all([...running].map(kill));
  rmSync(dir, { recursive: true, force: true });
}

async function rollingRestart(title: string, command: Command): Promise<Result> {
  const ports = await freePorts(3);
  const [webPort = 0, ...serverPorts] = ports;
  const servers = ['a', 'b'].map((name, index) => prepare(join(dir, title, name), name, serverPorts[index] ?? 0));
  const processes = new Map(servers.map((it) => [it, launch(command(it))]));
  const [a, b] = serverPorts;
  const env = { WEB_PORT: String(webPort), A_PORT: String(a), B_PORT: String(b) };
  const haproxy = launch([HAPROXY, '-db', '-q', '-f', join(HERE, 'haproxy.cfg')], env);
  for (const server of servers) await inService(server);
  const load = new Load(webPort);
  for (const server of Array.from({ length: rounds }, () => servers).flat()) {
    const { ended } = load;
    await until('the servers have served for a while', () => load.ended >= ended + PAUSE);
    await until(`${server.name} serves`, () => load.isServing(server.name));
    const old = processes.get(server);
    const gone = new Promise((resolve) => old?.once('exit', resolve));
    old?.kill('SIGTERM');
    await gone;
    forget(server);
    processes.set(server, launch(command(server)));
    await inService(server);
  }
  const result = await load.end();
  // haproxy last: a server that leaves waits for its checks.
  await Promise.all([...processes.values()].map(kill));
  await kill(haproxy);
  return result;
}

function prepare(home: string, name: string, port: number): Server {
  mkdirSync(join(home, 'www'), { recursive: true });
  writeFileSync(join(home, 'www', 'index.html'), 'x'.repeat(1_024));
  const config = readFileSync(join(HERE, 'nginx.conf'), 'utf8');
  // Started by root, its workers would run as somebody who may not look in here.
  const user = process.getuid?.() === 0 ? 'user root;\n' : '';
  writeFileSync(join(home, 'nginx.conf'), user + fill(config, { NAME: name, PORT: String(port) }));
  return { name, home, port };
}

function fill(template: string, values: Readonly<Record<string, string>>): string {
  return template.replaceAll(/\$\{([A-Z]+)\}/g, (_, key: string) => values[key] ?? '');
}

/** A container would be a new one. */
function forget({ home }: Server): void {
  for (const file of ['leaving', 'checks.log']) rmSync(join(home, file), { force: true });
}

/** One good check puts it into service (`rise 1`); when the second comes the first has been acted upon. */
function inService({ name, home }: Server): Promise<void> {
  const log = join(home, 'checks.log');
  return until(
    `haproxy sends requests to ${name}`,
    () => existsSync(log) && readFileSync(log, 'utf8').split('200').length > 2,
  );
}

function launch([file = '', ...args]: readonly string[], env: NodeJS.ProcessEnv = {}): ChildProcess {
  const child = spawn(file, args, { env: { PATH: process.env.PATH, ...env }, stdio: ['ignore', 'ignore', 'inherit'] });
  running.add(child);
  child.once('exit', () => running.delete(child));
  return child;
}

/** Not by KILL: nginx would leave its worker behind. */
function kill(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) return resolve();
    child.once('exit', () => resolve());
    child.kill('SIGTERM');
  });
}

async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'));
  await Promise.all(servers.map((it) => new Promise((resolve) => it.once('listening', resolve))));
  const ports = servers.map((it) => (it.address() as { port: number }).port);
  await Promise.all(servers.map((it) => new Promise((resolve) => it.close(resolve))));
  return ports;
}

async function until(what: string, condition: () => boolean): Promise<void> {
  for (let tries = 0; !condition(); tries += 1) {
    if (tries > 2_400) throw new Error(`waited a minute in vain: ${what}; see the messages above`);
    await sleep(25);
  }
}

function print(title: string, { asked, failed }: Result): void {
  console.log(`${title.padEnd(18)}${failed} of ${asked} requests failed`);
}
