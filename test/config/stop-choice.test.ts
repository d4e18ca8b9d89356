import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { startedBy } from '../../src/config/notation/program.ts';
import { formatLadder } from '../../src/config/notation/stop/ladder.ts';
import { formatSignal } from '../../src/config/notation/stop/signals.ts';
import { PRESET_NAMES, presetOf } from '../../src/config/notation/stop/stop-presets.ts';
import { resolved } from './files.ts';

describe('--stop auto finds the program', () => {
  const found: readonly (readonly [command: readonly string[], program: string, behind: string])[] = [
    [['nginx'], 'nginx', ''],
    [['/usr/sbin/nginx', '-g', 'daemon off;'], 'nginx', ''],
    [['/docker-entrypoint.sh', 'nginx', '-g', 'daemon off;'], 'nginx', 'docker-entrypoint.sh'],
    [['docker-php-entrypoint', 'php-fpm'], 'php-fpm', 'docker-php-entrypoint'],
    [['env', 'nginx'], 'nginx', 'env'],
    [['env', '-i', '-u', 'HOME', 'A=1', 'B=x y', '/usr/sbin/haproxy', '-f', 'x'], 'haproxy', 'env'],
    [['tini', '--', 'nginx'], 'nginx', 'tini'],
    [['/sbin/tini', '-s', '-p', 'SIGTERM', 'nginx'], 'nginx', 'tini'],
    [['dumb-init', '-c', '--', 'nginx'], 'nginx', 'dumb-init'],
    [['gosu', 'postgres', 'postgres', '-D', '/data'], 'postgres', 'gosu'],
    [['nice', '-n', '5', 'nginx'], 'nginx', 'nice'],
    [['sh', '-c', 'exec nginx'], 'nginx', 'sh'],
    [['/bin/sh', '-ec', 'envsubst <a >b && exec nginx -g "daemon off;" $MORE'], 'nginx', 'sh'],
    [['bash', '-c', 'cd /srv; exec puma -C "config; exec sh.rb"'], 'puma', 'bash'],
    [['tini', '--', 'sh', '-c', 'exec env A=1 nginx'], 'nginx', 'tini sh env'],
    [['sh', '-c', '-e', '--', 'exec nginx'], 'nginx', 'sh'],
    [['bash', '--norc', '-o', 'pipefail', '-c', "true # don't\nexec nginx"], 'nginx', 'bash'],
    [['/usr/bin/env', '-S', 'bash -c', 'exec nginx'], 'nginx', 'env bash'],
    [['busybox', 'sh', '-c', 'exec nginx'], 'nginx', 'busybox sh'],
    [['python3', '-m', 'gunicorn', 'app:app'], 'gunicorn', 'python3'],
    [['bundle', 'exec', 'puma'], 'puma', 'bundle'],
  ];
  for (const [command, program, behind] of found) {
    it(`--stop auto finds ${program} in ${command.join(' ')}`, () => {
      const started = startedBy(command);
      assert.equal(started.program, program);
      assert.equal(started.behind.join(' '), behind);
      assert.ok(presetOf(started.program));
    });
  }
});

describe('--stop auto takes no program for certain', () => {
  const unsure: readonly (readonly string[])[] = [
    ['sh', '-c', 'nginx'],
    ['sh', '-c', 'nginx; exec sleep 1'],
    ['sh', '-c', 'false || exec nginx'],
    ['sh', '-c', 'exec nginx | cat'],
    ['sh', '-c', 'exec nginx & wait'],
    ['sh', '-c', 'exec $SERVER nginx'],
    ['sh', '-c', 'echo "; exec nginx"'],
    ['sh', '-c', "echo 'unclosed; exec nginx"],
    ['sh', 'nginx'],
    ['sh', '-c'],
    ['env'],
    ['env', '-S', 'nginx $MORE'],
    ['sh', '-c', '--'],
    ['sh', '-ne', 'exec nginx'],
    ['docker-entrypoint.sh', '-g', 'daemon off;'],
    ['python3', 'nginx'],
    ['tini', '--'],
    ['my-nginx'],
    ['nginx-exporter'],
    ['constructor'],
    [''],
  ];
  for (const command of unsure) {
    it(`--stop auto finds no preset in ${JSON.stringify(command.join(' '))}`, () =>
      assert.equal(presetOf(startedBy(command).program), undefined));
  }
});

