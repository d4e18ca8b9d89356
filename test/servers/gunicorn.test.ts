import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { pythonApp } from './apps.ts';
import { judge } from './judge.ts';
import { PORT } from './stage.ts';

const WORKERS = 3;

judge({
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
  // Between its fork and its own handlers a worker loses TERM, by the handlers of its master, which sends no other one
  // before --graceful-timeout is over (gunicorn 20.1); and the last worker is forked up to 200 ms after the first.
  isUp: (output) => output.split('worker is up').length > WORKERS,
  // Its workers hold the socket, also that one which is not done.
  keepsSocket: /Handling signal: term/,
  says: /Handling signal: term[\s\S]*Shutting down: Master/,
  isClean: (stage, output) => {
    assert.match(output, /"GET \/slow HTTP\/1.1" 200/);
    assert.ok(!existsSync(`${stage.dir}/pid`));
  },
});
