import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { rubyApp } from './apps.ts';
import { judge } from './judge.ts';
import { PORT } from './stage.ts';

for (const workers of ['0', '2']) {
  judge({
    program: '/usr/bin/puma',
    packages: 'puma',
    preset: 'puma',
    title: workers === '0' ? 'puma' : 'puma with workers',
    ladder: 'TERM',
    wrong: 'QUIT',
    status: 143,
    prepare: (stage) => {
      const { dir, host } = stage;
      const app = stage.write('config.ru', rubyApp(stage));
      const files = ['--dir', dir, '--pidfile', `${dir}/pid`];
      return ['/usr/bin/puma', '--workers', workers, '--bind', `tcp://${host}:${PORT}`, ...files, app];
    },
    says: workers === '0' ? /Gracefully stopping, waiting for requests to finish/ : /Gracefully shutting down workers/,
    isClean: (stage) => assert.ok(!existsSync(`${stage.dir}/pid`)),
  });
}
