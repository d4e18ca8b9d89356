import assert from 'node:assert/strict';
import { judge } from './judge.ts';
import { PORT, type Stage } from './stage.ts';

for (const mode of [[], ['-W']]) {
  judge({
    program: '/usr/sbin/haproxy',
    packages: 'haproxy',
    preset: 'haproxy',
    title: mode.length === 0 ? 'haproxy' : 'haproxy with a master',
    ladder: 'USR1',
    wrong: 'TERM',
    prepare: (stage) => ['/usr/sbin/haproxy', ...mode, '-f', configure(stage)],
    says: /Proxy web stopped/,
    isClean: (_stage, output) => assert.match(output, /GET \/slow HTTP\/1.1/),
  });
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
`,
  );
}
