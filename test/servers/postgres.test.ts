/**
 * postgres: TERM to its first process lets sessions end by themselves, INT ends them, and both leave a clean database.
 * The processes of sessions would drop their work on TERM and INT. They are in groups of their own and do not get
 * these.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Container, startContainer } from '../helpers/container.ts';
import { ROOT } from '../helpers/paths.ts';
import { waitFor, within } from '../helpers/wait.ts';
import { endOf, outputOf, skipOf } from './graceful-stop.ts';
import { BIN, makeTemplate, openSession, type Session } from './psql.ts';
import { prepareStage, type Stage } from './stage.ts';

const server = { program: `${BIN}/postgres`, packages: 'postgresql', preset: 'postgres', ladder: 'TERM:15s,INT' };
const isRoot = process.getuid?.() === 0;
const skip = isRoot ? skipOf(server) : 'needs root';

test('postgres completes a query by --stop auto and takes new sessions in the drain', {
  skip,
}, async (t) => {
  const stage = await prepareStage(t);
  const container = await serve(stage, ['--stop', 'auto', '--drain', '10m', '--grace-period', '30m']);
  const { holder, worker } = await openQuery(stage);
  await container.signal('SIGTERM');
  await waitFor('it drains', () => container.stderr().includes('draining'));
  for (let count = 0; count < 5; count++) {
    const one = open(stage);
    assert.equal(await one.ask('select 1'), '1');
    assert.equal(await one.leave(), 0);
  }
  await container.signal('SIGINT');
  await waitFor('postgres gets the signal', () => outputOf(container).includes('received smart shutdown request'));
  await completeQuery(holder, worker);
  assert.equal(await within('its sessions are closed', holder.leave()), 0);
  assert.match(await endOf(container, { ...server, ladder: 'TERM:10m,INT' }), /database system is shut down/);
  assert.equal(stateOf(stage), 'shut down');
});

test('postgres does not wait for an idle session for ever by --stop auto', { skip }, async (t) => {
  const stage = await prepareStage(t);
  const container = await serve(stage, ['--stop', 'auto']);
  await open(stage).ask('insert into kept values (3)');
  await container.signal('SIGTERM');
  const output = await endOf(container, server);
  assert.match(
    output,
    /received smart shutdown request[\s\S]*received fast shutdown request[\s\S]*database system is shut down/,
  );
  assert.equal(stateOf(stage), 'shut down');
});

test('postgres serves until no session is in a transaction with the --idle-when of the page', { skip }, async (t) => {
  const stage = await prepareStage(t);
  const page = readFileSync(join(ROOT, 'docs', 'drain.md'), 'utf8');
  const [, idle = ''] = /^(exec:sh .* pg_stat_activity .*)$/m.exec(page) ?? [];
  const flags = ['--stop', 'auto', '--grace-period', '1h', '--drain', 'min=0,quiet=off,max=30m', '--idle-when', idle];
  const container = await serve(stage, flags, { PGHOST: stage.dir, PGUSER: 'postgres' });
  const { holder, worker } = await openQuery(stage);
  await container.signal('SIGTERM');
  await waitFor('it is busy', () => outputOf(container).includes('the application is busy'));
  await completeQuery(holder, worker);
  await waitFor('postgres gets the signal', () => outputOf(container).includes('received smart shutdown request'));
  assert.equal(await within('its sessions are closed', holder.leave()), 0);
  await container.exit();
  assert.match(outputOf(container), /the drain is over: the application is idle/);
});

test('postgres waits for an idle session while only TERM reaches it (the control)', {
  skip,
}, async (t) => {
  const stage = await prepareStage(t);
  const container = await serve(stage, ['--stop', 'auto', '--grace-period', '30m']);
  const idle = open(stage);
  await idle.ask('select 1');
  await container.signal('SIGTERM');
  await waitFor('postgres gets the signal', () => outputOf(container).includes('received smart shutdown request'));
  assert.equal(await idle.ask('select 2'), '2');
  await idle.leave();
  await container.exit();
});

test('postgres is left to be recovered when it gets QUIT (the control)', { skip }, async (t) => {
  const stage = await prepareStage(t);
  const container = await serve(stage, ['--stop', 'QUIT']);
  const { worker } = await openQuery(stage);
  await container.signal('SIGTERM');
  assert.equal(await within('the query is dropped', worker.leave()), 2);
  await container.exit();
  assert.equal(stateOf(stage), 'in production');
});

async function serve(
  stage: Stage,
  flags: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Container> {
  const { user, template } = makeTemplate();
  const data = stage.scratch.path('data');
  execFileSync('cp', ['-a', template, data]);
  const { dir } = stage.scratch;
  const small = ['-c', 'shared_buffers=8MB', '-c', 'max_connections=20', '-c', 'fsync=off'];
  const command = [server.program, '-D', data, '-k', dir, '-c', 'listen_addresses=', ...small];
  const container = startContainer(stage.scratch, { name: 'postgres', user, flags, command, env });
  await waitFor('postgres is ready', () => outputOf(container).includes('ready to accept connections'));
  const first = open(stage);
  await first.ask('create table kept (number int); insert into kept values (1)');
  assert.equal(await first.leave(), 0);
  return container;
}

/** A query that is under way until its lock is given back by the other session. */
async function openQuery(stage: Stage): Promise<{ readonly holder: Session; readonly worker: Session }> {
  const [holder, worker] = [open(stage), open(stage)];
  await holder.ask('select from pg_advisory_lock(7)');
  worker.tell(`select 'whole' from pg_advisory_lock(7)`);
  await waitFor(
    'the query waits',
    async () => (await holder.ask('select count(*) from pg_locks where not granted')) === '1',
  );
  return { holder, worker };
}

/** The query that waits is done, in a server that was asked to stop. */
async function completeQuery(holder: Session, worker: Session): Promise<void> {
  assert.equal(await holder.ask('insert into kept values (2) returning 2'), '2');
  holder.tell('select pg_advisory_unlock(7)');
  assert.equal(await within('the query is done', worker.leave()), 0);
  assert.equal(worker.output(), 'whole\n');
}

function open(stage: Stage): Session {
  const session = openSession(stage.scratch.dir);
  stage.scratch.beforeClear(() => session.process.kill('SIGKILL'));
  return session;
}

/** As the database itself says it. */
function stateOf(stage: Stage): string {
  const text = execFileSync(`${BIN}/pg_controldata`, [stage.scratch.path('data')], {
    encoding: 'utf8',
    env: { LC_ALL: 'C' },
  });
  return /Database cluster state: +(.*)/.exec(text)?.[1] ?? text;
}
