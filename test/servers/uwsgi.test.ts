import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { pythonApp } from './apps.ts';
import { judge } from './judge.ts';
import { PORT } from './stage.ts';

const HOOK = ['--hook-master-start', 'unix_signal:15 gracefully_kill_them_all'];

judge({
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
