/** The process of the supervisor, as the application beside it could disturb it or be disturbed by it. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { describe } from 'node:test';
import { AWAKE, type Container, startContainer } from '../helpers/container.ts';
import { atOnce } from '../helpers/engine.ts';
import { member } from '../helpers/member.ts';
import { hasEnded, send } from '../helpers/process.ts';
import { type Stage, scenario } from '../helpers/scenario.ts';
import { readTimeline, waitForEvent } from '../helpers/timeline.ts';
import { waitForTombstone } from '../helpers/tombstone.ts';
import { waitFor, waitForFile } from '../helpers/wait.ts';

const [SIGUSR1, SIGUSR2] = [10, 12];
/** Those that people and tools send. */
const MISDIRECTED = [1, 2, 3, 10, 12, 14, 15];
/** Some of the others: TRAP, STKFLT, SYS and one without a name. */
const FATAL = [5, 16, 31, 40];

describe('the supervisor', { concurrency: atOnce(2) }, () => {
  scenario('B1 a signal to the supervisor that a tool would send does nothing, and opens no port', async (stage) => {
    const container = startApp(stage);
    await waitForEvent(stage.scratch.log, 'app', 'Started');
    const supervisor = await container.supervisor();
    await isHeard(stage, container, SIGUSR2);
    // USR1 first: what it could start has the time of all that follows.
    for (const signal of [SIGUSR1, ...MISDIRECTED]) assert.ok(send(supervisor, signal), `it is there before ${signal}`);
    await isHeard(stage, container, SIGUSR1);
    assert.equal(hasEnded(supervisor), false, 'it lives');
    assert.equal(await container.supervisor(), supervisor, 'it is the same');
    assert.deepEqual(listeningPorts(supervisor), []);
    assert.doesNotMatch(container.stderr(), /Debugger|started again/);
    await container.signal('SIGTERM');
    assert.equal((await container.exit()).status, 0);
    assert.deepEqual(readTimeline(stage.scratch.log).signals('app'), [SIGUSR2, SIGUSR1, 15]);
  });

  scenario('B1 a signal that ends the supervisor starts another one, and does not reach the command', async (stage) => {
    const container = startApp(stage);
    await waitForEvent(stage.scratch.log, 'app', 'Started');
    for (const signal of FATAL) {
      const supervisor = await container.supervisor();
      assert.ok(send(supervisor, signal));
      await waitFor(`signal ${signal} ends it`, () => hasEnded(supervisor));
    }
    await isHeard(stage, container, SIGUSR1);
    await container.signal('SIGTERM');
    assert.equal((await container.exit()).status, 0);
    assert.deepEqual(readTimeline(stage.scratch.log).signals('app'), [SIGUSR1, 15]);
  });

  scenario('B1 the command and its hooks inherit the container’s signal mask and handlers', async (stage) => {
    const { scratch } = stage;
    const ask = `grep -E '^(SigBlk|SigIgn|NoNewPrivs|Seccomp):' /proc/self/status`;
    const tell = (who: string): string =>
      `${ask} >${scratch.path(`${who}.new`)}; mv ${scratch.path(`${who}.new`)} ${scratch.path(who)}`;
    const inside = ['sh', '-c', `trap '' HUP; ${tell('before')}; exec "$@"`, 'sh'];
    const flags = ['--post-start', `exec:sh -c '${tell('hook').replaceAll("'", '"')}'`];
    const command = ['sh', '-c', `${tell('command')}; exec "$@"`, 'sh', ...member(stage, 'app')];
    const container = startContainer(scratch, { flags, inside, command });
    for (const who of ['before', 'command', 'hook']) await waitForFile(scratch.path(who));
    const before = readFileSync(scratch.path('before'), 'utf8');
    assert.match(before, /SigIgn:\s+0000000000000001/);
    for (const who of ['command', 'hook']) assert.equal(readFileSync(scratch.path(who), 'utf8'), before, who);
    await container.signal('SIGTERM');
    await container.exit();
  });

  scenario('B4 the supervisor may dump no core, while its command keeps its limit', async (stage) => {
    const { scratch } = stage;
    const inside = ['sh', '-c', 'ulimit -c unlimited && exec "$@"', 'sh'];
    const command = ['sh', '-c', `ulimit -c >${scratch.path('limit')}; exec "$@"`, 'sh', ...member(stage, 'app')];
    const container = startContainer(scratch, { flags: ['--log-level', 'info', ...AWAKE], inside, command });
    await waitForEvent(scratch.log, 'app', 'Started');
    assert.match(readFileSync(`/proc/${await container.supervisor()}/limits`, 'utf8'), /^Max core file size +0 +0 /m);
    assert.equal(readFileSync(scratch.path('limit'), 'utf8'), 'unlimited\n');
    await container.signal('SIGTERM');
    await container.exit();
  });
});

function startApp(stage: Stage): Container {
  const flags = ['--name', 'app', '--graveyard', stage.scratch.graveyard, '--restart-policy', 'Never', ...AWAKE];
  return startContainer(stage.scratch, { flags, command: member(stage, 'app', { trap: 'USR1,USR2' }) });
}

/**
 * A signal to the container has come to the command, and the supervisor has written that down. A command that has not had
 * its turn yet would get the next one first where that has the lower number: signal(7).
 */
async function isHeard({ scratch }: Stage, container: Container, signal: number): Promise<void> {
  await container.signal(signal);
  await waitFor(`signal ${signal} has come`, () => readTimeline(scratch.log).signals('app').includes(signal));
  await waitForTombstone(scratch.graveyard, 'app', `tells of signal ${signal}`, ({ History = [] }) =>
    History.some((it) => JSON.stringify(it).includes(signal === SIGUSR1 ? 'SIGUSR1' : 'SIGUSR2')),
  );
}

/** Local addresses of the TCP sockets that this process listens on: proc_net(5), state 0A. */
function listeningPorts(pid: number): string[] {
  const own = new Set(readdirSync(`/proc/${pid}/fd`).map((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`)));
  // A kernel without IPv6 has no `tcp6`.
  const tables = ['tcp', 'tcp6'].map((name) => `/proc/${pid}/net/${name}`).filter((path) => existsSync(path));
  return tables.flatMap((table) =>
    readFileSync(table, 'utf8')
      .split('\n')
      .map((line) => line.trim().split(/ +/))
      .filter(([, , , state, , , , , , inode]) => state === '0A' && own.has(`socket:[${inode}]`))
      .map(([, local = '']) => local),
  );
}
