/** Servers, workers and pools in Python. */
import { waitFor } from '../../helpers/wait.ts';
import type { Program, Row } from '../row.ts';
import { PORT, type Site } from '../site.ts';
import { aboutAnswer, aboutJobs, aboutServers, BASH, PYTHON, server } from './parts.ts';

const CELERY: readonly Program[] = [
  { program: '/usr/bin/celery', package: 'celery python3-redis' },
  { program: '/usr/bin/redis-server', package: 'redis-server' },
];
export const GUNICORN: Program = { program: '/usr/bin/gunicorn', package: 'gunicorn' };
const UWSGI: Program = { program: '/usr/bin/uwsgi-core', package: 'uwsgi-core uwsgi-plugin-python3' };
const UVICORN: Program = { program: '/usr/bin/uvicorn', package: 'uvicorn' };
const SUPERVISORD: Program = { program: '/usr/bin/supervisord', package: 'supervisor' };

export const WORKER =
  '/usr/bin/celery -A tasks worker -l INFO -c 2 --without-gossip --without-mingle --without-heartbeat';

/** A worker whose script has these lines. */
export const celery = (
  lines: (site: Site) => readonly string[],
): Pick<Row, 'kind' | 'needs' | 'prepare' | 'isReady'> => ({
  kind: 'celery',
  needs: CELERY,
  isReady: (site) => /celery@.* ready/.test(site.output() + site.read('worker.log')),
  prepare: async (site) => {
    const socket = site.path('redis.sock');
    void site.helper('redis-server', '--port', '0', '--unixsocket', socket, '--save', '', '--dir', site.dir);
    await waitFor('redis is there', () => site.has('redis.sock'));
    site.program('tasks.py');
    return {
      argv: site.script(BASH, [`cd ${site.dir}`, ...lines(site)]),
      env: { C_FORCE_ROOT: '1', PYTHONPATH: site.dir },
    };
  },
});

const WORKERS: readonly {
  readonly title: string;
  readonly lines: (site: Site) => readonly string[];
  readonly sexton: Row['sexton'];
}[] = [
  { title: 'celery worker, its script execs it', lines: () => [`exec ${WORKER}`], sexton: { codes: [0] } },
  {
    title: 'celery worker, its script does not exec it',
    lines: () => [WORKER, 'echo ended'],
    sexton: { codes: [143] },
  },
  {
    title: 'celery worker as a daemon, then `exec tail -F`',
    lines: (site) => [
      `${WORKER} --detach --pidfile=${site.path('worker.pid')} -f ${site.path('worker.log')}`,
      `touch ${site.path('worker.log')}`,
      `exec tail -F ${site.path('worker.log')}`,
    ],
    sexton: { codes: [143] },
  },
];

const CELERY_ROWS = WORKERS.map(
  ({ title, lines, sexton }): Row => ({
    title,
    ...aboutJobs(['1', '2'], 'tasks'),
    // A warm shutdown looks at its pool once a second.
    workMs: 5_000,
    ...celery(lines),
    begin: async (site) => {
      await site.run(PYTHON.program, '-c', 'import tasks; [tasks.slow.delay(number) for number in (1, 2)]');
      await waitFor('two tasks are under way', () => site.has('begun-1') && site.has('begun-2'));
    },
    sexton,
  }),
);

export function gunicorn(site: Site): string {
  site.program('app.py');
  return `${GUNICORN.program} -w 2 -b ${site.host}:${PORT} --chdir ${site.dir} app:app`;
}

const SERVERS: readonly Row[] = [
  {
    kind: 'gunicorn',
    title: 'gunicorn with 2 workers, its script execs it',
    needs: [GUNICORN],
    ...aboutAnswer(),
    // A worker that just starts may miss the stop.
    isReady: (site) => /Booting worker[\s\S]*Booting worker/.test(site.output()),
    prepare: (site) => ({ argv: site.script(BASH, [`exec ${gunicorn(site)}`]) }),
    sexton: { codes: [0] },
  },
  {
    kind: 'gunicorn',
    title: 'gunicorn with 2 workers, its script does not exec it',
    needs: [GUNICORN],
    ...aboutAnswer(),
    // A worker that just starts may miss the stop.
    isReady: (site) => /Booting worker[\s\S]*Booting worker/.test(site.output()),
    prepare: (site) => ({ argv: site.script(BASH, [gunicorn(site), 'echo ended']) }),
    sexton: { codes: [143] },
  },
  {
    kind: 'uvicorn',
    title: 'uvicorn, its script does not exec it',
    needs: [UVICORN],
    ...aboutAnswer(),
    prepare: (site) => {
      site.program('asgi.py');
      return {
        argv: site.script(BASH, [
          `cd ${site.dir}`,
          `uvicorn --lifespan off --host ${site.host} --port ${PORT} asgi:app`,
          'echo ended',
        ]),
      };
    },
    sexton: { codes: [143] },
  },
  {
    kind: 'uwsgi',
    title: 'uwsgi with a worker and a graceful hook',
    needs: [UWSGI],
    ...aboutAnswer(),
    prepare: (site) => ({
      argv: [
        UWSGI.program,
        ...['--plugin', 'python3', '--master', '--processes', '1', '--need-app'],
        ...['--http-socket', `${site.host}:${PORT}`, '--wsgi-file', site.program('app.py')],
        ...['--hook-master-start', 'unix_signal:15 gracefully_kill_them_all'],
      ],
    }),
    sexton: { codes: [0] },
  },
  {
    kind: 'supervisord',
    title: 'supervisord with two programs',
    needs: [SUPERVISORD, PYTHON],
    ...aboutServers('one', 'two'),
    // It looks for ended programs only now and then.
    workMs: 6_000,
    prepare: (site) => ({
      argv: [
        SUPERVISORD.program,
        '-c',
        site.write(
          'supervisord.conf',
          [
            '[supervisord]',
            'nodaemon = true',
            'user = root',
            `logfile = /dev/null\nlogfile_maxbytes = 0\npidfile = ${site.path('supervisord.pid')}`,
            ...['one', 'two'].flatMap((name) => [`[program:${name}]`, `command = ${server(site, name)}`]),
            '',
          ].join('\n'),
        ),
      ],
    }),
    sexton: { codes: [0] },
  },
];

