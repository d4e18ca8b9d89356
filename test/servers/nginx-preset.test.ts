import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { judge, LOG } from './judge.ts';
import { PORT } from './stage.ts';

judge({
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
