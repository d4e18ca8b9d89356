import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, type TestContext, test } from 'node:test';
import type { AdaptiveDrain } from '../../../src/core/config.ts';
import { ADAPTIVE_DRAIN } from '../../core/helpers.ts';
import { waitFor } from '../../helpers/wait.ts';
import { STATIC } from '../../init/builds.ts';
import type { How } from './agent.ts';
import {
  Agent,
  CLIENT6,
  inside,
  KUBELET,
  makePlaces,
  NO_NAMESPACES,
  type Places,
  POD,
  POD6,
  type Told,
} from './places.ts';

/** So short that the watch reports after each look. */
const DRAIN: AdaptiveDrain = { ...ADAPTIVE_DRAIN, minMs: 0, quietMs: 1, maxMs: 300_000 };
/** Addresses by which a neighbour reaches the pod. */
const LOCAL_HOSTS = ['127.0.0.1', '::1', POD, POD6, '127.0.0.6'];
const HOWS: readonly How[] = ['request', 'request and leave', 'touch', 'break off'];
const PORT = 8080;
const options = { skip: NO_NAMESPACES };
/** Longer than any connection waits for its explanation. */
const EXPLAINED_AFTER_MS = 3_500;
const MAX_TIMES = 100;
const MANY = 40;

interface Watched extends Places {
  /** Resolves once this many connections are open, and this many of them count. */
  counted(came: number, counting: number): Promise<void>;
  explained(): Promise<void>;
  last(): Told;
}

async function watched(
  t: TestContext,
  { drain = {}, init = STATIC.path }: { drain?: Partial<AdaptiveDrain>; init?: string } = {},
): Promise<Watched> {
  const places = await makePlaces(t, [PORT, 9090]);
  const { pod } = places;
  await pod.do({ do: 'watch', drain: { ...DRAIN, ...drain }, init });
  const last = (): Told => pod.seen.at(-1) ?? assert.fail('nothing was seen');
  return {
    ...places,
    last,
    explained: async () => {
      const beganMs = last().atMs;
      await pod.waitToSee('all is explained', ({ atMs }) => atMs > beganMs + EXPLAINED_AFTER_MS);
    },
    // What is not explained yet counts for the time being.
    counted: async (came, counting) => {
      await pod.waitToSee(`${counting} of ${came} count`, ({ connections, ignored }) => {
        assert.ok(connections + ignored <= came, `${connections} + ${ignored} of ${came}`);
        return connections === counting && ignored === came - counting;
      });
    },
  };
}