/** As images with several servers have them. */
const SEVERAL: Row = {
  kind: 'several servers',
  title: 'bash: `gunicorn & server & wait -n`',
  needs: [GUNICORN, PYTHON],
  ...aboutAnswer(),
  isReady: (site) => /Booting worker[\s\S]*Booting worker/.test(site.output()) && site.has('ready-app'),
  prepare: (site) => ({ argv: site.script(BASH, [`${gunicorn(site)} &`, `${server(site)} &`, 'wait -n']) }),
  judge: async (site) => {
    const [isWhole, isClean] = [await site.answer(), site.read('end-app') === 'clean\n'];
    const text = `answer ${isWhole ? 'whole' : 'cut'}, server ${isClean ? 'clean' : 'cut'}`;
    return { whole: Number(isWhole) + Number(isClean), of: 2, text };
  },
  sexton: { codes: [143] },
};

const POOLS = (
  [
    ['multiprocessing', 'Python: `multiprocessing.Pool`, closed and joined at the stop', 'multiprocessing'],
    ['concurrent.futures', 'Python: `ProcessPoolExecutor`, shut down at the stop', 'futures'],
    ['concurrent.futures', 'Python: `ProcessPoolExecutor`, `sys.exit` in the handler', 'exit'],
  ] as const
).map(
  ([kind, title, argument]): Row => ({
    kind,
    title,
    needs: [PYTHON],
    ...aboutJobs(['one', 'two'], 'pieces'),
    prepare: (site) => ({ argv: [PYTHON.program, site.program('pool.py'), argument] }),
    sexton: { codes: [0] },
  }),
);

const RANKS = ['0', '1', '2', '3'];

const LAUNCHERS: readonly Row[] = [
  {
    kind: 'ranks',
    title: 'a launcher of 4 ranks that passes TERM on',
    needs: [PYTHON],
    ...aboutServers(...RANKS),
    prepare: (site) => ({
      argv: [PYTHON.program, site.program('ranks.py'), site.program('server.py'), ...RANKS],
    }),
    sexton: { codes: [0] },
  },
  {
    kind: 'ranks',
    title: 'the same launcher, its script does not exec it',
    needs: [PYTHON],
    ...aboutServers(...RANKS),
    prepare: (site) => ({
      argv: site.script(BASH, [
        [PYTHON.program, site.program('ranks.py'), site.program('server.py'), ...RANKS].join(' '),
        'echo ended',
      ]),
    }),
    sexton: { codes: [143] },
  },
  {
    kind: 'ranks',
    title: 'a launcher that passes TERM on and ends at once',
    needs: [PYTHON],
    ...aboutServers('0', '1'),
    prepare: (site) => ({
      argv: [PYTHON.program, site.program('ranks.py'), site.program('server.py'), 'leave', '0', '1'],
    }),
    // Its ranks are told again as roots. Two signals may also come as one.
    sexton: { ranks: ['lost', 'cut', 'clean'], codes: [0] },
  },
];

/** Launchers that others have written. */
const RUNNERS: readonly Row[] = [
  {
    kind: 'GNU parallel',
    title: '`parallel job ::: one two`, stopped by HUP',
    // TERM ends its jobs, HUP only starts no more of them.
    signal: 'SIGHUP',
    needs: [{ program: '/usr/bin/parallel', package: 'parallel' }, PYTHON],
    ...aboutJobs(['one', 'two']),
    prepare: (site) => {
      const line = [PYTHON.program, site.program('job.py'), site.dir, '{}', '2.5'];
      return { argv: ['parallel', '--will-cite', '-j', '2', ...line, ':::', 'one', 'two'] };
    },
    sexton: { codes: [0, 143] },
  },
  {
    kind: 'foreman',
    title: '`foreman start` with two programs',
    needs: [{ program: '/usr/bin/foreman', package: 'ruby-foreman' }, PYTHON],
    ...aboutServers('one', 'two'),
    prepare: (site) => {
      site.write('Procfile', ['one', 'two'].map((name) => `${name}: exec ${server(site, name)}\n`).join(''));
      return { argv: ['foreman', 'start', '-d', site.dir, '-t', '8'] };
    },
    sexton: { codes: [0, 143] },
  },
];

export const PYTHON_ROWS: readonly Row[] = [...CELERY_ROWS, ...SERVERS, SEVERAL, ...POOLS, ...LAUNCHERS, ...RUNNERS];
