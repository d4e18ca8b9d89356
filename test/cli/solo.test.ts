import assert from 'node:assert/strict';
import { existsSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe } from 'node:test';
import { AWAKE, type Container, startContainer } from '../helpers/container.ts';
import { type MemberOptions, member } from '../helpers/member.ts';
import { type Outcome, run } from '../helpers/outcome.ts';
import { SEXTON } from '../helpers/paths.ts';
import { childrenOf, programOf, send, stateOf } from '../helpers/process.ts';
import { build } from '../helpers/program.ts';
import { type Stage, scenario } from '../helpers/scenario.ts';
import { readTimeline, waitForEvent } from '../helpers/timeline.ts';
import { waitFor } from '../helpers/wait.ts';

async function startSolo(stage: Stage, flags: readonly string[], options: MemberOptions = {}): Promise<Container> {
  const { scratch } = stage;
  // An event of the container before it must not pass for one of this container.
  writeFileSync(scratch.log, '');
  const command = member(stage, 'app', options);
  const container = startContainer(scratch, { flags: ['--name', 'app', ...flags], command });
  await waitForEvent(scratch.log, 'app', 'Started');
  return container;
}

/** What `kubectl exec` would show. */
async function exec(container: Container, ...args: readonly string[]): Promise<Outcome> {
  const pid = String(await container.pid1());
  return run(['nsenter', '--target', pid, '--pid', '--mount', '--', SEXTON, ...args]);
}

