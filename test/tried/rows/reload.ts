/** HUP and USR1, by which servers read their configuration again or open their logs again. */
import type { Program, ReloadRow } from '../row.ts';
import type { Site } from '../site.ts';
import { POSTGRESQL, postgresData } from './databases.ts';
import { BASH, job, PYTHON, SH, server } from './parts.ts';
import { celery, GUNICORN, gunicorn, WORKER } from './python.ts';
import { APACHE, apache, isApacheReady, NGINX, nginx } from './web.ts';

type Signal = ReloadRow['signal'];

interface Script {
  readonly title: string;
  readonly shell?: string;
  readonly lines: (site: Site) => readonly string[];
  readonly needs?: readonly Program[];
  readonly kind?: string;
}

/** Servers that write a line when they have got the signal. */
const SCRIPTS: readonly Script[] = [
  { title: 'bash: `exec server`', lines: (site) => [`exec ${server(site)}`] },
  { title: 'bash: `server; echo ended`', lines: (site) => [server(site), 'echo ended'] },
  { title: 'sh: `server; echo ended`', shell: SH, lines: (site) => [server(site), 'echo ended'] },
  { title: 'bash: `server & wait`', lines: (site) => [`${server(site)} &`, 'wait'] },
  {
    title: 'bash: a trap that passes it to its background server',
    lines: (site) => [
      `${server(site)} &`,
      'child=$!',
      'trap \'kill -HUP "$child"\' HUP',
      'trap \'kill -USR1 "$child"\' USR1',
      'while kill -0 "$child" 2>/dev/null; do wait "$child"; done',
    ],
  },
  {
    kind: 'tee',
    title: '`exec > >(tee log) 2>&1; exec server`',
    lines: (site) => [`exec > >(tee ${site.path('log')}) 2>&1`, `exec ${server(site)}`],
  },
  {
    kind: 'tee',
    title: '`exec > >(tee log) 2>&1; server`',
    lines: (site) => [`exec > >(tee ${site.path('log')}) 2>&1`, server(site), 'echo ended'],
  },
  {
    kind: 'sed',
    title: 'bash: `server | sed -u s/^/app:/`',
    lines: (site) => [`${server(site)} 2>&1 | sed -u s/^/app:/`],
  },
  {
    kind: 'su',
    title: 'bash: `exec su -s /bin/sh -c server games`',
    lines: (site) => [`exec su -s /bin/sh -c "${server(site)}" games`],
  },
  {
    kind: 'runuser',
    title: 'bash: `exec runuser -u games server`',
    lines: (site) => [`exec runuser -u games -- ${server(site)}`],
  },
  {
    kind: 'sudo',
    title: 'bash: `exec sudo -u games server`',
    needs: [{ program: '/usr/bin/sudo', package: 'sudo' }],
    lines: (site) => [`exec sudo -u games ${server(site)}`],
  },
  {
    kind: 'timeout',
    title: 'bash: `exec timeout 1h server`',
    lines: (site) => [`exec timeout 1h ${server(site)}`],
  },
];

function scripted({ title, shell = BASH, lines, needs = [], kind = 'shell' }: Script, signal: Signal): ReloadRow {
  return {
    kind,
    title: `${nameOf(signal)}, ${title}`,
    needs: [PYTHON, ...needs],
    signal,
    prepare: (site) => ({ argv: site.script(shell, lines(site)) }),
    isReady: (site) => site.has('ready-app'),
    isHeard: (site) => site.output().includes(`reloaded app ${signal}`),
    sexton: 'heard',
  };
}

function nameOf(signal: Signal): string {
  return signal.replace('SIG', '');
}

/** Programs that would die of the signal, which no init should pass on to them. */
const DEAF: readonly { readonly title: string; readonly lines: (site: Site) => readonly string[] }[] = [
  { title: 'a program without a handler', lines: (site) => [`exec ${job(site)}0`] },
  { title: 'bash: a program without a handler, without exec', lines: (site) => [`${job(site)}0`, 'echo ended'] },
];

function deaf({ title, lines }: (typeof DEAF)[number], signal: Signal): ReloadRow {
  return {
    kind: 'no handler',
    title: `${nameOf(signal)}, ${title}`,
    needs: [PYTHON],
    signal,
    prepare: (site) => ({ argv: site.script(BASH, lines(site)) }),
    isReady: (site) => site.has('begun-job'),
    isHeard: () => false,
    sexton: 'ignored',
  };
}

