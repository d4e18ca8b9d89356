/**
 * The adaptive drain of a real server in a network namespace of its own. Clients and a kubelet are on the other side of
 * a wire. No test asserts how long a drain takes, only that it is not too short.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { AWAKE, type Container, startContainer } from '../helpers/container.ts';
import { ROOT } from '../helpers/paths.ts';
import { send } from '../helpers/process.ts';
import { buildRefuse } from '../helpers/program.ts';
import { type Stage, scenario } from '../helpers/scenario.ts';
import { readTombstone, waitForTombstone } from '../helpers/tombstone.ts';
import { waitFor } from '../helpers/wait.ts';
import type { Ceased } from '../runtime/traffic/agent.ts';
import { Agent, CLIENT, inside, KUBELET, NO_NAMESPACES, POD, wire } from '../runtime/traffic/places.ts';

const PORT = 8080;
const AGENT = join(ROOT, 'test/runtime/traffic/agent.ts');
const options = { notInPodman: 'its network is made here' };
const OWN_NETWORK = ['unshare', '--net', '--'];
const toPod = { host: POD, port: PORT } as const;

interface Pod {
  readonly container: Container;
  /** On the other side of the wire. */
  readonly client: Agent;
  /** In the same namespace. */
  readonly neighbour: Agent;
  /** Asks it to stop; resolves when it drains. */
  stop(): Promise<void>;
  /** How the drain has ended, once the container has. */
  drained(): Promise<Drained>;
}

interface Drained {
  readonly Why: string;
  readonly AfterMs: number;
  readonly Connections?: number;
  readonly Ignored?: number;
  readonly Open?: number;
  readonly Unseen?: string;
  readonly At: string;
}

interface Place {
  readonly flags?: readonly string[];
  readonly prefix?: readonly string[];
  readonly graveyard?: string;
}