describe('a stop preset', () => {
  it('a stop preset gives the ladder, and leaves open whom the signals reach', () => {
    const { run, notes, warnings } = resolved(['--stop', 'auto', '--', '/usr/sbin/nginx']);
    assert.equal(formatLadder(run.member.ladder ?? []), 'QUIT');
    assert.equal(run.host.signalTo, 'tree');
    assert.deepEqual(notes, ['stop ladder QUIT by preset nginx for nginx']);
    assert.deepEqual(warnings, []);
  });

  it('a stop preset can be named for a program of any name', () => {
    const { run, notes } = resolved(['--stop', 'preset:nginx', '--', 'my-server']);
    assert.equal(formatLadder(run.member.ladder ?? []), 'QUIT');
    assert.deepEqual(notes, ['stop ladder QUIT by preset nginx']);
  });

  it('a stop preset shows in the sources of explain', () => {
    const { sources } = resolved(['--stop', 'auto', '--', 'haproxy']);
    const row = sources.find(({ key }) => key === 'stop');
    assert.deepEqual(row, { key: 'stop', value: 'auto', source: '--stop' });
    const signals = sources.find(({ key }) => key === 'stop-signals');
    assert.deepEqual(signals, { key: 'stop-signals', value: 'TERM,INT,USR1', source: 'preset haproxy' });
  });

  it('a stop preset takes its signal for a stop request as well, as images declare it', () => {
    const signals = (...argv: string[]) => resolved(argv).run.member.stopSignals.map(formatSignal).join();
    assert.equal(signals('--stop', 'auto', '--', 'httpd'), 'TERM,INT,WINCH');
    assert.equal(signals('--stop', 'auto', '--', 'postgres'), 'TERM,INT');
    assert.equal(signals('--stop', 'auto', '--stop-signals', 'TERM', '--', 'httpd'), 'TERM');
    assert.equal(signals('--stop', 'WINCH', '--', 'httpd'), 'TERM,INT');
  });

  it('a stop preset with a ladder gives the first rung half of what the grace period leaves', () => {
    const ladder = (...argv: string[]) => formatLadder(resolved(argv).run.member.ladder ?? []);
    assert.equal(ladder('--stop', 'auto', '--', 'postgres'), 'TERM:15s,INT');
    assert.equal(
      ladder('--stop', 'auto', '--grace-period', '2m', '--pre-stop', 'sleep:20s', '--', 'postgres'),
      'TERM:50s,INT',
    );
  });

  it('a stop preset maps the exit code of a graceful stop to 0, unless a flag gives another', () => {
    const policy = (...argv: string[]) => resolved(argv).run.member.exitCode;
    assert.deepEqual(policy('--stop', 'auto', '--', 'puma'), { kind: 'map', codes: { 143: 0 } });
    assert.deepEqual(policy('--stop', 'auto', '--exit-code', 'keep', '--', 'puma'), { kind: 'keep' });
    assert.deepEqual(policy('--stop', 'auto', '--', 'nginx'), { kind: 'keep' });
    const sidecar = ['--role', 'sidecar', '--graveyard', '/g', '--restart-policy', 'Never'];
    assert.deepEqual(policy(...sidecar, '--stop', 'auto', '--', 'puma'), { kind: 'zero-when-stopped' });
  });

  it('--stop auto leaves a program that it does not know alone, and says so', () => {
    const { run, notes } = resolved(['--stop', 'auto', '--', 'env', 'sleep', '9']);
    assert.equal(run.member.ladder, undefined);
    assert.deepEqual(run.member.stopSignals.map(formatSignal), ['TERM', 'INT']);
    assert.deepEqual(notes, ['there is no stop preset for sleep behind env: it gets the stop signal as it arrives']);
  });
});

