import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { judge, LOG } from './judge.ts';
import { PORT } from './stage.ts';

judge({
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
