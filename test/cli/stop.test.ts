import assert from 'node:assert/strict';
import { chmodSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe } from 'node:test';
import { AWAKE } from '../helpers/container.ts';
import type { Outcome } from '../helpers/outcome.ts';
import { send } from '../helpers/process.ts';
import { type Stage, scenario } from '../helpers/scenario.ts';
import { readTimeline, waitForEvent } from '../helpers/timeline.ts';
import { readTombstone, waitForDeath, waitForTombstone } from '../helpers/tombstone.ts';
import { waitFor } from '../helpers/wait.ts';
import { runPod } from '../pods/kubelet.ts';
import { after, cast } from '../pods/members.ts';
import { sexton, sextonOf, startPod } from './pod.ts';

const stop = (stage: Stage, ...args: readonly string[]): Promise<Outcome> => sextonOf(stage, ['stop', ...args]);

function requestsIn({ scratch }: Stage): string[] {
  return readdirSync(scratch.graveyard).filter((file) => file.endsWith('.stop'));
}

function assertLines(stdout: string, ...patterns: readonly RegExp[]): void {
  const [first = '', ...lines] = stdout.split('\n').slice(0, -1);
  assert.match(first, /^stopping [a-z, ]+ within /);
  assert.equal(lines.length, patterns.length, stdout);
  for (const pattern of patterns) assert.match(stdout, pattern);
}

