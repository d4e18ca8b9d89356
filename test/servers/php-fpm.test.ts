import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { startContainer } from '../helpers/container.ts';
import { getByFastCgi } from './fastcgi.ts';
import { type HttpServer, LOG, testCut, testGracefulStop } from './graceful-stop.ts';
import { testIdleCheck } from './idle-check.ts';
import { PORT, type Stage } from './stage.ts';

const PHP = '/usr/sbin/php-fpm8.2';
const NGINX = '/usr/sbin/nginx';
const [STATUS_PORT, WEB_PORT] = [18_082, 18_083];

const server: HttpServer = {
  program: PHP,
  packages: 'php8.2-fpm',
  preset: 'php-fpm',
  ladder: 'QUIT',
  wrong: 'TERM',
  exchange: (stage) => getByFastCgi(stage.scratch.path('app.php')),
  prepare: (stage) => [PHP, '--nodaemonize', '--fpm-config', configure(stage, 'process_control_timeout = 10m')],
  // Its master holds the socket until all workers are done.
  keepsSocket: /Finishing \.\.\./,
  says: /Finishing \.\.\.[\s\S]*exiting, bye-bye!/,
  warns: /php-fpm cuts its requests unless its configuration has process_control_timeout/,
  isClean: (stage) => {
    assert.match(readFileSync(`${stage.dir}/access.log`, 'utf8'), /GET \/slow 200/);
    assert.ok(!existsSync(`${stage.dir}/pid`));
  },
};

testGracefulStop(server);
testCut({
  ...server,
  title: 'php-fpm without process_control_timeout',
  wrong: 'QUIT',
  prepare: (stage) => [PHP, '--nodaemonize', '--fpm-config', configure(stage, '')],
});

testIdleCheck(
  {
    ...server,
    program: existsSync(PHP) ? NGINX : PHP,
    packages: 'php8.2-fpm nginx-light',
    prepare: (stage) => {
      const nginx = startContainer(stage.scratch, { name: 'nginx', command: [NGINX, '-c', configureNginx(stage)] });
      stage.scratch.beforeClear(() => void nginx.kill());
      return server.prepare(stage);
    },
  },
  {
    metric: 'phpfpm_active_processes',
    port: WEB_PORT,
    miscounting: (check) => check.replace('/status', '/own'),
  },
);

/** In front of the two status pages: /status, and at /own that which the pool answers itself. */
function configureNginx({ write, dir, host }: Stage): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  const page = 'fastcgi_param SCRIPT_NAME /status; fastcgi_param SCRIPT_FILENAME /status;';
  const asked = 'fastcgi_param REQUEST_METHOD $request_method; fastcgi_param QUERY_STRING $query_string;';
  return write(
    'nginx.conf',
    `daemon off; user root; pid ${dir}/nginx.pid; error_log ${dir}/nginx.log;
    events {}
    http {
      access_log off;
      ${temporary.map((name) => `${name}_temp_path ${dir}/${name};`).join(' ')}
      ${page} ${asked}
      server {
        listen ${host}:${WEB_PORT};
        location = /status { fastcgi_pass ${host}:${STATUS_PORT}; }
        location = /own { fastcgi_pass ${host}:${PORT}; }
      }
    }`,
  );
}

function configure({ write, dir, host, releaseFile }: Stage, setting: string): string {
  write(
    'app.php',
    `<?php
    if ($_SERVER['REQUEST_URI'] !== '/slow') { echo "ok\\n"; return; }
    while (ob_get_level()) ob_end_flush();
    echo "first half\\n";
    flush();
    while (!file_exists('${releaseFile}')) { usleep(20000); clearstatcache(); }
    echo "second half\\n";
    `,
  );
  const lines = [
    '[global]',
    `pid = ${dir}/pid`,
    `error_log = ${dir}/${LOG}`,
    setting,
    '[www]',
    'user = nobody',
    `listen = ${host}:${PORT}`,
    'pm = static',
    'pm.max_children = 3',
    'pm.status_path = /status',
    `pm.status_listen = ${host}:${STATUS_PORT}`,
    `access.log = ${dir}/access.log`,
    'access.format = "%m %{REQUEST_URI}e %s"',
  ];
  return write('fpm.conf', `${lines.join('\n')}\n`);
}
