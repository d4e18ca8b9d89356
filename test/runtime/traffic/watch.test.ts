/** The watch of a drain in a real network namespace: which connections count. */
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

/** So short that it tells in each of its turns what it has seen. */
const DRAIN: AdaptiveDrain = { ...ADAPTIVE_DRAIN, minMs: 0, quietMs: 1, maxMs: 300_000 };
const HOWS: readonly How[] = ['request', 'request and leave', 'touch', 'break off'];
const PORT = 8080;
const options = { skip: NO_NAMESPACES };

interface Watched extends Places {
  /** Resolves when so many have come, of which so many count. */
  counted(came: number, counting: number): Promise<void>;
  last(): Told;
}

async function watched(
  t: TestContext,
  {
    drain = {},
    init = STATIC.path,
    user,
  }: { drain?: Partial<AdaptiveDrain>; init?: string | undefined; user?: number } = {},
): Promise<Watched> {
  const places = await makePlaces(t, { ports: [PORT, 9090], ...(user !== undefined && { user }) });
  const { pod } = places;
  await pod.do({ do: 'watch', drain: { ...DRAIN, ...drain }, init });
  return {
    ...places,
    last: () => pod.seen.at(-1) ?? assert.fail('nothing was seen'),
    // What is not judged yet counts for the time being.
    counted: async (came, counting) => {
      await pod.waitToSee(`${counting} of ${came} count`, ({ connections, ignored }) => {
        assert.ok(connections + ignored <= came, `${connections} + ${ignored} of ${came}`);
        return connections === counting && ignored === came - counting;
      });
    },
  };
}

/** More turns than anything that has come waits for its judgement. */
const JUDGED_AFTER = 40;
const MAX_TIMES = 100;
const MANY = 40;

