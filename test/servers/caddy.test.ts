import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { judge, LOG } from './judge.ts';
import { PORT } from './stage.ts';

judge({
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
