/** Servers and workers in Ruby and JavaScript. Node and npm are there wherever the tests run. */
import { waitFor } from '../../helpers/wait.ts';
import type { Program, Row } from '../row.ts';
import { PORT, type Site } from '../site.ts';
import { aboutAnswer, aboutJobs, aboutServers, BASH, SH } from './parts.ts';

const PUMA: Program = { program: '/usr/bin/puma', package: 'puma' };
const SIDEKIQ: readonly Program[] = [
  { program: '/usr/bin/sidekiq', package: 'ruby-sidekiq' },
  { program: '/usr/bin/redis-server', package: 'redis-server' },
];

function puma(site: Site): string {
  const files = `--dir ${site.dir} --pidfile ${site.path('pid')} ${site.program('config.ru')}`;
  return `${PUMA.program} --workers 2 --bind tcp://${site.host}:${PORT} ${files}`;
}

function sidekiq(title: string, line: (worker: string) => readonly string[], sexton: Row['sexton']): Row {
  return {
    kind: 'sidekiq',
    title,
    needs: SIDEKIQ,
    ...aboutJobs(['job'], 'jobs'),
    isReady: (site) => /Running in ruby/.test(site.output()),
    prepare: async (site) => {
      const socket = site.path('redis.sock');
      void site.helper('redis-server', '--port', '0', '--unixsocket', socket, '--save', '', '--dir', site.dir);
      await waitFor('redis is there', () => site.has('redis.sock'));
      const worker = `sidekiq -r ${site.program('jobs.rb')} -t 8`;
      return {
        argv: site.script(SH, [`cd ${site.dir}`, ...line(worker)]),
        env: { REDIS_URL: `unix://${socket}` },
      };
    },
    begin: async (site) => {
      const client = 'Sidekiq.configure_client { |it| it.redis = { url: ARGV[0] } }; Slow.perform_async';
      await site.run('ruby', '-r', site.path('jobs.rb'), '-e', client, `unix://${site.path('redis.sock')}`);
      await waitFor('the job is under way', () => site.has('begun-job'));
    },
    sexton,
  };
}

const RUBY_ROWS: readonly Row[] = [
  {
    kind: 'puma',
    title: 'puma with 2 workers',
    needs: [PUMA],
    ...aboutAnswer(),
    prepare: (site) => ({ argv: puma(site).split(' ') }),
    sexton: { codes: [0, 143] },
  },
  {
    kind: 'puma',
    title: 'puma with 2 workers, its script does not exec it',
    needs: [PUMA],
    ...aboutAnswer(),
    prepare: (site) => ({ argv: site.script(BASH, [puma(site), 'echo ended']) }),
    sexton: { codes: [143] },
  },
  sidekiq('sidekiq, its script execs it', (worker) => [`exec ${worker}`], { codes: [0] }),
  sidekiq('sidekiq, its script does not exec it', (worker) => [worker, 'echo ended'], { codes: [143] }),
];

interface Runner {
  readonly kind: string;
  readonly title: string;
  readonly needs: readonly Program[];
  readonly argv: (site: Site) => readonly string[];
  readonly sexton: Row['sexton'];
}

const RUNNERS: readonly Runner[] = [
  {
    kind: 'npm',
    title: '`npm start`',
    needs: [],
    argv: () => ['npm', 'start'],
    sexton: { codes: [0, 143] },
  },
  {
    kind: 'npm',
    title: '`npm start`, its script does not exec it',
    needs: [],
    argv: (site) => site.script(SH, [`cd ${site.dir}`, 'npm start', 'echo ended']),
    sexton: { codes: [143] },
  },
  {
    kind: 'yarn',
    title: '`yarn start`',
    needs: [{ program: 'yarnpkg', package: 'yarnpkg' }],
    argv: () => ['yarnpkg', 'start'],
    sexton: { codes: [0, 1, 143] },
  },
  {
    kind: 'pnpm',
    title: '`pnpm start`',
    needs: [{ program: 'pnpm', package: 'pnpm of the npm registry' }],
    argv: () => ['pnpm', 'start'],
    sexton: { codes: [0, 1, 143] },
  },
];

const NODE_ROWS: readonly Row[] = [
  ...RUNNERS.map(
    ({ kind, title, needs, argv, sexton }): Row => ({
      kind,
      title,
      needs,
      ...aboutServers('app'),
      prepare: (site) => {
        site.program('server.cjs');
        site.write(
          'package.json',
          '{ "name": "app", "version": "1.0.0", "scripts": { "start": "node server.cjs" } }\n',
        );
        return {
          argv: ['env', '-C', site.dir, ...argv(site)],
          // Debian's yarn has its modules where only Debian's Node looks by itself.
          env: { npm_config_update_notifier: 'false', NODE_PATH: '/usr/share/nodejs' },
        };
      },
      sexton,
    }),
  ),
  {
    kind: 'node cluster',
    title: 'node: `cluster` with 2 workers',
    needs: [],
    ...aboutAnswer(),
    prepare: (site) => ({ argv: ['node', site.program('cluster.cjs'), site.host, String(PORT)] }),
    sexton: { codes: [0] },
  },
];

export const RUBY_AND_NODE_ROWS: readonly Row[] = [...RUBY_ROWS, ...NODE_ROWS];