describe('the watch of a drain', options, () => {
  test('the watch counts connections from elsewhere, of IPv4 and of IPv6, however they end', async (t) => {
    const { client, counted } = await watched(t);
    let came = 0;
    for (const host of [POD, POD6])
      for (const how of [...HOWS, 'hold' as const])
        came += Number(await client.do({ do: 'connect', host, port: PORT, how, times: 3 }));
    await counted(came, came);
  });

  test('the watch counts one connection after the other, each with its time', async (t) => {
    const { client, pod, counted, last } = await watched(t);
    let before = last().lastMs;
    for (const came of [1, 2, 3]) {
      const atMs = Number(await pod.do({ do: 'tell time' }));
      await client.do({ do: 'connect', host: POD, port: PORT, how: 'touch', times: 1 });
      await counted(came, came);
      assert.ok(last().lastMs > before && last().lastMs >= atMs, `${last().lastMs} after ${before}`);
      before = last().lastMs;
    }
  });

  test('the watch counts all of a flood, and tells apart what is ignored when it is over', async (t) => {
    const { client, pod, counted, explained, last } = await watched(t, { drain: { ignore: [KUBELET] } });
    await client.do({ do: 'connect', host: POD, port: PORT, how: 'request and leave', times: 100, abreast: 4 });
    await counted(400, 400);
    // Nothing reports the end of the flood, and until then all count.
    let [before, isToldApart] = [last(), false];
    for (let times = 0; times < MAX_TIMES && !isToldApart; times += 1) {
      before = last();
      const came = before.connections + before.ignored + 2;
      await client.do({ do: 'connect', host: POD, port: PORT, from: KUBELET, how: 'touch', times: 2 });
      await pod.waitToSee('they have come', ({ connections, ignored }) => connections + ignored === came);
      await explained();
      isToldApart = last().ignored === before.ignored + 2;
    }
    assert.deepEqual([isToldApart, last().lastMs], [true, before.lastMs]);
  });

  for (const [title, flood, everyMs] of [
    ['a flood', { how: 'request', times: 250, abreast: 20 }, 50],
    ['a flood of half the rate', { how: 'touch', times: 100, abreast: 1 }, 10],
  ] as const)
    test(`the watch does not count a neighbour that connects after ${title}`, async (t) => {
      const { client, pod } = await watched(t, { drain: { maxMs: 1_000 } });
      const came = Number(await client.do({ do: 'connect', host: POD, port: PORT, ...flood }));
      await pod.waitToSee('all count', ({ connections }) => connections >= came);
      await pod.do({ do: 'keep on', host: '127.0.0.1', port: PORT, how: 'request', everyMs });
      await pod.waitToSee('many are ignored, and none counts meanwhile', ({ connections, ignored }) =>
        pod.seen.some((before) => before.connections === connections && before.ignored + MANY <= ignored),
      );
      await pod.do({ do: 'cease' });
    });

  test('the watch ignores a network of IPv4, whoever closes first, and one of IPv6', async (t) => {
    const { client, counted, last } = await watched(t, { drain: { ignore: ['10.77.0.8/29', 'fd77::/64'] } });
    const { lastMs } = last();
    let came = 0;
    for (const how of [...HOWS, 'hold' as const])
      came += Number(await client.do({ do: 'connect', host: POD, port: PORT, from: KUBELET, how, times: 3 }));
    came += Number(await client.do({ do: 'connect', host: POD6, port: PORT, from: CLIENT6, how: 'touch', times: 2 }));
    await counted(came, 0);
    assert.equal(last().lastMs, lastMs);
    await client.do({ do: 'connect', host: POD, port: PORT, how: 'touch', times: 1 });
    await counted(came + 1, 1);
  });

  test('the watch ignores ports that were not named, such as that of the metrics', async (t) => {
    const { client, counted } = await watched(t, { drain: { ports: [PORT] } });
    for (const how of HOWS) await client.do({ do: 'connect', host: POD, port: 9090, how, times: 2 });
    await client.do({ do: 'connect', host: POD, port: PORT, how: 'request', times: 1 });
    await counted(9, 1);
  });

  for (const [title, drain] of [
    ['by default', {}],
    ['that are to be left out, although ports are named', { ports: [PORT], neighbours: false }],
  ] as const)
    test(`the watch ignores neighbours ${title}, by loopback and by the addresses of the pod`, async (t) => {
      const { pod, counted, last } = await watched(t, { drain });
      const { lastMs } = last();
      let came = 0;
      for (const host of LOCAL_HOSTS)
        for (const how of HOWS) came += Number(await pod.do({ do: 'connect', host, port: PORT, how, times: 2 }));
      await counted(came, 0);
      assert.equal(last().lastMs, lastMs);
    });

  test('the watch ignores a neighbour whose handshake was not over when it began', async (t) => {
    const { pod } = await makePlaces(t, [PORT]);
    const [server, client] = [new Agent(inside(pod.pid)), new Agent(inside(pod.pid))];
    t.after(() => {
      for (const { process: one } of [server, client]) one.kill('SIGKILL');
    });
    await Promise.all([server.ready(), client.ready()]);
    await server.do({ do: 'serve', host: '127.0.0.1', port: 9090, backlog: 1 });
    server.process.kill('SIGSTOP');
    // The queue of the listener takes two; the third client repeats its SYN until a place is free.
    const connected = client.do({ do: 'connect', host: '127.0.0.1', port: 9090, how: 'hold', times: 1, abreast: 3 });
    const table = `/proc/${pod.pid}/net/tcp`;
    await waitFor('a client is in SYN_SENT', () => /:2382 02 /.test(readFileSync(table, 'latin1')));
    await pod.do({ do: 'watch', drain: DRAIN, init: STATIC.path });
    server.process.kill('SIGCONT');
    await connected;
    await pod.waitToSee('it is ignored', ({ connections, ignored }) => connections === 0 && ignored === 1);
  });

  for (const neighbours of [true, false])
    test(`the watch ignores our own probes where neighbours ${neighbours ? 'count' : 'do not count'}`, async (t) => {
      const { pod, last, counted, explained } = await watched(t, { drain: { neighbours } });
      for (const kind of ['http', 'tcp', 'http', 'tcp'] as const) await pod.do({ do: 'probe', kind, port: PORT });
      await counted(4, 0);
      await pod.do({ do: 'connect', host: '127.0.0.1', port: PORT, how: 'request', times: 1 });
      await counted(5, neighbours ? 1 : 0);
      await explained();
      assert.deepEqual([last().connections, last().ignored], neighbours ? [1, 4] : [0, 5]);
    });

  test('the watch ignores connections that were there before, busy or idle, and ended meanwhile', async (t) => {
    const { pod, client } = await makePlaces(t, [PORT]);
    await client.do({ do: 'connect', host: POD, port: PORT, how: 'hold', times: 500 });
    await pod.do({ do: 'watch', drain: { ...DRAIN, inflight: true }, init: STATIC.path });
    const { lastMs } = await pod.waitToSee('all are open', ({ open }) => open === 500);
    await client.do({ do: 'let go' });
    const told = await pod.waitToSee('none is open', ({ open }) => open === 0);
    assert.deepEqual([told.connections, told.ignored, told.lastMs], [0, 0, lastMs]);
  });
});