const saying =
  (pattern: RegExp): ReloadRow['isHeard'] =>
  (site) =>
    pattern.test(site.output() + site.read('apache.log') + site.read('fpm.log'));

const RELOADING = saying(/\bSIGHUP\b.*reconfiguring/);
const REOPENING = saying(/\bSIGUSR1\b.*reopening logs/);

const SERVERS: readonly ReloadRow[] = [
  ...(
    [
      ['HUP, nginx, its script does not exec it', 'SIGHUP', RELOADING],
      ['USR1, nginx, its script does not exec it', 'SIGUSR1', REOPENING],
    ] as const
  ).map(
    ([title, signal, isHeard]): ReloadRow => ({
      kind: 'nginx',
      title,
      needs: [NGINX],
      signal,
      prepare: (site) => ({ argv: site.script(BASH, [nginx(site, 'return 204;'), 'echo ended']) }),
      isReady: (site) => site.isListening(),
      isHeard,
      sexton: 'heard',
    }),
  ),
  ...(
    [
      ['HUP, gunicorn, its script does not exec it', 'SIGHUP', /Handling signal: hup/],
      ['USR1, gunicorn, its script does not exec it', 'SIGUSR1', /Handling signal: usr1/],
    ] as const
  ).map(
    ([title, signal, pattern]): ReloadRow => ({
      kind: 'gunicorn',
      title,
      needs: [GUNICORN],
      signal,
      prepare: (site) => ({ argv: site.script(BASH, [gunicorn(site), 'echo ended']) }),
      isReady: (site) => /Booting worker[\s\S]*Booting worker/.test(site.output()),
      isHeard: saying(pattern),
      sexton: 'heard',
    }),
  ),
  {
    title: 'HUP, celery worker, its script execs it',
    ...celery(() => [`exec ${WORKER}`]),
    signal: 'SIGHUP',
    isHeard: saying(/Restarting celery worker/),
    sexton: 'heard',
  },
  {
    title: 'HUP, celery worker, its script does not exec it',
    ...celery(() => [WORKER, 'echo ended']),
    signal: 'SIGHUP',
    isHeard: saying(/Restarting celery worker/),
    sexton: 'heard',
  },
  {
    kind: 'apache2',
    title: 'USR1, `apachectl -DFOREGROUND`',
    needs: [APACHE],
    signal: 'SIGUSR1',
    prepare: (site) => ({
      argv: ['apachectl', ...apache(site).split(' ').slice(1)],
      env: { APACHE_CONFDIR: site.dir, APACHE_ENVVARS: site.write('envvars', '') },
    }),
    isReady: isApacheReady,
    isHeard: saying(/SIGUSR1 received\. +Doing graceful restart/),
    sexton: 'heard',
  },
  ...(['gosu postgres', 'runuser -u postgres --', 'sudo -u postgres'] as const).map(
    (wrapper): ReloadRow => ({
      kind: 'postgres',
      title: `HUP, postgres: \`exec ${wrapper.replace(' --', '')} postgres\``,
      needs: [POSTGRESQL, { program: wrapper.split(' ')[0] ?? '', package: wrapper.split(' ')[0] ?? '' }],
      signal: 'SIGHUP',
      prepare: async (site) => {
        const line = `${POSTGRESQL.program} -D ${await postgresData(site)} -k ${site.dir} -c listen_addresses=`;
        return { argv: site.script(BASH, ['cd /', `exec ${wrapper} ${line}`]) };
      },
      isReady: saying(/ready to accept connections/),
      isHeard: saying(/received SIGHUP, reloading/),
      sexton: 'heard',
    }),
  ),
];

const SIGNALS: readonly Signal[] = ['SIGHUP', 'SIGUSR1'];

export const RELOAD_ROWS: readonly ReloadRow[] = [
  ...SIGNALS.flatMap((signal) => SCRIPTS.map((it) => scripted(it, signal))),
  ...SERVERS,
  ...SIGNALS.flatMap((signal) => DEAF.map((it) => deaf(it, signal))),
];
