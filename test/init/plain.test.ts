/** Init and the configuration agree on which command is plain: the two read the same command line, each in its way. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { whyNode } from '../../src/cli/config/plain.ts';
import { eachBuild, layBench } from './scripted.ts';

const PLAIN: readonly (readonly [readonly string[], Readonly<Record<string, string>>])[] = [
  [[], {}],
  [['run', '--name', 'web-1', '--role=main', '--restart-policy', 'Always'], {}],
  [['--grace-period', '000020ms', '--session', '9C-uid', '--log-format=json'], {}],
  [['--log-level', 'warn'], { SEXTON_LOG_LEVEL: 'info' }],
  [['--drain', '0s'], {}],
  [['--drain=000000ms'], { SEXTON_POD_UID: 'a-1', SEXTON_NAME: 'x' }],
  [[], { SEXTON_GRACE_PERIOD: '9999m', SEXTON_LOG_LEVEL: 'error' }],
];

/** Each with its reason. */
const WITH_NODE: readonly (readonly [readonly string[], Readonly<Record<string, string>>, string])[] = [
  [['--drain', '5s'], {}, '--drain 5s'],
  [['--drain', '0s', '--grace-period', '1s'], {}, '--drain 0s'],
  [[], { SEXTON_DRAIN: '1m' }, 'SEXTON_DRAIN=1m'],
  [['--graveyard', '/pod'], {}, '--graveyard /pod'],
  [['--role', 'sidecar'], {}, '--role sidecar'],
  [['--log-level', 'info'], {}, '--log-level info'],
  [[], { SEXTON_LOG_LEVEL: 'debug' }, 'SEXTON_LOG_LEVEL=debug'],
  [['--grace-period', '1m30s'], {}, '--grace-period 1m30s'],
  [['--grace-period', '1000000s'], {}, '--grace-period 1000000s'],
  [['--grace-period', '10000m'], {}, '--grace-period 10000m'],
  [['--grace-period', '00s'], {}, '--grace-period 00s'],
  [['--name', 'x-'], {}, '--name x-'],
  [['--http', ':8080'], {}, '--http'],
  [['-x'], {}, '-x'],
  [[], { SEXTON_HTTP: ':8080' }, 'SEXTON_HTTP=:8080'],
  [[], { SEXTON_SERVICE_HOST: '10.0.0.1' }, 'SEXTON_SERVICE_HOST=10.0.0.1'],
  [[], { SEXTON_CONFIG: '/c' }, 'SEXTON_CONFIG=/c'],
  [[], { SEXTON_POD_UID: 'a b' }, 'SEXTON_POD_UID="a b"'],
  [[], { KUBEXIT_NAME: 'x' }, 'KUBEXIT_NAME'],
];

eachBuild('a command is plain to init exactly where the configuration says so', async (t, build) => {
  for (const [flags, env, why] of [...PLAIN, ...WITH_NODE]) {
    const bench = await layBench(t, build);
    bench.noteSupervisors();
    const words = [...flags, '--', 'true'];
    const shown = JSON.stringify([env, ...words]);
    assert.equal(
      whyNode(words, env, () => true),
      why,
      shown,
    );
    const init = bench.start(words, { env: { SEXTON_LOG_LEVEL: undefined, ...env } });
    if (why === undefined) assert.deepEqual(await init.ended, { code: 0, signal: null }, shown);
    else (await init.supervisor()).commit('exit', 0);
    await init.ended;
    assert.equal(existsSync(bench.path('node-started')), why !== undefined, shown);
  }
});
