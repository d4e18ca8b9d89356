/** Which command is plain: init decides it by the form of the command line and the environment. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import '../helpers/seeded.ts';
import { existsSync } from 'node:fs';
import fc from 'fast-check';
import { resolveRun } from '../../src/config/resolve.ts';
import { filesOf } from '../config/files.ts';
import { eachBuild, layBench } from './scripted.ts';

/** What init answers `sexton explain`. */
function whyNode(init: string, words: readonly string[], env: Readonly<Record<string, string>>): string {
  const { stderr, status } = spawnSync(init, words, { argv0: 'sexton-plain', env, encoding: 'utf8' });
  assert.equal(status, 0);
  return stderr.trimEnd().replaceAll('\n', ' ');
}

const PLAIN: readonly (readonly [readonly string[], Readonly<Record<string, string>>])[] = [
  [[], {}],
  [['run', '--name', 'web-1', '--role=main', '--restart-policy', 'Always'], {}],
  [['--grace-period', '000020ms', '--session', '9C-uid', '--log-format=json'], {}],
  [['--log-level', 'warn'], { SEXTON_LOG_LEVEL: 'info' }],
  [['--drain', '0s'], {}],
  [['--sleep-after', '10s'], {}],
  [['--sleep-after=never'], { SEXTON_SLEEP_AFTER: '1m' }],
  [['--drain=000000ms'], { SEXTON_POD_UID: 'a-1', SEXTON_NAME: 'x' }],
  [[], { SEXTON_GRACE_PERIOD: '9999m', SEXTON_LOG_LEVEL: 'error' }],
  [['--grace-period', '1m30s', '--sleep-after=1h0m1s5ms'], {}],
  [[], { SEXTON_DRAIN: '0' }],
  [['--grace-period', '2147483s'], {}],
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
  [['--grace-period', '30s1m'], {}, '--grace-period 30s1m'],
  [['--grace-period', '1m30'], {}, '--grace-period 1m30'],
  [['--grace-period', '1s1s'], {}, '--grace-period 1s1s'],
  [['--grace-period', '2147484s'], {}, '--grace-period 2147484s'],
  [['--grace-period', '99999999999s'], {}, '--grace-period 99999999999s'],
  [['--grace-period', 's'], {}, '--grace-period s'],
  [['--grace-period', ''], {}, '--grace-period'],
  [['--grace-period', '00s'], {}, '--grace-period 00s'],
  [['--name', 'x-'], {}, '--name x-'],
  [['--sleep-after', '0s'], {}, '--sleep-after 0s'],
  [['--http', ':8080'], {}, '--http :8080'],
  [['-x'], {}, '-x --'],
  [[], { SEXTON_HTTP: ':8080' }, 'SEXTON_HTTP=:8080'],
  [[], { SEXTON_SERVICE_HOST: '10.0.0.1' }, 'SEXTON_SERVICE_HOST=10.0.0.1'],
  [[], { SEXTON_CONFIG: '/c' }, 'SEXTON_CONFIG=/c'],
  [[], { SEXTON_POD_UID: 'a b' }, 'SEXTON_POD_UID=a b'],
  [[], { KUBEXIT_NAME: 'x' }, 'KUBEXIT_NAME=x'],
];

eachBuild('init starts Node exactly for what it says, and no Node for a plain command', async (t, build) => {
  for (const [flags, env, why] of [...PLAIN, ...WITH_NODE]) {
    const bench = await layBench(t, build);
    bench.noteSupervisors();
    const words = [...flags, '--', 'true'];
    const shown = JSON.stringify([env, ...words]);
    assert.equal(whyNode(bench.sexton, words, env), why ?? '', shown);
    const init = bench.start(words, { env: { SEXTON_LOG_LEVEL: undefined, ...env } });
    if (why === undefined) assert.deepEqual(await init.ended, { code: 0, signal: null }, shown);
    else (await init.supervisor()).commit('exit', 0);
    await init.ended;
    assert.equal(existsSync(bench.path('node-started')), why !== undefined, shown);
  }
});

const FLAGS = ['name', 'role', 'restart-policy', 'grace-period', 'drain', 'graveyard', 'session', 'log-level'];
const flag = fc.constantFrom(...FLAGS, 'log-format', 'sleep-after', 'hold', 'http', 'nam', 'pod-uid');
/** Right for one of the flags, or nearly so. */
const value = fc.constantFrom(
  ...['', 'web', '-', 'a-', '-a', 'A', 'a_b', 'x'.repeat(63), 'x'.repeat(64), 'main', 'sidecar', 'Never', 'never'],
  ...[
    'Always',
    'OnFailure',
    '0',
    '5',
    '0s',
    '00ms',
    '5s',
    '05s',
    '999999s',
    '1000000s',
    '9999m',
    '10000m',
    '1h',
    '1m30s',
    '30s1m',
    '596h31m23s647ms',
    '596h31m23s648ms',
  ],
  ...[
    '/g',
    '/',
    '//',
    'g',
    '/a b',
    `/${'g'.repeat(36)}`,
    `/${'g'.repeat(37)}`,
    'debug',
    'info',
    'warn',
    'error',
    'WARN',
  ],
  ...['json', 'text', 'ü', 'a\n', '=', '--', 'x'.repeat(65)],
);
const pair = fc.tuple(flag, value);
const line = fc.record({
  runs: fc.boolean(),
  flags: fc.array(fc.tuple(pair, fc.boolean()), { maxLength: 3 }),
  variables: fc.array(pair, { maxLength: 2 }),
});

eachBuild('the configuration accepts every command line that init starts at once', async (t, build) => {
  const { sexton } = await layBench(t, build);
  let plain = 0;
  for (const { runs, flags, variables } of fc.sample(line, LINES)) {
    const given = flags.flatMap(([[name, text], isJoined]) => (isJoined ? [`--${name}=${text}`] : [`--${name}`, text]));
    const words = [...(runs ? ['run'] : []), ...given, '--', 'true'];
    const env = Object.fromEntries(
      variables.map(([name, text]) => [`SEXTON_${name.replaceAll('-', '_').toUpperCase()}`, text]),
    );
    if (whyNode(sexton, words, env) !== '') continue;
    plain++;
    assert.ok((await resolveRun(words, env, filesOf())).ok, JSON.stringify([env, ...words]));
  }
  assert.ok(plain > LINES / 30, `${plain}`);
});

const LINES = 400;
