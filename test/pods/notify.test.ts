/** A pod whose main says how it is by --notify, and whose drain waits until it is idle by --idle-when. */
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { renameSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe } from 'node:test';
import { startContainer } from '../helpers/container.ts';
import { type Stage, scenario } from '../helpers/scenario.ts';
import { readTombstone, waitForTombstone } from '../helpers/tombstone.ts';
import { waitFor } from '../helpers/wait.ts';

/** Says what stands in the file that it is called with, each time that there is one, and ends by TERM. */
const APPLICATION = `
use Socket;
socket(S, AF_UNIX, SOCK_DGRAM, 0);
(my $to = $ENV{NOTIFY_SOCKET}) =~ s/^@/\\0/;
sub notify { send(S, $_[0], 0, pack("Sa*", AF_UNIX, $to)) }
$SIG{TERM} = sub { notify("STOPPING=1"); exit 7 };
notify("READY=1");
while (1) {
  select(undef, undef, undef, .02);
  open(F, "<", $ARGV[0]) or next;
  unlink($ARGV[0]);
  notify(join("", <F>));
}`;

function pod({ scratch }: Stage, idleWhen: string) {
  const shared = [`--graveyard=${scratch.graveyard}`, '--grace-period=300s'];
  const main = startContainer(scratch, {
    name: 'worker',
    flags: [
      ...['--name=worker', ...shared, '--notify=command', '--drain=min=0,quiet=off,max=250s'],
      ...['--idle-when', `${idleWhen},for=300ms`],
    ],
    command: ['perl', '-e', APPLICATION, scratch.path('say')],
  });
  const proxy = startContainer(scratch, {
    name: 'proxy',
    flags: ['--name=proxy', '--role=sidecar', '--mains=worker', '--start-after=worker=healthy', ...shared],
    command: ['sleep', '1000'],
  });
  const says = (text: string) => {
    writeFileSync(scratch.path('say.new'), text);
    renameSync(scratch.path('say.new'), scratch.path('say'));
  };
  const worker = (what: string, isSo: Parameters<typeof waitForTombstone>[3]) =>
    waitForTombstone(scratch.graveyard, 'worker', what, isSo);
  const ends = async (status: string) => {
    assert.equal((await main.exit()).status, 7, main.stderr());
    assert.equal((await proxy.exit()).status, 0, proxy.stderr());
    const { History = [], Status } = await worker('is dead', ({ Died }) => Died !== undefined);
    const drained = History.find(({ Event }) => Event === 'drained');
    assert.deepEqual([drained?.Why, drained?.Busy, Status], ['idle', 'idle', status]);
    return History.flatMap(({ Event, Message }) => (Event === 'notified' ? [Message] : []));
  };
  const proxyRuns = () => waitForTombstone(scratch.graveyard, 'proxy', 'runs', ({ Phase }) => Phase === 'running');
  return { main, proxy, says, worker, ends, proxyRuns };
}

describe('a pod with --notify and --idle-when', { concurrency: 2 }, () => {
  scenario(
    'a stop waits until the main says that it is idle, also across its supervisors',
    async (stage) => {
      const { main, proxy, says, worker, ends, proxyRuns } = pod(stage, 'notify');
      await proxyRuns();
      says('STATUS=7 jobs\nX_SEXTON_IDLE=0');
      await worker('has jobs', ({ Status }) => Status === '7 jobs');
      await Promise.all([main.signal('SIGTERM'), proxy.signal('SIGTERM')]);
      await worker('is busy', ({ Phase, Busy }) => Phase === 'draining' && Busy === 'X_SEXTON_IDLE=0');
      process.kill(await main.supervisor(), 'SIGKILL');
      says('STATUS=no jobs\nX_SEXTON_IDLE=1');
      assert.deepEqual(await ends('no jobs'), ['READY=1', 'STOPPING=1']);
      assert.match(main.stderr(), /the supervisor was started again/);
    },
    { notInPodman: 'its image has no perl' },
  );

  scenario(
    'a main that says STOPPING=1 in its drain is still asked whether it is idle',
    async (stage) => {
      let status = 503;
      let asked = 0;
      const host = `127.${randomInt(1, 255)}.${randomInt(1, 255)}.${randomInt(1, 255)}`;
      const server = createServer((_, response) => {
        asked++;
        response.writeHead(status).end();
      });
      stage.t.after(() => server.close());
      await once(server.listen(0, host), 'listening');
      const { port } = server.address() as AddressInfo;
      const { main, proxy, says, worker, ends, proxyRuns } = pod(stage, `http://${host}:${port}/idle,period=100ms`);
      await proxyRuns();
      await Promise.all([main.signal('SIGTERM'), proxy.signal('SIGTERM')]);
      await worker('is busy', ({ Phase, Busy }) => Phase === 'draining' && Busy === 'status 503');
      says('STOPPING=1\nSTATUS=last jobs');
      await worker('stops', ({ Status }) => Status === 'last jobs');
      const before = asked;
      await waitFor('it is asked again', () => asked >= before + 5);
      assert.equal(readTombstone(stage.scratch.graveyard, 'worker')?.Phase, 'draining');
      status = 204;
      assert.deepEqual(await ends('last jobs'), ['READY=1', 'STOPPING=1']);
    },
    { notInPodman: 'the test itself answers for the main, over the loopback address' },
  );
});
