import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { judge, LOG } from './judge.ts';
import { PORT } from './stage.ts';

judge({
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
