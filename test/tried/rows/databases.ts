/** Databases and brokers: their last transaction, and whether they shut down cleanly. */

import { execFile } from 'node:child_process';
import { globSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { temporaryDirectory } from '../../helpers/temporary.ts';
import { waitFor } from '../../helpers/wait.ts';
import type { Program, Row } from '../row.ts';
import type { Site } from '../site.ts';
import { aboutSign, BASH, SH } from './parts.ts';
import { apache, isApacheReady } from './web.ts';

const run = promisify(execFile);
const [POSTGRES = '/usr/lib/postgresql/15/bin/postgres'] = globSync('/usr/lib/postgresql/*/bin/postgres');
const PG_BIN = dirname(POSTGRES);
export const POSTGRESQL: Program = { program: POSTGRES, package: 'postgresql' };
const REDIS: Program = { program: '/usr/bin/redis-server', package: 'redis-server' };

/** A new data directory takes seconds, so each trial gets a copy of the first one. */
const templates = new Map<string, Promise<string>>();

async function copyOf(
  name: string,
  owner: string,
  make: (dir: string) => Promise<unknown>,
  site: Site,
): Promise<string> {
  const template = templates.get(name) ?? makeTemplate(name, owner, make);
  templates.set(name, template);
  await site.run('cp', '-a', await template, site.path('data'));
  return site.path('data');
}

async function makeTemplate(name: string, owner: string, make: (dir: string) => Promise<unknown>): Promise<string> {
  const parent = temporaryDirectory();
  await run('chmod', ['755', parent]);
  const dir = join(parent, name);
  await run('install', ['-d', '-o', owner, '-m', '700', dir]);
  await make(dir);
  return dir;
}

export function postgresData(site: Site): Promise<string> {
  const initdb = (dir: string) =>
    run('runuser', ['-u', 'postgres', '--', `${PG_BIN}/initdb`, '--no-sync', '-A', 'trust', '-D', dir], { cwd: '/' });
  return copyOf('postgres', 'postgres', initdb, site);
}

function psql(site: Site, sql: string): readonly string[] {
  return ['psql', '-h', site.dir, '-U', 'postgres', '-Atc', sql, 'postgres'];
}

const transactions = new WeakMap<Site, Promise<number>>();
const isShutDown = (site: Site): boolean =>
  (site.output() + site.read('postgres.log')).includes('database system is shut down');

/** A transaction of 2.5 s is under way. */
const aboutPostgres: Pick<Row, 'isReady' | 'begin' | 'judge' | 'workMs'> = {
  isReady: (site) => (site.output() + site.read('postgres.log')).includes('ready to accept connections'),
  begin: async (site) => {
    transactions.set(site, site.helper(...psql(site, 'create table kept as select 1 from pg_sleep(2.5)')));
    const active = "select count(*) from pg_stat_activity where query like 'create table kept%'";
    await waitFor('the transaction is under way', async () => (await site.run(...psql(site, active))).trim() === '1');
  },
  judge: async (site) => {
    const isKept = (await transactions.get(site)) === 0;
    const clean = isShutDown(site);
    const text = `transaction ${isKept ? 'kept' : 'lost'}, ${clean ? 'clean' : 'unclean'}`;
    return { whole: Number(isKept) + Number(clean), of: 2, text };
  },
  workMs: 3_500,
};

const WAYS: readonly {
  readonly title: string;
  readonly needs?: readonly Program[];
  readonly lines: (line: string) => readonly string[];
  readonly sexton: Row['sexton'];
}[] = [
  {
    title: 'postgres: `exec gosu postgres postgres`',
    needs: [{ program: '/usr/sbin/gosu', package: 'gosu' }],
    lines: (line) => [`exec gosu postgres ${line}`],
    sexton: { codes: [0] },
  },
  {
    title: 'postgres: `exec su postgres -c postgres`',
    lines: (line) => [`exec su postgres -c "${line}"`],
    sexton: { codes: [0] },
  },
  {
    title: 'postgres: `exec runuser -u postgres postgres`',
    lines: (line) => [`exec runuser -u postgres -- ${line}`],
    sexton: { codes: [0] },
  },
  {
    title: 'postgres: `exec sudo -u postgres postgres`',
    needs: [{ program: '/usr/bin/sudo', package: 'sudo' }],
    lines: (line) => [`exec sudo -u postgres ${line}`],
    sexton: { codes: [0] },
  },
  {
    title: 'postgres: helper loops, then `runuser` without exec',
    lines: (line) => [
      'for helper in 1 2 3; do ( while :; do sleep 1; done ) & done',
      `runuser -u postgres -- ${line}`,
      'echo ended',
    ],
    sexton: { codes: [143] },
  },
];

const POSTGRES_ROWS: readonly Row[] = [
  ...WAYS.map(
    ({ title, needs = [], lines, sexton }): Row => ({
      kind: 'postgres',
      title,
      needs: [POSTGRESQL, ...needs],
      ...aboutPostgres,
      prepare: async (site) => {
        const line = `${POSTGRES} -D ${await postgresData(site)} -k ${site.dir} -c listen_addresses=`;
        return { argv: site.script(BASH, ['cd /', ...lines(line)]) };
      },
      sexton,
    }),
  ),
  {
    kind: 'postgres',
    title: 'postgres: `pg_ctl start`, a trap with `pg_ctl stop`, `tail -f /dev/null`',
    needs: [POSTGRESQL],
    isReady: (site, runs) => site.output().includes('database is up') && runs('tail'),
    workMs: 1_000,
    ...aboutSign(isShutDown),
    prepare: async (site) => {
      const control = `runuser -u postgres -- ${PG_BIN}/pg_ctl -D ${await postgresData(site)}`;
      const log = site.write('postgres.log', '');
      return {
        argv: site.script(BASH, [
          'cd /',
          `chown postgres ${log}`,
          `stop() { ${control} -m fast stop; exit 0; }`,
          'trap stop TERM INT',
          `${control} -w -o '-k ${site.dir} -c listen_addresses=' -l ${log} start`,
          'echo database is up',
          'tail -f /dev/null',
        ]),
      };
    },
    sexton: { codes: [0] },
  },
];

const MARIADB: readonly Program[] = [
  { program: '/usr/bin/mariadbd-safe', package: 'mariadb-server' },
  { program: '/usr/sbin/apache2', package: 'apache2' },
];

const OTHERS: readonly Row[] = [
  {
    kind: 'mariadb and apache',
    title: '`mariadbd-safe &`, then `exec apache2`',
    needs: MARIADB,
    isReady: async (site) => site.output().includes('database is up') && (await isApacheReady(site)),
    workMs: 3_000,
    ...aboutSign((site) => site.read('mariadb.err').includes('Shutdown complete')),
    prepare: async (site) => {
      const install = (dir: string) =>
        run('mariadb-install-db', ['--no-defaults', '--user=mysql', `--datadir=${dir}`, '--skip-test-db']);
      const data = await copyOf('mariadb', 'mysql', install, site);
      const socket = site.path('mariadb.sock');
      const files = `--socket=${socket} --log-error=${site.path('mariadb.err')} --pid-file=${site.path('mariadb.pid')}`;
      return {
        argv: site.script(BASH, [
          `mariadbd-safe --no-defaults --user=mysql --datadir=${data} --skip-networking ${files} >/dev/null 2>&1 &`,
          `until mariadb-admin -S ${socket} ping >/dev/null 2>&1; do sleep 0.2; done`,
          'echo database is up',
          `exec ${apache(site)}`,
        ]),
      };
    },
    sexton: { codes: [0] },
  },
  {
    kind: 'redis',
    title: 'sh: `redis-server | tee log`',
    needs: [REDIS],
    isReady: (site) => site.output().includes('Ready to accept connections') || site.has('redis.sock'),
    begin: async (site) => {
      await site.run('redis-cli', '-s', site.path('redis.sock'), 'SET', 'key', 'value');
    },
    workMs: 500,
    judge: (site) => {
      const isSaved = site.has('dump.rdb');
      const isRead = site.output().includes('bye bye');
      const text = `${isSaved ? 'saved' : 'not saved'}, last lines ${isRead ? 'read' : 'lost'}`;
      return { whole: Number(isSaved) + Number(isRead), of: 2, text };
    },
    prepare: (site) => {
      const options = `--port 0 --unixsocket ${site.path('redis.sock')} --save 3600 1 --dir ${site.dir}`;
      return { argv: site.script(SH, [`${REDIS.program} ${options} | tee ${site.path('log')}`]) };
    },
    sexton: { codes: [143] },
  },
];

const RABBITMQ: Program = { program: '/usr/sbin/rabbitmq-server', package: 'rabbitmq-server' };

function rabbitmq(title: string, lines: readonly string[], sexton: Row['sexton']): Row {
  return {
    kind: 'rabbitmq',
    title,
    needs: [RABBITMQ],
    isReady: (site) => site.output().includes('completed with'),
    workMs: 8_000,
    graceMs: 20_000,
    ...aboutSign((site) => /msg_store_persistent'? is stopped/.test(site.output())),
    prepare: async (site) => {
      await site.run('install', '-d', '-o', 'rabbitmq', site.path('mnesia'), site.path('logs'));
      const port = site.freePort;
      return {
        argv: site.script(BASH, lines),
        env: {
          RABBITMQ_NODENAME: `n${port}@localhost`,
          RABBITMQ_MNESIA_BASE: site.path('mnesia'),
          RABBITMQ_LOG_BASE: site.path('logs'),
          RABBITMQ_LOGS: '-',
          RABBITMQ_NODE_IP_ADDRESS: site.host,
          RABBITMQ_NODE_PORT: String(port),
          RABBITMQ_DIST_PORT: String(port + 1),
          ERL_EPMD_PORT: String(port + 2),
          RABBITMQ_ENABLED_PLUGINS_FILE: site.write('plugins', '[].\n'),
          RABBITMQ_PID_FILE: site.path('mnesia/pid'),
        },
      };
    },
    sexton,
  };
}

export const DATABASE_ROWS: readonly Row[] = [
  ...POSTGRES_ROWS,
  ...OTHERS,
  rabbitmq('rabbitmq-server, its script execs it', ['exec rabbitmq-server'], { codes: [0, 143] }),
  rabbitmq('rabbitmq-server, its script does not exec it', ['rabbitmq-server', 'echo ended'], { codes: [143] }),
];
