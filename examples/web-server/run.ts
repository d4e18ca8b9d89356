/**
 * Two nginx behind haproxy are restarted one after the other under constant load, as processes on this machine: without
 * sexton and with it.
 * `node run.ts [rounds]`: how often, 3 times when nothing is said.
 *
 * Exits with 0 when no request failed with sexton and some failed without.
 */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Actor, freePort, onStage, reportOf, SEXTON, type Stage, until } from '../stage.ts';
import { Load, type Result } from './load.ts';

interface Server {
  readonly name: string;
  readonly home: string;
  readonly port: number;
}

type Command = (server: Server) => readonly [file: string, ...args: string[]];

const HERE = import.meta.dirname;
const NGINX = '/usr/sbin/nginx';
const HAPROXY = '/usr/sbin/haproxy';
/** Requests between two restarts. */
const PAUSE = 40;
const rounds = Number(process.argv[2] ?? 3);

const nginx: Command = ({ home }) => [NGINX, '-p', home, '-c', join(home, 'nginx.conf')];
const nginxUnderSexton: Command = (server) => {
  const leave = `exec:sh '${join(HERE, 'leave.sh')}' '${server.home}'`;
  const flags = ['--stop', 'auto', '--pre-stop', leave, '--grace-period', '30s', '--log-level', 'error'];
  return [SEXTON, 'run', ...flags, '--', ...nginx(server)];
};

for (const program of [NGINX, HAPROXY, SEXTON]) {
  if (existsSync(program)) continue;
  console.error(`cannot run this: there is no ${program}; apt-get install nginx-light haproxy, and npm run build`);
  process.exit(1);
}
await onStage('web', async (stage) => {
  console.log('Two nginx behind haproxy are restarted one after the other, with 40 requests a second.\n');
  const [without, withSexton] = await Promise.all([
    rollingRestart(stage, 'without', nginx),
    rollingRestart(stage, 'with', nginxUnderSexton),
  ]);
  print('without sexton', without);
  print('with sexton', withSexton);
  const end = join(stage.folder(join('with', 'a')), 'end');
  console.log(`\nThe last stop of one of them under sexton, by its report:\n${reportOf(end)}`);
  return withSexton.failed === 0 && without.failed > 0;
});

async function rollingRestart(stage: Stage, title: string, command: Command): Promise<Result> {
  const [webPort, a, b] = [await freePort(), await freePort(), await freePort()];
  const servers = [prepare(stage.folder(join(title, 'a')), 'a', a), prepare(stage.folder(join(title, 'b')), 'b', b)];
  const start = (server: Server): Actor => {
    const [file, ...args] = command(server);
    return stage.launch(file, args, { SEXTON_TERMINATION_LOG: join(server.home, 'end') });
  };
  const actors = new Map(servers.map((it) => [it, start(it)]));
  const env = { WEB_PORT: String(webPort), A_PORT: String(a), B_PORT: String(b) };
  const haproxy = stage.launch(HAPROXY, ['-db', '-q', '-f', join(HERE, 'haproxy.cfg')], env);
  for (const server of servers) await inService(server);
  const load = new Load(webPort);
  for (const server of Array.from({ length: rounds }, () => servers).flat()) {
    const { ended } = load;
    await until('the servers have served for a while', () => load.ended >= ended + PAUSE);
    await until(`${server.name} serves`, () => load.isServing(server.name));
    await stop(actors.get(server));
    forget(server);
    actors.set(server, start(server));
    await inService(server);
  }
  const result = await load.end();
  // haproxy last: a server that leaves waits for its checks.
  await Promise.all([...actors.values()].map(stop));
  await stop(haproxy);
  return result;
}

async function stop(actor: Actor | undefined): Promise<void> {
  actor?.process.kill('SIGTERM');
  await actor?.ended;
}

function prepare(home: string, name: string, port: number): Server {
  mkdirSync(join(home, 'www'));
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

function print(title: string, { asked, failed }: Result): void {
  console.log(`${title.padEnd(18)}${failed} of ${asked} requests failed`);
}