describe('without a graveyard', { concurrency: 2 }, () => {
  scenario('D2 sexton status shows the command of PID 1, whether or not a supervisor answers', async (stage) => {
    const row = /^app +main +running +healthy +\d+s +0 +\d+ +20s$/m;
    const plain = await startSolo(stage, ['--grace-period', '20s']);
    assert.equal(childrenOf(await plain.pid1()).length, 1, 'there is none');
    assert.match((await exec(plain, 'status')).stdout, row);
    assert.deepEqual(await exec(plain, 'status', '--check'), { stdout: 'app: healthy\n', stderr: '', code: 0 });
    await plain.kill();
    const container = await startSolo(stage, ['--grace-period', '20s', '--log-level', 'info', ...AWAKE]);
    assert.match((await exec(container, 'status')).stdout, row);
    send(await container.supervisor(), 'SIGSTOP');
    assert.match((await exec(container, 'status')).stdout, row);
    assert.deepEqual(await exec(container, 'status', '--check'), { stdout: 'app: healthy\n', stderr: '', code: 0 });
    const { stdout, code } = await exec(container, 'status', '--check', 'db');
    assert.deepEqual([stdout, code], ['db: no such member\n', 1]);
    const { graveyard, members } = JSON.parse((await exec(container, 'status', '--output=json')).stdout);
    const { AgeMs, Pid, ...rest } = members[0];
    assert.deepEqual([graveyard, rest], [null, { Name: 'app', Role: 'main', Phase: 'running', GracePeriodMs: 20_000 }]);
    assert.ok(AgeMs >= 0 && Pid > 1);
    await container.kill();
  });

  scenario('D2 sexton status finds the command behind the flags of another program', async ({ scratch }) => {
    for (const [name, flags] of [
      ['tini', ['-g', '-e', '3', '-pSIGHUP', '--']],
      ['dumb-init', ['-c', '--rewrite', '1:2']],
    ] as const) {
      const link = scratch.path(name);
      symlinkSync(SEXTON, link);
      const container = startContainer(scratch, { bare: true, command: [link, ...flags, 'sleep', '600'] });
      const pid1 = await container.pid1();
      await waitFor('the command runs', () => childrenOf(pid1).some((pid) => programOf(pid).endsWith('sleep')));
      assert.match((await exec(container, 'status')).stdout, /^sleep +main +running +healthy /m);
      await container.kill();
    }
  });

  scenario('D2 sexton status says so while the command waits for its start', async (stage) => {
    const gate = ['--start-after', 'http://127.0.0.1:1/=ready', '--start-timeout', '1h', '--restart', 'always'];
    const flags = ['--name', 'app', ...gate];
    const container = startContainer(stage.scratch, { flags, command: member(stage, 'app') });
    assert.match((await exec(container, 'status')).stdout, /^app +main +not running +- +- +- +- +-$/m);
    const { stdout, code } = await exec(container, 'status', '--check');
    assert.deepEqual([stdout, code], ['app: not healthy: its command does not run\n', 1]);
    await container.kill();
  });

  scenario('D2 a command of which only the first thread has ended runs', async ({ scratch }) => {
    const container = startContainer(scratch, { flags: ['--name', 'app'], command: [build('init/headless.c')] });
    const pid1 = await container.pid1();
    await waitFor('its first thread has ended', () => childrenOf(pid1).some((pid) => stateOf(pid) === 'Z'));
    assert.match((await exec(container, 'status')).stdout, /^app +main +running +healthy /m);
    await container.kill();
  });

  scenario('D2 the health of a command with probes is seen by HTTP alone', async (stage) => {
    for (const flags of [
      ['--readiness', 'exec:true'],
      ['--notify', 'command'],
    ]) {
      const silent = await startSolo(stage, flags);
      assert.match((await exec(silent, 'status')).stdout, /^app +main +running +unknown /m);
      const { stderr, code } = await exec(silent, 'status', '--check');
      const why = '--check: without a graveyard probes are seen by HTTP alone; add --http to PID 1';
      assert.deepEqual([stderr, code], [`sexton: cannot run sexton status: ${why}\n`, 125]);
      await silent.kill();
    }
  });

  scenario('D2 sexton status asks by HTTP where it is on, and shows what it cannot learn as unknown', async (stage) => {
    const ready = join(stage.scratch.dir, 'ready');
    const socket = join(stage.scratch.dir, 'http.sock');
    const probe = ['--readiness', `exec:test -e ${ready},period=1s`, '--http', `unix:${socket}`];
    const container = await startSolo(stage, probe);
    await waitFor('HTTP is answered', () => existsSync(socket));
    const before = await exec(container, 'status', '--check');
    assert.deepEqual([before.stdout, before.code], ['app: not healthy: running\n', 1]);
    assert.match((await exec(container, 'status')).stdout, /^app +main +running +started +\d+s +0 +- +- +-$/m);
    writeFileSync(ready, '');
    while ((await exec(container, 'status', '--check')).code !== 0);
    unlinkSync(socket);
    const { stdout, stderr } = await exec(container, 'status');
    assert.match(stdout, /^app +main +running +unknown /m);
    assert.match(stderr, /^sexton: unix:\S+http\.sock does not answer: .*ENOENT/);
    await container.kill();
  });

  scenario('D2 sexton stop asks PID 1, and says first what will happen', async (stage) => {
    const container = await startSolo(stage, ['--grace-period', '20s']);
    for (const [args, problem] of [
      [['app'], 'app: without a graveyard there is only app; give no name'],
      [['--grace', '5s'], '--grace: without a graveyard a stop has the declared grace period; leave it out'],
    ] as const)
      assert.equal((await exec(container, 'stop', ...args)).stderr, `sexton: cannot run sexton stop: ${problem}\n`);
    const { stdout } = await exec(container, 'stop');
    const [what, where] = stdout.split('\n');
    assert.equal(what, 'stopping app within 20s: PID 1 gets TERM');
    assert.match(where ?? '', /^this call ends with the container of app: exit code 137; /);
    assert.deepEqual((await container.exit()).status, 0);
    assert.deepEqual(readTimeline(stage.scratch.log).signals('app'), [15]);
  });

  scenario('sexton restart needs a graveyard, and leaves the command alone where there is none', async (stage) => {
    const container = await startSolo(stage, []);
    const { stdout, stderr, code } = await exec(container, 'restart');
    const why = 'PID 1 of this container runs without a graveyard; name the shared directory with --graveyard DIR';
    assert.deepEqual([stdout, stderr, code], ['', `sexton: cannot run sexton restart: ${why}\n`, 125]);
    await container.signal('SIGTERM');
    assert.equal((await container.exit()).status, 0);
    assert.deepEqual(readTimeline(stage.scratch.log).signals('app'), [15]);
  });
});