describe('a stop preset warns', () => {
  const warning = (...argv: string[]) => resolved(['--stop', 'auto', ...argv]).warnings.join('\n');
  const HOOK = 'unix_signal:15 gracefully_kill_them_all';

  it('a stop preset warns of a setting that php-fpm needs', () => {
    assert.match(warning('--', 'php-fpm8.2', '-F'), /^--stop auto: php-fpm .* process_control_timeout/);
  });
  it('a stop preset warns of the hook that uwsgi needs, unless it is there', () => {
    assert.match(warning('--', 'uwsgi', '--http', ':80'), /^--stop auto: uwsgi .* --hook-master-start "unix_signal:15/);
    assert.equal(warning('--', 'uwsgi', '--hook-master-start', HOOK), '');
    assert.equal(warning('--', 'uwsgi', `--hook-master-start=${HOOK}`), '');
  });
  it('a stop preset warns if the grace period of squid is too short for shutdown_lifetime', () => {
    assert.match(warning('--', 'squid', '-N'), /shutdown_lifetime/);
    assert.equal(warning('--grace-period', '40s', '--', 'squid', '-N'), '');
  });
  it('a stop preset warns if the grace period of nats-server is too short for lame duck mode', () => {
    assert.match(warning('--', 'nats-server'), /lame_duck_duration/);
    assert.equal(warning('--grace-period', '150s', '--', 'nats-server'), '');
  });
  it('a stop preset warns of a program that no signal stops gracefully, unless it is drained', () => {
    assert.match(warning('--', 'varnishd', '-F'), /^--stop auto: no signal lets varnishd .* --drain/);
    assert.equal(warning('--drain', '5s', '--', 'varnishd', '-F'), '');
    assert.equal(warning('--pre-stop', 'sleep:5s', '--', 'varnishd', '-F'), '');
  });
  it('a stop preset warns of pgbouncer, because its signals depend on the version', () => {
    assert.match(warning('--', 'pgbouncer'), /preset:pgbouncer@1\.22 .* preset:pgbouncer@1\.23/);
    const ladder = (text: string) => resolved(['--stop', text, '--', 'pgbouncer']).run.member.ladder?.[0]?.signal;
    assert.equal(ladder('preset:pgbouncer@1.22'), 2);
    assert.equal(ladder('preset:pgbouncer@1.23'), 15);
  });
  it('a stop preset warns of another init that signals the workers, too', () => {
    assert.match(warning('--', 'dumb-init', '--', 'nginx'), /^dumb-init sends signals to all processes of nginx/);
    assert.match(warning('--', 'tini', '-g', 'nginx'), /^tini sends/);
    assert.equal(warning('--', 'tini', 'nginx'), '');
    assert.equal(warning('--', 'dumb-init', '-c', 'nginx'), '');
    assert.equal(warning('--', 'dumb-init', 'redis-cli'), '');
  });
  it('a stop preset warns of --signal-to group, and of no other mode', () => {
    assert.match(warning('--signal-to', 'group', '--', 'nginx'), /^--signal-to group: workers of nginx would get/);
    for (const mode of ['first', 'tree']) assert.equal(warning('--signal-to', mode, '--', 'nginx'), '');
    assert.equal(warning('--signal-to', 'group', '--', 'redis-cli'), '');
  });
  it('a stop preset reads no option of another init among the arguments of the program', () => {
    assert.equal(warning('--', 'tini', 'nginx', '-g', 'daemon off;'), '');
    assert.match(warning('--', 'dumb-init', '--', 'nginx', '-c', '/n.conf'), /^dumb-init sends/);
    assert.match(warning('--', 'dumb-init', 'nginx', '-c', '/n.conf'), /^dumb-init sends/);
  });
});

it('every preset has a name that --stop takes', () => {
  for (const name of PRESET_NAMES) assert.ok(resolved(['--stop', `preset:${name}`, '--', 'x']));
});
