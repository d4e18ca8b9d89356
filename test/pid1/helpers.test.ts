/** Commands of probes and hooks: what they inherit, their output, their leftovers, and those that cannot be started. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe } from 'node:test';
import { makeCgroup, whyNoCgroup } from '../helpers/cgroup.ts';
import { type Container, startContainer } from '../helpers/container.ts';
import { atOnce } from '../helpers/engine.ts';
import { type MemberOptions, member } from '../helpers/member.ts';
import { argumentsOf, childrenOf } from '../helpers/process.ts';
import { type Stage, scenario } from '../helpers/scenario.ts';
import { readTimeline, waitForEvent } from '../helpers/timeline.ts';
import { readTombstone, waitForTombstone } from '../helpers/tombstone.ts';
import { waitFor, waitForFile } from '../helpers/wait.ts';

/** The fixture itself, as in an image that has no shell. */
function hook(stage: Stage, name: string, options: MemberOptions = {}): string {
  return `exec:${member(stage, name, options).join(' ')}`;
}

function start(
  stage: Stage,
  flags: readonly string[],
  more: Partial<Parameters<typeof startContainer>[1]> = {},
): Container {
  const declared = ['--name', 'app', '--graveyard', stage.scratch.graveyard, '--restart-policy', 'Never'];
  return startContainer(stage.scratch, { flags: [...declared, ...flags], command: member(stage, 'app'), ...more });
}

/** All of it that holds for the log in both formats: one line per entry, and nothing that a terminal acts on. */
function linesOf(container: Container): string[] {
  const text = Buffer.from(container.stderr(), 'latin1').toString();
  assert.doesNotMatch(text, /[^\P{C}\n]|[\p{Zl}\p{Zp}]/u);
  return text.split('\n').slice(0, -1);
}

