import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { existsSync, globSync, readFileSync, rmSync } from 'node:fs';
import { judge, LOG } from './judge.ts';
import { PORT } from './stage.ts';

judge({
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
