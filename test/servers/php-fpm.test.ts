import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { getByFastCgi } from './fastcgi.ts';
import { type HttpServer, LOG, testCut, testGracefulStop } from './graceful-stop.ts';
import { PORT, type Stage } from './stage.ts';

const PHP = '/usr/sbin/php-fpm8.2';

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
    `access.log = ${dir}/access.log`,
    'access.format = "%m %{REQUEST_URI}e %s"',
  ];
  return write('fpm.conf', `${lines.join('\n')}\n`);
}