describe('sexton stop', { concurrency: 3 }, () => {
  scenario('sexton stop stops a pod in order, within one deadline, and reports each death', async (stage) => {
    const { main, sidecar } = cast(stage);
    const { scratch } = stage;
    const pod = await startPod(
      stage,
      sidecar('db'),
      sidecar('proxy', {}, after('db=started')),
      main('work', { term: 300, exit: 3 }, after('proxy=started')),
    );
    const { stdout, stderr, code } = await stop(stage);
    assert.deepEqual([stderr, code], ['', 0], stdout);
    assertLines(
      stdout,
      /^work stopped, exit code 3, after \d+\w*$/m,
      /^proxy stopped, exit code 0, after /m,
      /^db stopped, exit code 0, after /m,
    );
    await pod.end();
    const log = readTimeline(scratch.log);
    log.exitsBeforeSignalTo('work', 'proxy');
    log.exitsBeforeSignalTo('proxy', 'db');
    const stones = ['db', 'proxy', 'work'].map((name) => readTombstone(scratch.graveyard, name));
    assert.deepEqual(new Set(stones.map((it) => it?.StopReason)), new Set(['request']));
    const [deadline, ...others] = new Set(stones.map((it) => it?.Deadline));
    assert.deepEqual([typeof deadline, others], ['number', []]);
    assert.deepEqual([pod.exitOf('db'), pod.exitOf('proxy'), pod.exitOf('work')], [0, 0, 3]);
    for (const name of ['db', 'proxy', 'work']) assert.deepEqual(log.signals(name), [15], name);
    assert.deepEqual(requestsIn(stage), []);
  });

  scenario('N32 a later request takes effect with a shorter grace, and not with a longer one', async (stage) => {
    const { main } = cast(stage);
    const { scratch } = stage;
    const pod = await startPod(stage, main('work', { ignore: 'TERM' }));
    const asked = await stop(stage, '--no-wait', '--grace', '100s');
    assert.deepEqual(asked, { stdout: 'asked to stop: work\n', stderr: '', code: 0 });
    const stopping = await waitForTombstone(
      scratch.graveyard,
      'work',
      'has a deadline',
      (it) => it.Deadline !== undefined,
    );
    // The supervisor has to take the longer one before the shorter one is sent.
    await stop(stage, '--no-wait', '--grace', '200s');
    await waitFor('the longer one is taken', () => requestsIn(stage).length === 0);
    await stop(stage, '--no-wait', '--grace=30s');
    const shorter = await waitForTombstone(
      scratch.graveyard,
      'work',
      'has another deadline',
      (it) => it.Deadline !== stopping.Deadline,
    );
    assert.ok((shorter.Deadline ?? 0) < (stopping.Deadline ?? 0), 'it moved earlier');
    const { stdout, code } = await stop(stage, '--grace', '1s', 'work');
    assert.match(stdout, /^work killed, exit code 137, SIGKILL, after /m);
    assert.equal(code, 0);
    await pod.end();
    assert.equal(pod.exitOf('work'), 137);
    assert.deepEqual(readTimeline(scratch.log).signals('work'), [15]);
  });

  scenario('sexton stop ends a start gate at once, and the command never runs', async (stage) => {
    const { main, sidecar } = cast(stage);
    const { scratch } = stage;
    const pod = runPod(scratch, {
      restartPolicy: 'Never',
      graceMs: 300_000,
      containers: [main('work', {}, after('absent=started')), sidecar('proxy', {}, after('work=started'))],
    });
    for (const name of ['work', 'proxy'])
      await waitForTombstone(scratch.graveyard, name, 'waits', (it) => it.Phase === 'waiting');
    const { stdout, code } = await stop(stage);
    assert.equal(code, 0, stdout);
    assertLines(stdout, /^work never-started, /m, /^proxy never-started, /m);
    await pod.end();
    for (const name of ['work', 'proxy']) readTimeline(scratch.log).neverStarted(name);
    assert.equal(pod.exitOf('proxy'), 0);
  });

  scenario('sexton stop of one sidecar leaves its main and the other sidecar running', async (stage) => {
    const { main, sidecar } = cast(stage);
    const { scratch } = stage;
    const pod = await startPod(
      stage,
      sidecar('proxy'),
      sidecar('logs'),
      main('work', { after: scratch.path('enough'), run: 1 }, after('proxy=started')),
    );
    const { stdout, code } = await stop(stage, 'proxy');
    assert.equal(code, 0, stdout);
    assertLines(stdout, /^proxy stopped, exit code 0, after /m);
    await waitFor('its container has ended', () => !pod.state('proxy').running);
    for (const name of ['work', 'logs']) {
      const { Phase, StopRequested } = readTombstone(scratch.graveyard, name) ?? {};
      assert.deepEqual([Phase, StopRequested], ['running', undefined], name);
    }
    assert.match((await stop(stage, 'proxy')).stdout, /^proxy was dead already: stopped, exit code 0\n$/);
    writeFileSync(scratch.path('enough'), '');
    assert.equal(await pod.end(), 'Succeeded');
    readTimeline(scratch.log).exitsBeforeSignalTo('work', 'logs');
    readTimeline(scratch.log).notRestarted('proxy');
  });

  scenario(
    'sexton stop without flags in a container finds the graveyard of its PID 1, as status does',
    async (stage) => {
      const { main } = cast(stage);
      const pod = await startPod(stage, main('work'), main('other'));
      const before = ['nsenter', '--target', String(await pod.current('work').pid1()), '--pid', '--mount', '--'];
      const seen = await sexton(stage, ['status'], before);
      assert.match(seen.stdout, /^work +main +running(?:, asleep)? +healthy /m, seen.stderr);
      const { stdout, code } = await sexton(stage, ['stop', 'other'], before);
      assert.match(stdout, /^other stopped, exit code 0, after /m);
      assert.equal(code, 0);
      await pod.delete();
    },
  );

  scenario('D1 sexton stop in a container that it stops says what will happen before it asks', async (stage) => {
    const { main } = cast(stage);
    const pod = await startPod(stage, main('work', { ignore: 'TERM' }), main('other'));
    const before = ['nsenter', '--target', String(await pod.current('work').pid1()), '--pid', '--mount', '--'];
    // Killed with its container, as an exec of kubectl is: what it has said by then is all that is ever read.
    const { stdout, code } = await sexton(stage, ['stop', '--grace', '300ms'], before);
    const [what, who] = stdout.split('\n');
    assert.equal(what, 'stopping other, work within 300ms');
    assert.match(who ?? '', /^this call runs in the container of work and ends with it: exit code 137 /);
    // It may still read the death of its own container before the kernel kills it.
    if (code !== null) assert.match(stdout, /^work killed, exit code 137, SIGKILL, after /m);
    await pod.end();
  });

  scenario(
    'the next supervisor hears a request that a dead one missed, and signals the command once',
    async (stage) => {
      const { main } = cast(stage);
      const { scratch } = stage;
      const pod = await startPod(stage, main('work', { term: 100 }, AWAKE));
      const supervisor = await pod.current('work').supervisor();
      send(supervisor, 'SIGSTOP');
      assert.equal((await stop(stage, '--no-wait')).code, 0);
      assert.equal(requestsIn(stage).length, 1);
      send(supervisor, 'SIGKILL');
      assert.equal(await pod.end(), 'Succeeded');
      assert.deepEqual(readTimeline(scratch.log).signals('work'), [15]);
      assert.equal(readTombstone(scratch.graveyard, 'work')?.StopReason, 'request');
    },
  );

  scenario('sexton stop exits with 1 and names the members that outlive the grace period', async (stage) => {
    const { main } = cast(stage);
    const { scratch } = stage;
    const pod = await startPod(stage, main('work'), main('deaf', {}, AWAKE));
    const supervisor = await pod.current('deaf').supervisor();
    send(supervisor, 'SIGSTOP');
    await stop(stage, '--no-wait', '--grace', '290s');
    await waitForDeath(scratch.graveyard, 'work');
    const { stdout, stderr, code } = await stop(stage, '--grace', '200ms', 'work', 'deaf');
    assertLines(stdout, /^work was dead already: stopped, exit code 0$/m);
    assert.match(stderr, /^sexton: the grace period is over, but not dead: deaf \(running\); see sexton status/);
    assert.equal(code, 1);
    // The request is still there, and a supervisor that continues hears it.
    send(supervisor, 'SIGCONT');
    await pod.end();
    assert.equal(readTombstone(scratch.graveyard, 'deaf')?.StopReason, 'request');
  });

  scenario('sexton stop reports a member that is killed during the wait', async (stage) => {
    const { main } = cast(stage);
    const { scratch } = stage;
    const pod = await startPod(stage, main('work', { ignore: 'TERM' }));
    const stopped = stop(stage);
    await waitForEvent(scratch.log, 'work', 'Signal');
    await pod.current('work').kill();
    const { stdout, code } = await stopped;
    assert.match(stdout, /^work lost, exit code unknown, after /m);
    assert.equal(code, 0);
    await pod.end();
    assert.match((await stop(stage)).stderr, /no member is alive in the graveyard/);
  });

  scenario('sexton stop refuses a request that it cannot make, and asks no member', async (stage) => {
    const { main } = cast(stage);
    const { scratch } = stage;
    const pod = await startPod(stage, main('work'));
    writeFileSync(join(scratch.graveyard, 'old'), 'Born: 2020-01-01T00:00:00Z\n');
    const wrong = async (...args: readonly string[]): Promise<string> => {
      const { stdout, stderr, code } = await stop(stage, ...args);
      assert.deepEqual([stdout, code], ['', 125], stderr);
      return stderr.replace(/^sexton: cannot run sexton stop: (.*)\n$/, '$1');
    };
    assert.equal(await wrong('wrok'), 'unknown member wrok; did you mean work?');
    assert.equal(await wrong('work', 'zzz'), 'unknown member zzz; there are old, work');
    assert.equal(
      await wrong('work', 'old'),
      'old cannot be asked to stop: run by kubexit, which reads no requests; stop its container instead',
    );
    chmodSync(scratch.graveyard, 0o755);
    const before = ['setpriv', '--reuid', '54321', '--regid', '54321', '--clear-groups', '--'];
    const denied = await sextonOf(stage, ['stop'], before);
    assert.match(denied.stderr, /cannot ask work to stop: EACCES: .*; make the directory writable for this uid/);
    assert.equal(denied.code, 125);
    const { Phase, StopRequested } = readTombstone(scratch.graveyard, 'work') ?? {};
    assert.deepEqual([Phase, StopRequested, requestsIn(stage)], ['running', undefined, []]);
    const { stdout, stderr, code } = await stop(stage);
    assert.match(stdout, /^work stopped, exit code 0, after /m);
    assert.equal(stderr, 'sexton: old cannot be asked to stop: run by kubexit, which reads no requests\n');
    assert.equal(code, 0);
    assert.match(await wrong(), /^old cannot be asked to stop: .*, and no other member is alive$/);
    await pod.end();
  });
});