async function serve(
  { t, scratch }: Stage,
  drain: string,
  { flags = [], prefix = OWN_NETWORK, graveyard = scratch.graveyard }: Place = {},
): Promise<Pod> {
  const container = startContainer(scratch, {
    name: 'server',
    flags: ['--name=server', `--graveyard=${graveyard}`, `--drain=${drain}`, ...flags],
    inside: prefix,
    command: [process.execPath, AGENT, `${PORT}`],
    // It gets no orders, and the pipe that they would come by must not end.
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const pid = await container.pid1();
  const client = new Agent(OWN_NETWORK);
  const neighbour = new Agent(inside(pid));
  t.after(async () => {
    for (const { process: one } of [client, neighbour]) one.kill('SIGKILL');
    const hasEnded = ({ process: one }: Agent): boolean => one.exitCode !== null || one.signalCode !== null;
    await waitFor('both have ended', () => [client, neighbour].every(hasEnded));
  });
  await Promise.all([client.ready(), neighbour.ready()]);
  wire(client.pid, pid);
  await waitFor('the server listens', () => container.stdout().includes('ready'));
  return {
    container,
    client,
    neighbour,
    stop: async () => {
      await container.signal('SIGTERM');
      await waitForTombstone(graveyard, 'server', 'drains', ({ Phase, History = [] }) => {
        // One that is short may be over before it is looked for.
        return Phase === 'draining' || History.some(({ Event }) => Event === 'drained');
      });
    },
    drained: () => drainedOf(container, graveyard),
  };
}

async function drainedOf(container: Container, graveyard: string): Promise<Drained> {
  await container.exit();
  const entries = readTombstone(graveyard, 'server')?.History ?? [];
  return (entries.find(({ Event }) => Event === 'drained') ?? assert.fail('no drain')) as unknown as Drained;
}

/** The drain of a command to which nothing connects. */
async function drainAlone(
  { scratch }: Stage,
  drain: string,
  prefix: readonly string[],
): Promise<{ readonly drained: Drained; readonly stderr: string }> {
  const container = startContainer(scratch, {
    name: 'server',
    flags: ['--name=server', `--graveyard=${scratch.graveyard}`, `--drain=${drain}`],
    inside: prefix,
    command: ['sleep', '300'],
  });
  await waitForTombstone(scratch.graveyard, 'server', 'runs', ({ Phase }) => Phase === 'running');
  await container.signal('SIGTERM');
  return { drained: await drainedOf(container, scratch.graveyard), stderr: container.stderr() };
}

describe('an adaptive drain', { skip: NO_NAMESPACES, concurrency: 2 }, () => {
  scenario(
    'ends when connections have stopped coming, not before',
    async (stage) => {
      const { client, container, stop, drained } = await serve(stage, 'min=0,quiet=1s,max=5m');
      await client.do({ do: 'keep on', ...toPod, everyMs: 50, how: 'request and leave' });
      await stop();
      await sleep(LONGER_THAN_QUIET_MS);
      const { lastMs } = (await client.do({ do: 'cease' })) as Ceased;
      const { Why, AfterMs, Unseen } = await drained();
      assert.deepEqual([Why, Unseen], ['quiet', undefined]);
      assert.match(container.stderr(), /asked to stop/);
      const { DiedMonotonic = 0 } = readTombstone(stage.scratch.graveyard, 'server') ?? {};
      assert.ok(DiedMonotonic >= lastMs + 1_000 - TURN_MS, `${DiedMonotonic} after ${lastMs}, ${AfterMs}`);
    },
    options,
  );

  scenario(
    'is kept awake by traffic, until its longest time',
    async (stage) => {
      const { client, stop, drained } = await serve(stage, 'min=0,quiet=4s,max=6s');
      await client.do({ do: 'keep on', ...toPod, everyMs: 50, how: 'request and leave' });
      await stop();
      const { Why, Connections = 0, AfterMs } = await drained();
      const { longestPauseMs } = (await client.do({ do: 'cease' })) as Ceased;
      // On a machine that stands still for so long there was no traffic.
      if (Why !== 'quiet' || longestPauseMs < 3_900) assert.equal(Why, 'max');
      if (Why === 'max') assert.ok(Connections > 0 && AfterMs >= 6_000, `${Connections} in ${AfterMs}`);
    },
    options,
  );

  scenario(
    'names the one address whose connections kept it awake at a steady pace',
    async (stage) => {
      // The client sends once a second, so a pause of 1.25 s is followed by one of 0.75 s. A larger difference is no
      // steady pace. A machine that stands still may cause one, so it is measured again.
      for (let attempt = 1; ; attempt += 1) {
        const graveyard = stage.scratch.path(`graveyard-${attempt}`);
        const { client, container, stop, drained } = await serve(stage, 'min=0,quiet=3s,max=9s', { graveyard });
        await client.do({ do: 'keep on', ...toPod, from: KUBELET, everyMs: 1_000, how: 'request' });
        await stop();
        const { Why } = await drained();
        const { longestPauseMs } = (await client.do({ do: 'cease' })) as Ceased;
        if (longestPauseMs > 1_200 && attempt < 5) continue;
        assert.equal(Why, 'max');
        assert.match(
          container.stderr(),
          new RegExp(`connections of the drain came from ${KUBELET} to port ${PORT}, one every 1\\.\\d s`),
        );
        return;
      }
    },
    options,
  );

  scenario(
    'is not kept awake by probes, a scrape, a neighbour and 500 idle connections',
    async (stage) => {
      const probe = `--readiness=http://:${PORT}/,period=1s,timeout=1m`;
      const drain = `min=0,quiet=2s,max=5m,ports=${PORT},neighbours=false,ignore=${KUBELET}`;
      const { client, neighbour, stop, drained } = await serve(stage, drain, { flags: [probe] });
      await client.do({ do: 'connect', ...toPod, how: 'hold', times: 500 });
      await neighbour.do({ do: 'serve', host: '::', port: 9090 });
      await client.do({ do: 'keep on', ...toPod, from: KUBELET, everyMs: 1_000, how: 'request' });
      await client.do({ do: 'keep on', ...toPod, from: KUBELET, everyMs: 700, how: 'touch' });
      await client.do({ do: 'keep on', host: POD, port: 9090, from: CLIENT, everyMs: 500, how: 'request and leave' });
      await neighbour.do({ do: 'keep on', host: '127.0.0.1', port: PORT, everyMs: 20, how: 'request and leave' });
      await stop();
      const { Why, Connections, Ignored = 0 } = await drained();
      assert.deepEqual([Why, Connections], ['quiet', 0]);
      assert.ok(Ignored > 0);
    },
    options,
  );

  for (const [title, drain, host] of [
    ['by loopback, where their port is named', `ports=${PORT}`, '127.0.0.1'],
    ['by an address of the pod, where neighbours count', 'neighbours', POD],
  ] as const)
    scenario(
      `C1: loses no request of a client in the same network ${title}`,
      async (stage) => {
        const probe = `--readiness=http://:${PORT}/,period=1s,timeout=1m`;
        const { neighbour, stop, drained } = await serve(stage, `min=0,quiet=1s,max=5m,${drain}`, { flags: [probe] });
        await neighbour.do({ do: 'keep on', host, port: PORT, everyMs: 50, how: 'request and leave' });
        await stop();
        await sleep(LONGER_THAN_QUIET_MS);
        const { refused } = (await neighbour.do({ do: 'cease' })) as Ceased;
        const { Why, Connections = 0 } = await drained();
        assert.deepEqual([refused, Why, Connections > 0], [0, 'quiet', true]);
      },
      options,
    );

  scenario(
    'C1: warns when it has counted no connection, but ignored some to the same port',
    async (stage) => {
      const { container, neighbour, stop, drained } = await serve(stage, 'min=0,quiet=1s,max=5m');
      await neighbour.do({ do: 'keep on', host: '127.0.0.1', port: PORT, everyMs: 50, how: 'request and leave' });
      await stop();
      const { Connections, Ignored = 0 } = await drained();
      assert.deepEqual([Connections, Ignored > 0], [0, true]);
      assert.equal(container.stderr().match(/counted no connection and ignored [0-9]+ .*write neighbours/g)?.length, 1);
    },
    options,
  );

  scenario(
    'waits for requests in flight with inflight',
    async (stage) => {
      const { client, stop, drained } = await serve(stage, 'min=0,quiet=300ms,max=5m,inflight');
      await client.do({ do: 'connect', ...toPod, how: 'hold', times: 2 });
      await stop();
      // Long enough that a drain which does not wait is over.
      await sleep(1_500);
      const before = Date.now();
      await client.do({ do: 'let go' });
      const { Why, Open, At } = await drained();
      assert.deepEqual([Why, Open], ['quiet', 0]);
      assert.ok(Date.parse(At) >= before - 5, `${At} is before ${before}`);
    },
    options,
  );

  scenario(
    'goes on for requests over kept connections, also when min is over after quiet',
    async (stage) => {
      const { container, client, stop, drained } = await serve(stage, 'min=3s,quiet=1s,max=5m');
      await client.do({ do: 'connect', ...toPod, how: 'hold', times: 1 });
      let [lastMs, longestPauseMs, isOver] = [Date.now(), 0, false];
      void container.ended.then(() => (isOver = true));
      const stopped = stop();
      for (const endMs = lastMs + 6_000; lastMs < endMs && !isOver; await sleep(50)) {
        await Promise.race([client.do({ do: 'use' }).catch(() => {}), container.ended]);
        longestPauseMs = Math.max(longestPauseMs, Date.now() - lastMs);
        lastMs = Date.now();
      }
      // A machine that stands still for so long sends no requests.
      assert.ok(!isOver || longestPauseMs > 900, `it is over, with requests every ${longestPauseMs} ms at most`);
      await stopped;
      assert.equal((await drained()).Why, 'quiet');
    },
    options,
  );

  scenario(
    'is skipped by a second stop request',
    async (stage) => {
      const { container, stop, drained } = await serve(stage, 'min=4m,quiet=4m,max=5m');
      await stop();
      await container.signal('SIGINT');
      assert.equal((await drained()).Why, 'asked again');
    },
    options,
  );

  scenario(
    'leaves the ladder its time before the deadline',
    async (stage) => {
      const flags = ['--grace-period=4s'];
      const { container, client, stop, drained } = await serve(stage, 'min=3s,quiet=3s,max=3900ms', { flags });
      await client.do({ do: 'keep on', ...toPod, everyMs: 50, how: 'request and leave' });
      await stop();
      const { Why, AfterMs } = await drained();
      const { longestPauseMs } = (await client.do({ do: 'cease' })) as Ceased;
      assert.ok(AfterMs >= 2_000, `${AfterMs}`);
      const { status } = await container.ended;
      // On a machine that stands still meanwhile the longest time is over as well, and perhaps all of the grace period.
      if (longestPauseMs < 300) assert.deepEqual([Why, AfterMs < 3_900, status], ['deadline', true, 143]);
      else assert.ok(['deadline', 'max'].includes(Why) && [137, 143].includes(status), `${Why}, ${status}`);
    },
    options,
  );

  scenario(
    'K17 goes on with the next supervisor',
    async (stage) => {
      const { container, client, stop, drained } = await serve(stage, 'min=0,quiet=2s,max=5m', { flags: AWAKE });
      await client.do({ do: 'keep on', ...toPod, everyMs: 50, how: 'touch' });
      const supervisor = await container.supervisor();
      await stop();
      send(supervisor, 'SIGKILL');
      await container.supervisor(supervisor);
      await sleep(LONGER_THAN_QUIET_MS);
      const { lastMs } = (await client.do({ do: 'cease' })) as Ceased;
      const { Why } = await drained();
      assert.equal(Why, 'quiet');
      const { DiedMonotonic = 0 } = readTombstone(stage.scratch.graveyard, 'server') ?? {};
      assert.ok(DiedMonotonic >= lastMs + 2_000 - TURN_MS, `${DiedMonotonic} after ${lastMs}`);
    },
    options,
  );

  scenario(
    'needs no privilege and no writable root',
    async (stage) => {
      const { dir } = stage.scratch;
      const readOnly = `mount --bind ${dir} ${dir} && mount -o remount,bind,ro / && exec "$@"`;
      const user = ['--reuid=12345', '--regid=12345', '--clear-groups', '--bounding-set=-all', '--inh-caps=-all'];
      const prefix = [...OWN_NETWORK, 'sh', '-c', readOnly, 'sh', 'setpriv', ...user, '--no-new-privs', '--'];
      const { client, stop, drained } = await serve(stage, `min=0,quiet=1s,max=5m,ignore=${KUBELET}`, { prefix });
      await client.do({ do: 'keep on', ...toPod, from: KUBELET, everyMs: 300, how: 'touch' });
      await stop();
      const { Why, Connections, Unseen } = await drained();
      assert.deepEqual([Why, Connections, Unseen], ['quiet', 0, undefined]);
    },
    options,
  );

  scenario(
    'takes its longest time, with one warning, where connections cannot be counted',
    async (stage) => {
      const prefix = [...OWN_NETWORK, 'sh', '-c', 'mount -t tmpfs none /proc && exec "$@"', 'sh'];
      const { drained, stderr } = await drainAlone(stage, 'min=0,quiet=200ms,max=1500ms', prefix);
      assert.equal(drained.Why, 'max');
      assert.match(String(drained.Unseen), /snmp/);
      assert.ok(Number(drained.AfterMs) >= 1_500);
      assert.equal(stderr.match(/cannot see new connections/g)?.length, 1);
    },
    options,
  );

  scenario(
    'ends when no connection comes, with one warning, where the kernel does not tell them apart',
    async (stage) => {
      // Its protocol alone, then all of netlink.
      for (const argument of ['2=4', '0=16']) {
        const prefix = [...OWN_NETWORK, buildRefuse(), `socket:${argument}`, 'EPERM'];
        const { drained, stderr } = await drainAlone(stage, 'min=0,quiet=200ms,max=60s', prefix);
        assert.equal(drained.Why, 'quiet');
        const words = /cannot tell connections apart: sock_diag fails with EPERM; each new one counts/g;
        assert.equal(stderr.match(words)?.length, 1);
      }
    },
    options,
  );
});

/** A drain that is over too soon is over by then. */
const LONGER_THAN_QUIET_MS = 3_000;
/** The counter is read so often; a connection is seen later than it came, never earlier. */
const TURN_MS = 0;
