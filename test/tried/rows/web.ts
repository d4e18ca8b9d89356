/** Web servers and proxies, and the servers that run on Java. */
import { readdirSync } from 'node:fs';
import { waitFor } from '../../helpers/wait.ts';
import type { Program, Row } from '../row.ts';
import { PORT, type Site } from '../site.ts';
import { aboutAnswer, aboutSign, BASH, SH } from './parts.ts';

const BACKEND_PORT = PORT + 1;
export const NGINX: Program = { program: '/usr/sbin/nginx', package: 'nginx-light' };
const PHP: Program = { program: '/usr/sbin/php-fpm8.2', package: 'php8.2-fpm' };
const HAPROXY: Program = { program: '/usr/sbin/haproxy', package: 'haproxy' };
export const APACHE: Program = { program: '/usr/sbin/apache2', package: 'apache2' };
const TOMCAT_HOME = '/usr/share/tomcat10';
const TOMCAT: Program = { program: `${TOMCAT_HOME}/bin/catalina.sh`, package: 'tomcat10 default-jre-headless' };

/** Its answer has two halves. */
async function startBackend(site: Site): Promise<void> {
  void site.helper(process.execPath, site.program('cluster.cjs'), site.host, String(BACKEND_PORT));
  await waitFor('the backend listens', () => site.isListening(BACKEND_PORT));
}

/** Answers with the command line of nginx in the foreground. `location`: what it does with a request. */
export function nginx(site: Site, location: string, daemon = 'off'): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  site.write(
    'nginx.conf',
    `daemon ${daemon}; user root; pid ${site.path('nginx.pid')}; error_log stderr notice;
    events {}
    http {
      access_log off;
      ${temporary.map((name) => `${name}_temp_path ${site.path(name)};`).join(' ')}
      server { listen ${site.host}:${PORT}; location / { ${location} } }
    }`,
  );
  return `${NGINX.program} -c ${site.path('nginx.conf')}`;
}

function proxying(site: Site): string {
  return `proxy_pass http://${site.host}:${BACKEND_PORT}; proxy_buffering off;`;
}

function phpFpm(site: Site): string {
  site.write(
    'fpm.conf',
    [
      '[global]',
      `error_log = ${site.path('fpm.log')}`,
      'process_control_timeout = 8s',
      '[www]',
      'user = root',
      `listen = ${site.path('fpm.sock')}`,
      'pm = static',
      'pm.max_children = 2',
      '',
    ].join('\n'),
  );
  return `${PHP.program} --nodaemonize --allow-to-run-as-root --fpm-config ${site.path('fpm.conf')}`;
}

function toPhp(site: Site): string {
  const parameters = [`SCRIPT_FILENAME ${site.program('app.php')}`, 'REQUEST_METHOD $request_method'];
  const lines = parameters.map((it) => `fastcgi_param ${it};`).join(' ');
  return `${lines} fastcgi_buffering off; fastcgi_pass unix:${site.path('fpm.sock')};`;
}

export function apache(site: Site): string {
  const modules = '/usr/lib/apache2/modules';
  site.write(
    'apache.conf',
    [
      `Listen ${site.host}:${PORT}`,
      `PidFile ${site.path('apache.pid')}`,
      `ErrorLog ${site.path('apache.log')}`,
      `DefaultRuntimeDir ${site.dir}`,
      'ServerName app',
      `LoadModule mpm_event_module ${modules}/mod_mpm_event.so`,
      `LoadModule authz_core_module ${modules}/mod_authz_core.so`,
      '',
    ].join('\n'),
  );
  return `${APACHE.program} -DFOREGROUND -d ${site.dir} -f ${site.path('apache.conf')}`;
}

/** It listens before it catches signals. */
export async function isApacheReady(site: Site): Promise<boolean> {
  return (await site.isListening()) && site.read('apache.log').includes('resuming normal operations');
}

