import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { pythonApp } from './apps.ts';
import { judge } from './judge.ts';
import { PORT } from './stage.ts';

judge({
  program: '/usr/bin/gunicorn',
  packages: 'gunicorn',
  preset: 'gunicorn',
  ladder: 'TERM',
  wrong: 'QUIT',
  prepare: (stage) => {
    stage.write('app.py', pythonApp(stage));
    const { dir, host } = stage;
    const timeouts = ['--graceful-timeout', '600', '--timeout', '600'];
    const files = ['--chdir', dir, '--pid', `${dir}/pid`, '--worker-tmp-dir', dir, '--access-logfile', '-'];
    return ['/usr/bin/gunicorn', '--workers', '3', '--bind', `${host}:${PORT}`, ...timeouts, ...files, 'app:app'];
  },
  // Its workers hold the socket, also that one which is not done.
  keepsSocket: /Handling signal: term/,
  says: /Handling signal: term[\s\S]*Shutting down: Master/,
  isClean: (stage, output) => {
    assert.match(output, /"GET \/slow HTTP\/1.1" 200/);
    assert.ok(!existsSync(`${stage.dir}/pid`));
  },
});
