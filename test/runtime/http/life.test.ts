import assert from 'node:assert/strict';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { describe } from 'node:test';
import { type Container, type ContainerOptions, startContainer } from '../../helpers/container.ts';
import { member } from '../../helpers/member.ts';
import { run } from '../../helpers/outcome.ts';
import { SEXTON } from '../../helpers/paths.ts';
import { send } from '../../helpers/process.ts';
import { type Stage, scenario } from '../../helpers/scenario.ts';
import { readTimeline } from '../../helpers/timeline.ts';
import { waitFor } from '../../helpers/wait.ts';
import { ask, dial, type Reply, waitForReply } from './client.ts';
import { readExposition } from './exposition.ts';

const LONG = ['--grace-period', '10m'];

class Answering {
  readonly container: Container;
  readonly address: { readonly kind: 'unix'; readonly path: string };
  readonly #log: string;

  constructor({ scratch }: Stage, options: ContainerOptions) {
    this.#log = scratch.log;
    this.address = { kind: 'unix', path: scratch.path('http.sock') };
    const flags = ['--name', 'web', '--http', `unix:${this.address.path}`, ...(options.flags ?? [])];
    this.container = startContainer(scratch, { ...options, flags });
  }

  says(path: string, status: number, words: string | RegExp): Promise<Reply> {
    return waitForReply(this.address, path, `says ${status} ${words}`, (reply) => {
      return (
        reply.status === status && (typeof words === 'string' ? reply.body === `${words}\n` : words.test(reply.body))
      );
    });
  }

  async now(path: string): Promise<number | undefined> {
    return (await ask(this.address, path))?.status;
  }