const WEB: readonly Row[] = [
  {
    kind: 'nginx',
    title: 'nginx, its script does not exec it',
    needs: [NGINX],
    prepare: (site) => ({ argv: site.script(BASH, [nginx(site, 'return 204;'), 'echo ended']) }),
    isReady: (site) => site.isListening(),
    workMs: 0,
    ...aboutSign((site) => /notice\] \d+#\d+: exit$/m.test(site.output())),
    sexton: { codes: [143] },
  },
  {
    kind: 'nginx',
    title: 'nginx behind a script, an answer under way, stopped by QUIT',
    needs: [NGINX],
    ...aboutAnswer(),
    signal: 'SIGQUIT',
    prepare: async (site) => {
      await startBackend(site);
      return { argv: site.script(BASH, [nginx(site, proxying(site)), 'echo ended']) };
    },
    sexton: { codes: [0, 131] },
  },
  {
    kind: 'php-fpm',
    title: '`nginx; exec php-fpm`, an answer under way, stopped by QUIT',
    needs: [NGINX, PHP],
    ...aboutAnswer(),
    signal: 'SIGQUIT',
    prepare: (site) => ({ argv: site.script(SH, [nginx(site, toPhp(site), 'on'), `exec ${phpFpm(site)}`]) }),
    isReady: async (site) => (await site.isListening()) && /ready to handle connections/.test(site.read('fpm.log')),
    sexton: { codes: [0] },
  },
  {
    kind: 'haproxy',
    title: 'haproxy -W, its script execs it, an answer under way, stopped by USR1',
    needs: [HAPROXY],
    ...aboutAnswer(),
    signal: 'SIGUSR1',
    prepare: async (site) => {
      await startBackend(site);
      return { argv: site.script(BASH, [`exec ${haproxy(site)}`]) };
    },
    sexton: { codes: [0] },
  },
  {
    kind: 'haproxy',
    title: 'haproxy -W, its script does not exec it, stopped by USR1',
    needs: [HAPROXY],
    ...aboutAnswer(),
    signal: 'SIGUSR1',
    prepare: async (site) => {
      await startBackend(site);
      return { argv: site.script(BASH, [haproxy(site), 'echo ended']) };
    },
    sexton: { codes: [0] },
  },
  {
    kind: 'squid',
    title: '`squid --foreground`, its script does not exec it',
    needs: [{ program: '/usr/sbin/squid', package: 'squid' }],
    ...aboutAnswer(),
    workMs: 6_000,
    prepare: async (site) => {
      await startBackend(site);
      return {
        argv: site.script(BASH, [`squid --foreground -n trial -f ${squid(site)}`, 'echo ended']),
        mounts: ['mount -t tmpfs none /dev/shm'],
      };
    },
    sexton: { codes: [143] },
  },
  {
    kind: 'apache2',
    title: '`apachectl -DFOREGROUND`, which does not exec apache2',
    needs: [APACHE],
    prepare: (site) => ({
      argv: ['apachectl', ...apache(site).split(' ').slice(1)],
      env: { APACHE_CONFDIR: site.dir, APACHE_ENVVARS: site.write('envvars', '') },
    }),
    isReady: isApacheReady,
    workMs: 1_000,
    ...aboutSign((site) => /caught SIG\w+, shutting down/.test(site.read('apache.log'))),
    sexton: { codes: [143] },
  },
];

/** Answers with its configuration, whose shutdown takes 4 s. */
function squid(site: Site): string {
  return site.write(
    'squid.conf',
    [
      `http_port ${site.host}:${PORT} accel defaultsite=app no-vhost`,
      `cache_peer ${site.host} parent ${BACKEND_PORT} 0 no-query originserver`,
      'http_access allow all',
      'cache deny all',
      'cache_effective_user proxy',
      `pid_filename ${site.path('squid.pid')}`,
      `cache_log ${site.path('squid.log')}`,
      'access_log none',
      `coredump_dir ${site.dir}`,
      'pinger_enable off',
      'shutdown_lifetime 4 seconds',
      '',
    ].join('\n'),
  );
}

function haproxy(site: Site): string {
  site.write(
    'haproxy.cfg',
    [
      'defaults\n mode http\n timeout connect 5s\n timeout client 20s\n timeout server 20s',
      `frontend front\n bind ${site.host}:${PORT}\n default_backend back`,
      `backend back\n server one ${site.host}:${BACKEND_PORT}`,
      '',
    ].join('\n'),
  );
  return `${HAPROXY.program} -W -f ${site.path('haproxy.cfg')}`;
}

async function tomcatBase(site: Site): Promise<Readonly<Record<string, string>>> {
  const base = site.path('base');
  const directories = ['conf', 'logs', 'temp', 'webapps', 'work'].map((name) => `${base}/${name}`);
  await site.run('mkdir', '-p', ...directories);
  const files = readdirSync('/etc/tomcat10').filter((name) => /\.(xml|properties)$/.test(name));
  await site.run('cp', ...files.map((name) => `/etc/tomcat10/${name}`), `${base}/conf`);
  const edits = [`s/port="8080"/port="${PORT}" address="${site.host}"/`, 's/port="8005"/port="-1"/'];
  await site.run('sed', '-i', edits.join('; '), `${base}/conf/server.xml`);
  return { CATALINA_HOME: TOMCAT_HOME, CATALINA_BASE: base };
}

const aboutTomcat: Pick<Row, 'isReady' | 'judge' | 'workMs'> = {
  isReady: (site) => /Server startup in/.test(site.output()),
  ...aboutSign((site) => /Destroying ProtocolHandler/.test(site.output())),
  workMs: 2_000,
};

const JAVA: readonly Row[] = [
  {
    kind: 'tomcat',
    title: 'tomcat: `catalina.sh run`',
    needs: [TOMCAT],
    ...aboutTomcat,
    prepare: async (site) => ({ argv: [TOMCAT.program, 'run'], env: await tomcatBase(site) }),
    sexton: { codes: [143] },
  },
  {
    kind: 'java',
    title: 'java, its script does not exec it',
    needs: [TOMCAT],
    ...aboutTomcat,
    prepare: async (site) => {
      const env = await tomcatBase(site);
      const jars = ['bootstrap.jar', 'tomcat-juli.jar'].map((name) => `${TOMCAT_HOME}/bin/${name}`).join(':');
      const logging = '-Djava.util.logging.manager=org.apache.juli.ClassLoaderLogManager';
      const properties = `${logging} -Dcatalina.home=${env.CATALINA_HOME} -Dcatalina.base=${env.CATALINA_BASE}`;
      const line = `java -cp ${jars} ${properties} org.apache.catalina.startup.Bootstrap start`;
      return { argv: site.script(BASH, [line, 'echo ended']), env };
    },
    sexton: { codes: [143] },
  },
];

export const WEB_ROWS: readonly Row[] = [...WEB, ...JAVA];