describe('connections from elsewhere', options, () => {
  test('count each, of IPv4 and of IPv6, however they end', async (t) => {
    const { client, counted } = await watched(t);
    let came = 0;
    for (const host of [POD, POD6])
      for (const how of [...HOWS, 'hold' as const])
        came += Number(await client.do({ do: 'connect', host, port: PORT, how, times: 3 }));
    await counted(came, came);
  });

  test('count one after the other, each with its time', async (t) => {
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

  test('count in a flood, too, and what is ignored is told apart again when it is over', async (t) => {
    const { client, pod, counted, last } = await watched(t, { drain: { ignore: [KUBELET] } });
    await client.do({ do: 'connect', host: POD, port: PORT, how: 'request and leave', times: 100, abreast: 4 });
    await counted(400, 400);
    // It is not told when the flood is over, and until then all count.
    let [before, isToldApart] = [last(), false];
    for (let times = 0; times < MAX_TIMES && !isToldApart; times += 1) {
      before = last();
      const came = before.connections + before.ignored + 2;
      await client.do({ do: 'connect', host: POD, port: PORT, from: KUBELET, how: 'touch', times: 2 });
      await pod.waitToSee('they have come', ({ connections, ignored }) => connections + ignored === came);
      const { length } = pod.seen;
      const bothIgnored = (): boolean => last().ignored === before.ignored + 2;
      await pod.waitToSee('they are judged', () => bothIgnored() || pod.seen.length > length + JUDGED_AFTER);
      isToldApart = bothIgnored();
    }
    assert.deepEqual([isToldApart, last().lastMs], [true, before.lastMs]);
  });

  for (const [title, flood, everyMs] of [
    ['after which the tables are long', { how: 'request', times: 250, abreast: 20 }, 50],
    ['of which it has half the rate', { how: 'touch', times: 100, abreast: 1 }, 10],
  ] as const)
    test(`count in a flood, and a neighbour does not go on with it, ${title}`, async (t) => {
      const { client, pod } = await watched(t, { drain: { maxMs: 1_000 } });
      const came = Number(await client.do({ do: 'connect', host: POD, port: PORT, ...flood }));
      await pod.waitToSee('all count', ({ connections }) => connections >= came);
      await pod.do({ do: 'keep on', host: '127.0.0.1', port: PORT, how: 'request', everyMs });
      await pod.waitToSee('many are ignored, and none counts meanwhile', ({ connections, ignored }) =>
        pod.seen.some((before) => before.connections === connections && before.ignored + MANY <= ignored),
      );
      await pod.do({ do: 'cease' });
    });

  test('are all seen by an unprivileged user', async (t) => {
    const { client, counted, pod } = await watched(t, {
      user: 12_345,
      drain: { ignore: [KUBELET] },
      init: STATIC.path,
    });
    await client.do({ do: 'connect', host: POD, port: PORT, how: 'touch', times: 2 });
    await client.do({ do: 'connect', host: POD, port: PORT, from: KUBELET, how: 'touch', times: 3 });
    await counted(5, 2);
    assert.deepEqual(pod.unseen, []);
  });
});

describe('C1: neighbours, where they count', options, () => {
  test('count each, by loopback and by the addresses of the pod, however they end, once', async (t) => {
    const { pod, counted, last } = await watched(t, { drain: { neighbours: true } });
    const { lastMs } = last();
    let came = 0;
    for (const host of ['127.0.0.1', '::1', POD, POD6, '127.0.0.6'])
      for (const how of [...HOWS, 'hold' as const])
        came += Number(await pod.do({ do: 'connect', host, port: PORT, how, times: 2 }));
    await counted(came, came);
    assert.ok(last().lastMs > lastMs);
    const { length } = pod.seen;
    await pod.waitToSee('all is judged', () => pod.seen.length > length + JUDGED_AFTER);
    assert.deepEqual([last().connections, last().ignored], [came, 0]);
  });

  test('keep it awake with requests over connections that are kept', async (t) => {
    const { pod, last } = await watched(t, { drain: { neighbours: true, quietMs: 300 } });
    await pod.do({ do: 'connect', host: '127.0.0.1', port: PORT, how: 'hold', times: 1 });
    const { lastMs } = await pod.waitToSee('it has come', ({ connections }) => connections === 1);
    for (let times = 0; times < MAX_TIMES && last().lastMs === lastMs; times += 1) {
      await pod.do({ do: 'use' });
      const { length } = pod.seen;
      await pod.waitToSee('it has told', () => pod.seen.length > length);
    }
    assert.ok(last().lastMs > lastMs);
  });

  test('do not, where the port is not named, or their address is ignored', async (t) => {
    const { pod, counted } = await watched(t, {
      drain: { neighbours: true, ports: [PORT], ignore: ['127.0.0.6'] },
    });
    await pod.do({ do: 'connect', host: '127.0.0.1', port: 9090, how: 'touch', times: 2 });
    await pod.do({ do: 'connect', host: '127.0.0.1', from: '127.0.0.6', port: PORT, how: 'touch', times: 2 });
    await pod.do({ do: 'connect', host: '127.0.0.1', port: PORT, how: 'touch', times: 2 });
    await counted(6, 2);
  });
});

describe('connections that are kept', options, () => {
  const QUIET_MS = 300;
  const LOOKS = 10;

  async function kept(t: TestContext, drain: Partial<AdaptiveDrain>, from?: string) {
    const all = await watched(t, { drain: { ...drain, quietMs: QUIET_MS } });
    await all.client.do({
      do: 'connect',
      host: POD,
      port: PORT,
      how: 'hold',
      times: 2,
      ...(from !== undefined && { from }),
    });
    await all.pod.waitToSee('they have come', ({ connections, ignored }) => connections + ignored === 2);
    const lookAgain = async (): Promise<void> => {
      const { seen } = all.pod;
      const before = seen.length;
      await all.pod.waitToSee('it has looked some more', () => seen.length >= before + LOOKS);
    };
    await lookAgain();
    return { ...all, lookAgain };
  }

  test('keep it awake while requests come over them, and not when they are idle', async (t) => {
    const { client, pod, last, lookAgain } = await kept(t, {});
    const { lastMs } = last();
    await lookAgain();
    assert.equal(last().lastMs, lastMs, 'idle');
    // With little CPU one look may come too late for one request.
    for (let times = 0; times < MAX_TIMES && last().lastMs === lastMs; times += 1) {
      await client.do({ do: 'use' });
      const { seen } = pod;
      const before = seen.length;
      await pod.waitToSee('it has told', () => seen.length > before);
    }
    assert.ok(last().lastMs > lastMs);
    assert.equal(last().connections, 2);
  });

  for (const [title, drain, from] of [
    ['from an address that is ignored', { ignore: [KUBELET] }, KUBELET],
    ['to another port', { ports: [9090] }, undefined],
    ['where only new connections count', { newOnly: true }, undefined],
  ] as const)
    test(`${title} do not keep it awake`, async (t) => {
      const { client, last, lookAgain } = await kept(t, drain, from);
      const { lastMs } = last();
      for (let times = 0; times < 5; times += 1) await client.do({ do: 'use' });
      await lookAgain();
      assert.equal(last().lastMs, lastMs);
    });
});

describe('do not count and do not keep it awake', options, () => {
  test('probes from an address that is ignored, whoever closes first', async (t) => {
    const { client, counted, last } = await watched(t, { drain: { ignore: ['10.77.0.8/29'] } });
    const { lastMs } = last();
    let came = 0;
    for (const how of [...HOWS, 'hold' as const])
      came += Number(await client.do({ do: 'connect', host: POD, port: PORT, from: KUBELET, how, times: 3 }));
    await counted(came, 0);
    assert.equal(last().lastMs, lastMs);
  });

  test('an ignored network of IPv6', async (t) => {
    const { client, counted } = await watched(t, { drain: { ignore: ['fd77::/64'] } });
    await client.do({ do: 'connect', host: POD6, port: PORT, from: CLIENT6, how: 'touch', times: 2 });
    await client.do({ do: 'connect', host: POD, port: PORT, how: 'touch', times: 1 });
    await counted(3, 1);
  });

  test('ports that were not named, such as that of the metrics', async (t) => {
    const { client, counted } = await watched(t, { drain: { ports: [PORT] } });
    for (const how of HOWS) await client.do({ do: 'connect', host: POD, port: 9090, how, times: 2 });
    await client.do({ do: 'connect', host: POD, port: PORT, how: 'request', times: 1 });
    await counted(9, 1);
  });

  test('neighbours in the same namespace, by loopback and by its own addresses', async (t) => {
    const { pod, counted, last } = await watched(t);
    const { lastMs } = last();
    let came = 0;
    for (const host of ['127.0.0.1', '::1', POD, POD6, '127.0.0.6'])
      for (const how of HOWS) came += Number(await pod.do({ do: 'connect', host, port: PORT, how, times: 2 }));
    await counted(came, 0);
    assert.equal(last().lastMs, lastMs);
  });

  test('neighbours that are told to be left out, although ports are named', async (t) => {
    const { pod, counted } = await watched(t, { drain: { ports: [PORT], neighbours: false } });
    for (const how of HOWS) await pod.do({ do: 'connect', host: '127.0.0.1', port: PORT, how, times: 2 });
    await counted(8, 0);
  });

  test('neighbours whose handshake was not over when the watch began', async (t) => {
    const { pod } = await makePlaces(t, { ports: [PORT] });
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

  test('our own probes where neighbours count', async (t) => {
    const { pod, last, counted } = await watched(t, { drain: { neighbours: true } });
    for (const kind of ['http', 'tcp', 'http', 'tcp'] as const) await pod.do({ do: 'probe', kind, port: PORT });
    await counted(4, 0);
    await pod.do({ do: 'connect', host: '127.0.0.1', port: PORT, how: 'request', times: 1 });
    await counted(5, 1);
    const { length } = pod.seen;
    await pod.waitToSee('all is judged', () => pod.seen.length > length + JUDGED_AFTER);
    assert.deepEqual([last().connections, last().ignored], [1, 4]);
  });

  test('our own probes', async (t) => {
    const { pod, last, counted } = await watched(t);
    for (const kind of ['http', 'tcp', 'http', 'tcp'] as const) await pod.do({ do: 'probe', kind, port: PORT });
    await counted(4, 0);
    const { length } = pod.seen;
    await pod.waitToSee('all is judged', () => pod.seen.length > length + JUDGED_AFTER);
    assert.deepEqual([last().connections, last().ignored], [0, 4]);
  });

  test('connections that were there before, busy or idle, and ended meanwhile', async (t) => {
    const places = await makePlaces(t, { ports: [PORT] });
    const { pod, client } = places;
    await client.do({ do: 'connect', host: POD, port: PORT, how: 'hold', times: 500 });
    await pod.do({ do: 'watch', drain: { ...DRAIN, inflight: true }, init: STATIC.path });
    const { lastMs } = await pod.waitToSee('all are open', ({ open }) => open === 500);
    await client.do({ do: 'let go' });
    const told = await pod.waitToSee('none is open', ({ open }) => open === 0);
    assert.deepEqual([told.connections, told.ignored, told.lastMs], [0, 0, lastMs]);
  });
});

describe('where the kernel does not tell what has gone', options, () => {
  const init = '/nonexistent/sexton';

  test('what stays in the tables is told apart all the same', async (t) => {
    const { client, pod, counted } = await watched(t, { init, drain: { ignore: [KUBELET] } });
    await client.do({ do: 'connect', host: POD, port: PORT, from: KUBELET, how: 'request', times: 1 });
    await counted(1, 0);
    await client.do({ do: 'connect', host: POD, port: PORT, from: KUBELET, how: 'hold', times: 2 });
    await counted(3, 0);
    await pod.do({ do: 'connect', host: '127.0.0.1', port: PORT, how: 'request and leave', times: 2 });
    await counted(5, 0);
  });

  test('what was gone before it could be seen counts, but for our own probes', async (t) => {
    const { client, pod, counted } = await watched(t, { init, drain: { ignore: [KUBELET] } });
    for (const kind of ['http', 'tcp'] as const) await pod.do({ do: 'probe', kind, port: PORT });
    await counted(2, 0);
    await client.do({ do: 'connect', host: POD, port: PORT, how: 'break off', times: 2 });
    await counted(4, 2);
  });
});