  /** Its command has begun, and takes its signals by itself. */
  started(): Promise<unknown> {
    return waitFor('it has started', () => readTimeline(this.#log).of('web', 'Started').length > 0);
  }

  async counters(): Promise<ReturnType<typeof readExposition>> {
    const reply = await this.says('/metrics', 200, /./);
    assert.equal(reply.headers['content-type'], 'text/plain; version=0.0.4; charset=utf-8');
    return readExposition(reply.body);
  }
}

function touch(path: string): void {
  writeFileSync(path, '');
}

describe('HTTP', { concurrency: 2 }, () => {
  scenario('HTTP follows a life from the startup probe to the end, and stays ready in a drain', async (stage) => {
    const { scratch } = stage;
    const [up, ready, done] = [scratch.path('up'), scratch.path('ready'), scratch.path('done')];
    const web = new Answering(stage, {
      flags: [
        ...LONG,
        ...['--startup', `exec:test -e ${up},period=50ms,failures=1000000,timeout=1m`],
        ...['--readiness', `exec:test -e ${ready},period=50ms,failures=1,timeout=1m`],
        ...['--drain', '9m'],
      ],
      command: member(stage, 'web', { until: done }),
    });
    await web.says('/startupz', 503, 'starting');
    assert.deepEqual([await web.now('/livez'), await web.now('/readyz')], [200, 503]);
    await web.says('/status', 200, /"WaitsFor":"the startup probe"/);
    await web.started();
    touch(up);
    await web.says('/startupz', 200, 'ok');
    await web.says('/readyz', 503, 'the readiness probe has not succeeded');
    touch(ready);
    await web.says('/readyz', 200, 'ok');
    rmSync(ready);
    await web.says('/readyz', 503, 'the readiness probe has not succeeded');
    touch(ready);
    await web.says('/readyz', 200, 'ok');
    await web.container.signal('SIGTERM');
    await web.says('/status', 200, /"WaitsFor":"the end of the drain".*"Phase":"draining"/);
    assert.deepEqual([await web.now('/livez'), await web.now('/readyz'), await web.now('/startupz')], [200, 200, 200]);
    assert.equal((await web.counters()).sexton_grace_period_seconds?.samples[''], 600);
    // A second one ends the drain; the command takes its time.
    await web.container.signal('SIGINT');
    await web.says('/readyz', 503, 'stopping');
    await web.says('/status', 200, /"WaitsFor":"the end of the command after SIGTERM"/);
    assert.equal(await web.now('/livez'), 200);
    touch(done);
    assert.equal((await web.container.exit()).status, 0);
    assert.ok(!existsSync(web.address.path));
  });

  scenario('HTTP says that a member that drains for a restart in place is not ready', async (stage) => {
    const { graveyard } = stage.scratch;
    const flags = [...LONG, '--graveyard', graveyard, '--drain', '9m'];
    const web = new Answering(stage, { flags, command: member(stage, 'web') });
    await web.says('/readyz', 200, 'ok');
    const asked = await run([SEXTON, 'restart', '--graveyard', graveyard, '--no-wait']);
    assert.equal(asked.code, 0, asked.stderr);
    await web.says('/readyz', 503, 'asked to restart');
    await web.container.signal('SIGTERM');
    await web.container.signal('SIGINT');
    await web.container.exit();
  });

  scenario('HTTP says with --readyz-on-drain fail that a draining member is alive and not ready', async (stage) => {
    const web = new Answering(stage, {
      flags: [...LONG, '--drain', '9m', '--readyz-on-drain', 'fail'],
      command: member(stage, 'web'),
    });
    await web.says('/readyz', 200, 'ok');
    await web.container.signal('SIGTERM');
    await web.says('/readyz', 503, 'asked to stop');
    assert.equal(await web.now('/livez'), 200);
    await web.container.signal('SIGINT');
    await web.container.exit();
  });

  scenario('HTTP says that a command that waits for its restart is not ready, and its member alive', async (stage) => {
    const web = new Answering(stage, {
      flags: ['--restart', 'always'],
      command: member(stage, 'web', { run: 1, exit: 3 }),
    });
    await web.says('/readyz', 503, 'waiting to be restarted');
    assert.equal(await web.now('/livez'), 200);
    await web.says('/status', 200, /"WaitsFor":"the restart of the command in [0-9]+ s"/);
    const before = (await web.counters()).sexton_command_restarts_total?.samples[''] ?? 0;
    await waitFor('it is restarted again', async () => {
      const { sexton_command_restarts_total: restarts, sexton_last_exit_code: code } = await web.counters();
      return (restarts?.samples[''] ?? 0) > before && code?.samples[''] === 3;
    });
    await web.container.signal('SIGTERM');
    await web.container.exit();
  });

  scenario('P12 HTTP comes back with the next supervisor, which goes on counting', async (stage) => {
    const web = new Answering(stage, { flags: LONG, command: member(stage, 'web', { trap: 'USR1' }) });
    await web.started();
    await web.says('/readyz', 200, 'ok');
    await web.container.signal('SIGUSR1');
    await waitFor('it is counted', async () => (await web.counters()).sexton_signals_received_total?.samples[''] === 1);
    const first = await web.container.supervisor();
    send(first, 'SIGKILL');
    await web.container.supervisor(first);
    await web.says('/metrics', 200, /^sexton_supervisor_starts_total 2$/m);
    assert.equal((await web.counters()).sexton_signals_received_total?.samples[''], 1);
    await web.container.signal('SIGTERM');
    assert.equal((await web.container.exit()).status, 0);
  });

  scenario('HTTP delays neither a stop signal nor the end of the container for clients that stay', async (stage) => {
    const web = new Answering(stage, { flags: LONG, command: member(stage, 'web') });
    await web.started();
    await web.says('/livez', 200, 'ok');
    const sockets = Array.from({ length: 100 }, () => dial(web.address));
    stage.t.after(() => {
      for (const socket of sockets) socket.destroy();
    });
    for (const socket of sockets) socket.write('GET /livez HTTP/1.1\r\n');
    await web.container.signal('SIGTERM');
    assert.equal((await web.container.exit()).status, 0);
  });

  scenario('HTTP reports an address that it cannot have, and the command runs', async (stage) => {
    const { scratch } = stage;
    const container = startContainer(scratch, {
      flags: ['--http', `unix:${scratch.path('none')}/http.sock`],
      command: member(stage, 'web', { ready: scratch.path('is-there') }),
    });
    await waitFor('the command runs', () => existsSync(scratch.path('is-there')));
    await waitFor('it is told', () => /cannot answer HTTP at unix:\S+/.test(container.stderr()));
    await container.signal('SIGTERM');
    assert.equal((await container.exit()).status, 0);
  });
});