describe('commands of hooks and probes', { concurrency: atOnce(2) }, () => {
  scenario('P09 a hook has the environment of the container, byte for byte', async (stage) => {
    const { scratch, fixtures } = stage;
    const out = scratch.path('environment');
    const shell = `export BYTES="$(printf '\\377\\376\\001')" LINES="$(printf 'a\\nb=c')" EMPTY= NODE_OPTIONS=--no-warnings; exec "$@"`;
    const inside = ['sh', '-c', shell, 'sh'];
    const command = [fixtures.member, 'mode=env,run', `out=${out}-app`, 'name=app', `log=${scratch.log}`];
    const postStart = `exec:${fixtures.member} mode=env out=${out}-hook`;
    const container = start(stage, ['--post-start', postStart], { inside, command });
    for (const who of ['app', 'hook']) await waitForFile(`${out}-${who}`);
    const [app, hooks] = ['app', 'hook'].map((who) => readFileSync(`${out}-${who}`, 'latin1'));
    assert.ok(app?.includes('BYTES=\xff\xfe\x01\0'), 'the bytes are there at all');
    assert.equal(hooks, app);
    await container.signal('SIGTERM');
    await container.exit();
  });

  for (const format of ['json', 'text']) {
    scenario(`any output of a hook is one line of the log as ${format}`, async (stage) => {
      const json = '{"level":"error","member":"app","message":"forged"}'.replaceAll('"', '\\042');
      const forged = `${json}\\n00:00:00.000 error app: forged\\n`;
      // CSI as one character, NEL, line and paragraph separators, an order of writing from right to left, a byte that
      // is no UTF-8, NUL.
      const odd = '\\033[31m\\r\\302\\233\\302\\205\\342\\200\\250\\342\\200\\251\\342\\200\\256\\377\\000\\t';
      const script = `printf '${forged}${odd}END'`;
      const container = start(stage, ['--log-format', format, '--post-start', `exec:sh -c "${script}"`]);
      await waitFor('the log tells of the hook', () => container.stderr().includes('END'));
      await container.signal('SIGTERM');
      await container.exit();
      const lines = linesOf(container);
      assert.equal(lines.filter((it) => it.includes('forged')).length, 1, lines.join('\n'));
      for (const line of lines) {
        if (format === 'text') assert.match(line, /^\d\d:\d\d:\d\d\.\d{3}Z (info|warn) {2}app: (TERM to )?[a-z]/);
        else assert.equal(JSON.parse(line).member, 'app');
      }
    });
  }

  scenario('a hook that writes a megabyte is not held up, and the log has the beginning', async (stage) => {
    const script = `printf BEGIN; head -c 1000000 /dev/zero | tr '\\0' x; printf '\\nEND\\n'`;
    const container = start(stage, ['--pre-stop', `exec:sh -c "${script}"`]);
    await waitForEvent(stage.scratch.log, 'app', 'Started');
    await container.signal('SIGTERM');
    assert.equal((await container.exit()).status, 0);
    const [line = '', ...others] = linesOf(container).filter((it) => it.includes('xxx'));
    assert.deepEqual(others, []);
    assert.match(line, /BEGINxxx/);
    assert.match(line, /"the pre-stop hook has ended"/);
    assert.ok(line.length < 5_000, `${line.length}`);
  });

  scenario('leftovers in a hook’s group end with the hook, and a daemon of its own with the stop', async (stage) => {
    const { scratch } = stage;
    const [child, daemon] = [member(stage, 'left'), member(stage, 'daemon')].map((it) => it.join(' '));
    const script = `${child} & setsid ${daemon} & until grep -q 'left Started' ${scratch.log} && grep -q 'daemon Started' ${scratch.log}; do sleep 0.05; done`;
    const container = start(stage, ['--post-start', `exec:sh -c "${script}"`]);
    await waitForTombstone(scratch.graveyard, 'app', 'has started', (it) => it.Started !== undefined);
    const pid1 = await container.pid1();
    const names = () => childrenOf(pid1).map((pid) => argumentsOf(pid)[1]);
    await waitFor('only the daemon is left', () => !names().includes('name=left'));
    assert.ok(names().includes('name=daemon'));
    await container.signal('SIGTERM');
    assert.equal((await container.exit()).status, 0);
    const log = readTimeline(scratch.log);
    assert.deepEqual([log.signals('daemon'), log.of('daemon', 'Exiting').length], [[15], 1]);
    log.exitsBefore('app', 'daemon');
  });

  scenario('a hook and a probe whose program is not there say so and what to look at', async (stage) => {
    const absent = 'exec:/no/such/program';
    const container = start(stage, ['--pre-stop', absent, '--readiness', `${absent},failures=1`]);
    await waitFor('the probe has failed', () => container.stderr().includes('readiness probe: failure'));
    await container.signal('SIGTERM');
    assert.equal((await container.exit()).status, 0, 'a failing pre-stop is no reason not to stop properly');
    const told = linesOf(container).filter((it) => it.includes('cannot be started: not found; check the spelling'));
    assert.deepEqual(
      told.map((it) => JSON.parse(it).message),
      ['readiness probe: failure', 'the pre-stop hook failed'],
    );
    assert.deepEqual(readTimeline(stage.scratch.log).signals('app'), [15]);
  });

  scenario('P08 as uid 12345, with a read-only root and without capabilities, probes and hooks run', async (stage) => {
    const { scratch } = stage;
    const probe = `${hook(stage, 'probe', { run: 1 })},period=200ms`;
    const flags = [
      '--liveness',
      probe,
      '--post-start',
      hook(stage, 'begin', { run: 1 }),
      '--pre-stop',
      hook(stage, 'bye', { run: 1 }),
    ];
    const container = start(stage, flags, { user: 12345, hardened: true });
    await waitForEvent(scratch.log, 'probe', 'Starting', 3);
    await waitForTombstone(scratch.graveyard, 'app', 'is healthy', (it) => it.Healthy !== undefined);
    await container.signal('SIGTERM');
    assert.equal((await container.exit()).status, 0);
    const log = readTimeline(scratch.log);
    log.notRestarted('app');
    log.exitsBeforeSignalTo('bye', 'app');
  });

  scenario('probes run and tombstones are written under a limit of 32 open files', async (stage) => {
    const { scratch } = stage;
    const flags = [
      '--liveness',
      `${hook(stage, 'probe', { run: 1 })},period=100ms`,
      '--readiness',
      'tcp://:9,period=100ms,failures=1',
    ];
    const container = start(stage, flags, { inside: ['sh', '-c', 'ulimit -n 32; exec "$@"', 'sh'] });
    await waitForEvent(scratch.log, 'probe', 'Starting', 20);
    await container.signal('SIGTERM');
    assert.equal((await container.exit()).status, 0);
    const { Reason, History = [] } = readTombstone(scratch.graveyard, 'app') ?? {};
    assert.equal(Reason, 'stopped');
    assert.deepEqual(
      History.filter((it) => it.Event === 'probe')
        .map(({ Probe, Detail }) => [Probe, Detail])
        .sort(),
      [
        ['liveness', 'exit code 0'],
        ['readiness', 'connection refused'],
      ],
    );
  });
});

const why = whyNoCgroup('pids');

describe('a limit of processes that is reached', { skip: why ?? false }, () => {
  scenario('fails the probe, with the remedy; the command goes on, and the probe recovers', async (stage) => {
    const { scratch } = stage;
    const group = makeCgroup(scratch, 'pids');
    const container = start(stage, ['--readiness', `${hook(stage, 'probe', { run: 1 })},period=200ms,failures=1`]);
    const isHealthy = (it: { readonly Healthy?: string | undefined }) => it.Healthy !== undefined;
    await waitForTombstone(scratch.graveyard, 'app', 'is healthy', isHealthy);
    group.take(await container.pid1());
    // The limit is below the current count: it ends no process, but none can start.
    group.limit(1);
    await waitForTombstone(scratch.graveyard, 'app', 'is not healthy', (it) => !isHealthy(it));
    await waitFor('the log tells why', () => container.stderr().includes('raise the pids limit of the container'));
    group.limit('max');
    await waitForTombstone(scratch.graveyard, 'app', 'is healthy again', isHealthy);
    await container.signal('SIGTERM');
    assert.equal((await container.exit()).status, 0);
    readTimeline(scratch.log).notRestarted('app');
  });
});
