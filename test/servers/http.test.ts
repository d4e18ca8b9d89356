/** Web servers and application servers, each with its own preset. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { existsSync, globSync, readFileSync, rmSync } from 'node:fs';
import { describe } from 'node:test';
import { pythonApp, rubyApp } from './apps.ts';
import { type HttpServer, LOG, testGracefulStop } from './graceful-stop.ts';
import { testIdleCheck } from './idle-check.ts';
import { PORT, type Stage } from './stage.ts';

const METRICS_PORT = 18_405;
const WORKERS = 3;
const HOOK = ['--hook-master-start', 'unix_signal:15 gracefully_kill_them_all'];

describe('a server', { concurrency: 2 }, () => {
  testGracefulStop({
    program: '/usr/sbin/apache2',
    packages: 'apache2',
    preset: 'apache2',
    ladder: 'WINCH',
    wrong: 'TERM',
    prepare: (stage) => {
      const modules = ['mpm_event', 'authz_core', 'proxy', 'proxy_http'];
      const conf = stage.write(
        'apache.conf',
        `${modules.map((name) => `LoadModule ${name}_module /usr/lib/apache2/modules/mod_${name}.so`).join('\n')}
      ServerName test
      Listen ${stage.host}:${PORT}
      PidFile ${stage.dir}/pid
      DefaultRuntimeDir ${stage.dir}
      ErrorLog ${stage.dir}/${LOG}
      LogLevel info
      CustomLog ${stage.dir}/access.log "%r %>s %O"
      StartServers 2
      ProxyPass / http://${stage.host}:${stage.backendPort}/ flushpackets=on
      `,
      );
      return ['/usr/sbin/apache2', '-f', conf, '-DFOREGROUND'];
    },
    says: /caught SIGWINCH, shutting down gracefully/,
    isClean: (stage) => {
      assert.match(readFileSync(`${stage.dir}/access.log`, 'utf8'), /GET \/slow HTTP\/1.1 200/);
      assert.ok(!existsSync(`${stage.dir}/pid`));
    },
  });

  testGracefulStop({
    program: '/usr/bin/caddy',
    packages: 'caddy',
    preset: 'caddy',
    ladder: 'TERM',
    wrong: 'QUIT',
    env: { HOME: '/nonexistent' },
    prepare: (stage) => {
      const conf = stage.write(
        'Caddyfile',
        `{
  admin off
  auto_https off
  storage file_system ${stage.dir}
  log {
    output file ${stage.dir}/${LOG}
  }
}
http://:${PORT} {
  bind ${stage.host}
  log {
    output file ${stage.dir}/access.log
  }
  reverse_proxy ${stage.host}:${stage.backendPort} {
    flush_interval -1
  }
}
`,
      );
      return ['/usr/bin/caddy', 'run', '--adapter', 'caddyfile', '--config', conf];
    },
    says: /shutdown complete/,
    isClean: (stage) => assert.match(readFileSync(`${stage.dir}/access.log`, 'utf8'), /"uri":"\/slow".*"status":200/),
  });

  testGracefulStop({
    program: '/usr/bin/gunicorn',
    packages: 'gunicorn',
    preset: 'gunicorn',
    ladder: 'TERM',
    wrong: 'QUIT',
    prepare: (stage) => {
      stage.write('app.py', `${pythonApp(stage)}print('worker is up', flush=True)\n`);
      const { dir, host } = stage;
      const timeouts = ['--graceful-timeout', '600', '--timeout', '600'];
      const files = ['--chdir', dir, '--pid', `${dir}/pid`, '--worker-tmp-dir', dir, '--access-logfile', '-'];
      return [
        '/usr/bin/gunicorn',
        '--workers',
        `${WORKERS}`,
        '--bind',
        `${host}:${PORT}`,
        ...timeouts,
        ...files,
        'app:app',
      ];
    },
    // Between its fork and its own handlers a worker loses TERM to its master's handlers, and gets no other before
    // --graceful-timeout is over (gunicorn 20.1). The last worker is forked up to 200 ms after the first.
    isUp: (output) => output.split('worker is up').length > WORKERS,
    // Its workers hold the socket, also that one which is not done.
    keepsSocket: /Handling signal: term/,
    says: /Handling signal: term[\s\S]*Shutting down: Master/,
    isClean: (stage, output) => {
      assert.match(output, /"GET \/slow HTTP\/1.1" 200/);
      assert.ok(!existsSync(`${stage.dir}/pid`));
    },
  });

  for (const mode of [[], ['-W']]) testGracefulStop(haproxy(mode));
  testIdleCheck(haproxy([]), {
    metric: 'haproxy_backend_current_sessions',
    port: METRICS_PORT,
    miscounting: (check) => check.replace('backend', 'frontend'),
  });

  testGracefulStop({
    program: '/usr/sbin/lighttpd',
    packages: 'lighttpd',
    preset: 'lighttpd',
    ladder: 'INT',
    wrong: 'TERM',
    prepare: (stage) => {
      const conf = stage.write(
        'lighttpd.conf',
        `server.modules = ("mod_proxy", "mod_accesslog")
      server.document-root = "${stage.dir}"
      server.bind = "${stage.host}"
      server.port = ${PORT}
      server.pid-file = "${stage.dir}/pid"
      server.errorlog = "${stage.dir}/${LOG}"
      server.stream-response-body = 2
      accesslog.filename = "${stage.dir}/access.log"
      proxy.server = ("" => (("host" => "${stage.host}", "port" => ${stage.backendPort})))
      `,
      );
      return ['/usr/sbin/lighttpd', '-D', '-f', conf];
    },
    says: /graceful shutdown started/,
    isClean: (stage) => {
      assert.match(readFileSync(`${stage.dir}/access.log`, 'utf8'), /GET \/slow HTTP\/1.1" 200/);
      assert.ok(!existsSync(`${stage.dir}/pid`));
    },
  });

  testGracefulStop({
    program: '/usr/sbin/nginx',
    packages: 'nginx-light',
    preset: 'nginx',
    ladder: 'QUIT',
    wrong: 'TERM',
    prepare: (stage) => {
      const conf = stage.write(
        'nginx.conf',
        `daemon off; worker_processes 2; user root; pid ${stage.dir}/pid; error_log ${stage.dir}/${LOG} notice;
      events {}
      http {
        access_log ${stage.dir}/access.log;
        client_body_temp_path ${stage.dir}/t1; proxy_temp_path ${stage.dir}/t2; fastcgi_temp_path ${stage.dir}/t3; uwsgi_temp_path ${stage.dir}/t4; scgi_temp_path ${stage.dir}/t5;
        server { listen ${stage.host}:${PORT}; location / { proxy_pass http://${stage.host}:${stage.backendPort}; proxy_buffering off; } }
      }`,
      );
      return ['/usr/sbin/nginx', '-c', conf];
    },
    says: /signal 3 \(SIGQUIT\) received from [0-9]+, shutting down|gracefully shutting down/,
    isClean: (stage) => {
      assert.match(readFileSync(`${stage.dir}/access.log`, 'utf8'), /GET \/slow HTTP\/1.1" 200/);
      assert.ok(!existsSync(`${stage.dir}/pid`));
    },
  });

  for (const workers of ['0', '2']) {
    testGracefulStop({
      program: '/usr/bin/puma',
      packages: 'puma',
      preset: 'puma',
      title: workers === '0' ? 'puma' : 'puma with workers',
      ladder: 'TERM',
      wrong: 'QUIT',
      status: 143,
      prepare: (stage) => {
        const { dir, host } = stage;
        const app = stage.write('config.ru', rubyApp(stage));
        const files = ['--dir', dir, '--pidfile', `${dir}/pid`];
        return ['/usr/bin/puma', '--workers', workers, '--bind', `tcp://${host}:${PORT}`, ...files, app];
      },
      says:
        workers === '0' ? /Gracefully stopping, waiting for requests to finish/ : /Gracefully shutting down workers/,
      isClean: (stage) => assert.ok(!existsSync(`${stage.dir}/pid`)),
    });
  }

  testGracefulStop({
    program: '/usr/sbin/squid',
    packages: 'squid',
    preset: 'squid',
    ladder: 'TERM',
    wrong: 'INT',
    prepare: (stage) => {
      const conf = stage.write(
        'squid.conf',
        `http_port ${stage.host}:${PORT} accel defaultsite=app no-vhost
      cache_peer ${stage.host} parent ${stage.backendPort} 0 no-query originserver
      http_access allow all
      cache deny all
      cache_effective_user proxy
      pid_filename ${stage.dir}/pid
      cache_log ${stage.dir}/${LOG}
      access_log stdio:${stage.dir}/access.log
      coredump_dir ${stage.dir}
      pinger_enable off
      shutdown_lifetime 12 seconds
      `,
      );
      // Its segments of shared memory have this name for the whole machine, and a squid that is cut leaves them.
      const service = `sx${randomBytes(4).toString('hex')}`;
      stage.scratch.clearAlso(async () => {
        for (const segment of globSync(`/dev/shm/${service}-*`)) rmSync(segment);
        return undefined;
      });
      return ['/usr/sbin/squid', '-N', '-n', service, '-f', conf];
    },
    says: /Preparing for shutdown[\s\S]*Squid Cache .*: Exiting normally/,
    warns: /shutdown_lifetime/,
    isClean: (stage) => {
      assert.match(readFileSync(`${stage.dir}/access.log`, 'utf8'), /TCP_MISS\/200 .*\/slow/);
      assert.ok(!existsSync(`${stage.dir}/pid`));
    },
  });

  testGracefulStop({
    program: '/usr/bin/uwsgi-core',
    packages: 'uwsgi-core uwsgi-plugin-python3',
    preset: 'uwsgi',
    ladder: 'TERM',
    wrong: 'INT',
    prepare: (stage) => {
      const { dir, host } = stage;
      const app = stage.write('app.py', pythonApp(stage));
      const workers = ['--plugin', 'python3', '--master', '--processes', '3', '--wsgi-file', app];
      const files = ['--pidfile', `${dir}/pid`, '--vacuum', '--worker-reload-mercy', '600'];
      return ['/usr/bin/uwsgi-core', '--http-socket', `${host}:${PORT}`, ...workers, ...files, ...HOOK];
    },
    keepsSocket: /Gracefully killing worker/,
    says: /goodbye to uWSGI/,
    isClean: (stage, output) => {
      assert.match(output, /GET \/slow => generated 23 bytes/);
      assert.ok(!existsSync(`${stage.dir}/pid`));
    },
  });
});

function haproxy(mode: readonly string[]): HttpServer {
  return {
    program: '/usr/sbin/haproxy',
    packages: 'haproxy',
    preset: 'haproxy',
    title: mode.length === 0 ? 'haproxy' : 'haproxy with a master',
    ladder: 'USR1',
    wrong: 'TERM',
    prepare: (stage) => ['/usr/sbin/haproxy', ...mode, '-f', configure(stage)],
    says: /Proxy web stopped/,
    isClean: (_stage, output) => assert.match(output, /GET \/slow HTTP\/1.1/),
  };
}

function configure({ write, host, backendPort }: Stage): string {
  return write(
    'haproxy.cfg',
    `global
  log stdout format raw local0
defaults
  mode http
  log global
  option httplog
  timeout connect 60s
  timeout client 600s
  timeout server 600s
frontend web
  bind ${host}:${PORT}
  default_backend app
backend app
  server app ${host}:${backendPort}
frontend metrics
  bind ${host}:${METRICS_PORT}
  http-request use-service prometheus-exporter if { path /metrics }
`,
  );
}