describe('C1: neighbours that count', options, () => {
  test('neighbours count once each, by loopback and by the addresses of the pod, however they end', async (t) => {
    const { pod, counted, explained, last } = await watched(t, { drain: { neighbours: true } });
    const { lastMs } = last();
    let came = 0;
    for (const host of LOCAL_HOSTS)
      for (const how of [...HOWS, 'hold' as const])
        came += Number(await pod.do({ do: 'connect', host, port: PORT, how, times: 2 }));
    await counted(came, came);
    assert.ok(last().lastMs > lastMs);
    await explained();
    assert.deepEqual([last().connections, last().ignored], [came, 0]);
  });

  test('neighbours do not count at a port that is not named, or from an ignored address', async (t) => {
    const { pod, counted } = await watched(t, {
      drain: { neighbours: true, ports: [PORT], ignore: ['127.0.0.6'] },
    });
    await pod.do({ do: 'connect', host: '127.0.0.1', port: 9090, how: 'touch', times: 2 });
    await pod.do({ do: 'connect', host: '127.0.0.1', from: '127.0.0.6', port: PORT, how: 'touch', times: 2 });
    await pod.do({ do: 'connect', host: '127.0.0.1', port: PORT, how: 'touch', times: 2 });
    await counted(6, 2);
  });
});

describe('kept connections', options, () => {
  const LOOKS = 10;

  async function kept(t: TestContext, drain: Partial<AdaptiveDrain>, { isLocal = false, from = '' } = {}) {
    const { pod, client, last } = await watched(t, { drain: { ...drain, quietMs: 300 } });
    const user = isLocal ? pod : client;
    const host = isLocal ? '127.0.0.1' : POD;
    await user.do({ do: 'connect', host, port: PORT, how: 'hold', times: 2, ...(from !== '' && { from }) });
    await pod.waitToSee('they have come', ({ connections, ignored }) => connections + ignored === 2);
    const lookAgain = async (): Promise<void> => {
      const before = pod.seen.length;
      await pod.waitToSee('it has looked some more', () => pod.seen.length >= before + LOOKS);
    };
    await lookAgain();
    return { pod, user, last, lookAgain };
  }

  for (const [title, isLocal] of [
    ['a client', false],
    ['a neighbour that counts', true],
  ] as const)
    test(`kept connections of ${title} keep the drain awake only while requests come`, async (t) => {
      const { user, pod, last, lookAgain } = await kept(t, { neighbours: isLocal }, { isLocal });
      const { lastMs } = last();
      await lookAgain();
      assert.equal(last().lastMs, lastMs, 'idle');
      // With little CPU one look may come too late for one request.
      for (let times = 0; times < MAX_TIMES && last().lastMs === lastMs; times += 1) {
        await user.do({ do: 'use' });
        const before = pod.seen.length;
        await pod.waitToSee('it has reported', () => pod.seen.length > before);
      }
      assert.ok(last().lastMs > lastMs);
      assert.equal(last().connections, 2);
    });

  for (const [title, drain, from] of [
    ['from an address that is ignored', { ignore: [KUBELET] }, KUBELET],
    ['to another port', { ports: [9090] }, ''],
    ['where only new connections count', { newOnly: true }, ''],
  ] as const)
    test(`kept connections ${title} do not keep the drain awake`, async (t) => {
      const { user, last, lookAgain } = await kept(t, drain, { from });
      const { lastMs } = last();
      for (let times = 0; times < 5; times += 1) await user.do({ do: 'use' });
      await lookAgain();
      assert.equal(last().lastMs, lastMs);
    });
});

test('without netlink every connection counts but for our own probes', options, async (t) => {
  const init = '/nonexistent/sexton';
  const { client, pod, counted, last } = await watched(t, { init, drain: { ignore: [KUBELET], inflight: true } });
  for (const kind of ['http', 'tcp'] as const) await pod.do({ do: 'probe', kind, port: PORT });
  await counted(2, 0);
  await client.do({ do: 'connect', host: POD, port: PORT, from: KUBELET, how: 'break off', times: 2 });
  await counted(4, 2);
  assert.equal(last().open, undefined);
});
