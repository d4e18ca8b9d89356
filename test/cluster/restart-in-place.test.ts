/** A restart in place on a real kubelet: examples/restart-in-place behind clients that follow EndpointSlices. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, type TestContext } from 'node:test';
import type { Evidence } from '../../src/core/format/evidence.ts';
import type { Tombstone } from '../../src/core/format/tombstone.ts';
import { parseTimeline } from '../helpers/timeline.ts';
import { waitFor } from '../helpers/wait.ts';
import { ask } from './helpers/api.ts';
import { clusterTest } from './helpers/case.ts';
import { type Answers, startClients } from './helpers/clients.ts';
import { manifestOf } from './helpers/examples.ts';
import { imageNames } from './helpers/images.ts';
import { MOUNTS, podOf, SIDECAR } from './helpers/members.ts';
import { type ContainerSpec, isReady, type PodSpec } from './helpers/objects.ts';
import { type ClusterPod, followPod, startPod } from './helpers/pod.ts';
import { namespace, untilPods } from './helpers/watch.ts';

/** So slow that some requests are under way at any moment. */
const SERVER = "require('http').createServer((_, to) => setTimeout(() => to.end('cached'), 500)).listen(8080)";
const WEB = ['/bin/node', '-e', SERVER];

/** Neither a request that is under way nor the next look of the kubelet ends after it. */
const LEAVES = 'while ! test -e /cache/leave; do sleep 0.1; done; rm /cache/leave; sleep 2; exit 88';

describe('on a cluster, a restart in place', { concurrency: 3 }, () => {
  clusterTest('a restart in place of one of two replicas fails no request', async (t) => {
    const { first, answers } = await rehearse(t, 2, exampleSpec(), (pod) => restart(pod));
    const unreadyMs = first.changes.find(
      ({ pod }, index) => index > 0 && wasReady(first, index) && !isReady(pod),
    )?.atMs;
    const endedMs = timeOf((await tombstoneOf(first, 'web')).LastDied);
    assert.ok(
      unreadyMs !== undefined && unreadyMs < endedMs,
      `not ready at ${unreadyMs}, its command ended at ${endedMs}`,
    );
    await assertRestartedInOrder(first);
    assertServed(answers);
  });

  clusterTest('a restart in place of the only replica leaves clients without an address', async (t) => {
    const { first, answers } = await rehearse(t, 1, exampleSpec(), (pod) => restart(pod));
    await assertRestartedInOrder(first);
    assert.deepEqual(answers.failed, []);
    assert.ok(answers.unserved > 0, 'nobody was there for a while');
  });

  clusterTest('two requests at once restart each command once, and fail no request', async (t) => {
    const { first, answers } = await rehearse(t, 2, exampleSpec(), (pod) =>
      Promise.all(['web', 'cache'].map((name) => pod.exec(name, '/sexton/sexton', 'restart'))),
    );
    await assertRestartedInOrder(first);
    assertServed(answers);
  });

  for (const [when, act] of [
    ['before', async (pod: ClusterPod) => [await restart(pod, '--no-wait'), await pod.delete()]],
    ['after', async (pod: ClusterPod) => [await pod.delete(), await restart(pod, '--no-wait')]],
  ] as const)
    clusterTest(`a deletion beats a restart that is requested right ${when} it, and fails no request`, async (t) => {
      const { first, answers } = await rehearse(t, 2, exampleSpec(), act);
      await first.untilGone();
      const [web, cache] = ['web', 'cache'].map((name) => {
        const { StopReason, Restarts, Phases = [], Died } = first.message(name) as unknown as Evidence;
        assert.deepEqual([StopReason, Restarts, first.status(name).restartCount], ['signal TERM', 0, 0], name);
        assert.equal(Phases.filter(({ Signal }) => Signal !== undefined).length, 1, `${name} got one signal`);
        return timeOf(Died);
      });
      assert.ok((web ?? 0) < (cache ?? 0), `web died at ${web}, cache at ${cache}`);
      assertServed(answers);
    });

  clusterTest('a restart of all containers beats a restart in place, and leaves nothing of it', async (t) => {
    const rule = [{ action: 'RestartAllContainers', exitCodes: { operator: 'In', values: [88] } }];
    const { containers, ...spec } = exampleSpec();
    const [web, cache] = containers;
    if (web === undefined || cache === undefined) throw new Error('internal error: the example has two containers');
    const watch = { ...cache, name: 'watch', command: ['sh', '-c', LEAVES], args: [] };
    const withRule = { ...watch, restartPolicy: 'Never', restartPolicyRules: rule };
    const initContainers = [beginContainer('/sexton/sexton begin', cache.volumeMounts)];
    const { first, answers } = await rehearse(
      t,
      2,
      { ...spec, initContainers, containers: [web, cache, withRule] },
      async (pod, unready) => {
        await restart(pod, '--no-wait');
        await unready;
        await pod.exec('watch', 'touch', '/cache/leave');
      },
    );
    for (const name of ['web', 'cache', 'watch']) assert.equal(first.status(name).restartCount, 1, name);
    const [newWeb, newCache] = [await tombstoneOf(first, 'web'), await tombstoneOf(first, 'cache')];
    for (const { Name, PodRestarts = 0, Restarts = 0 } of [newWeb, newCache])
      assert.deepEqual([PodRestarts, Restarts], [0, 0], Name);
    assert.ok(timeOf(newCache.Healthy) <= timeOf(newWeb.Started), `cache ${newCache.Healthy}, web ${newWeb.Started}`);
    assertServed(answers);
  });

  clusterTest('a restart in place by rule runs the init containers again after all commands', async (t) => {
    const more = {
      restartPolicy: 'Never',
      restartPolicyRules: [{ action: 'RestartAllContainers', exitCodes: { operator: 'In', values: [88] } }],
    };
    const members = [
      { name: 'proxy', flags: SIDECAR },
      { name: 'main', flags: ['--start-after', 'proxy=started', '--restart-rules', '88=restart-all'], more },
    ];
    const pod = await startPod(
      t,
      'by-rule',
      podOf({
        members,
        more: { initContainers: [beginContainer('/sexton/sexton begin && echo begun >> /log/begun', MOUNTS)] },
      }),
    );
    await pod.untilStarted('proxy', 'main');
    await pod.exec('main', '/sexton/sexton', 'restart', '--by-rule', '88', '--no-wait');
    for (const name of ['main', 'proxy']) await pod.untilRestarted(name);
    // The observer reports everything again in its second life.
    const log = await waitFor('both have started again', async () => {
      const events = parseTimeline(await pod.exec('main', 'cat', '/log/events').catch(() => ''));
      return ['proxy', 'main'].every((name) => events.of(name, 'Started').length === 2) && events;
    });
    assert.deepEqual([log.signals('main'), log.signals('proxy')], [[15], [15]]);
    for (const name of ['main', 'proxy']) assert.equal(log.of(name, 'Exiting').length, 1, `${name} ended by itself`);
    log.exitsBeforeSignalTo('main', 'proxy');
    assert.equal(await pod.exec('main', 'cat', '/log/begun'), 'begun\nbegun\n');
  });
});

interface Rehearsal {
  readonly first: ClusterPod;
  readonly answers: Answers;
}

/** Does this to the first of so many pods of a Deployment under load. `unready` resolves when clients do not ask it. */
async function rehearse(
  t: TestContext,
  replicas: number,
  spec: PodSpec,
  act: (first: ClusterPod, unready: Promise<void>) => Promise<unknown>,
): Promise<Rehearsal> {
  const name = `in-place-${randomBytes(3).toString('hex')}`;
  const labels = { app: name };
  const template = { metadata: { labels }, spec };
  await create(t, 'apis/apps/v1', 'deployments', name, { replicas, selector: { matchLabels: labels }, template });
  const ports = [{ name: 'http', port: 80, targetPort: 8080 }];
  await create(t, 'api/v1', 'services', name, { selector: labels, ports });
  const first = await followPod(
    t,
    await untilPods('a pod', ({ pod: { metadata } }) => (metadata.labels?.app === name ? metadata.name : undefined)),
  );
  const clients = await startClients(t, name);
  await clients.untilReady(replicas);
  await calm();
  const gone = clients.untilReady(replicas - 1);
  await Promise.all([act(first, gone), gone]);
  await clients.untilReady(replicas);
  await calm();
  return { first, answers: await clients.stop() };
}

async function create(t: TestContext, api: string, kind: string, name: string, spec: unknown): Promise<void> {
  const path = `/${api}/namespaces/${namespace()}/${kind}`;
  await ask('POST', path, { metadata: { name }, spec });
  t.after(() => ask('DELETE', `${path}/${name}?propagationPolicy=Background`));
}

function restart(pod: ClusterPod, ...flags: readonly string[]): Promise<string> {
  return pod.exec('web', '/sexton/sexton', 'restart', ...flags);
}

/** Once: the server ended before its cache, and started again behind it, in the same containers. */
async function assertRestartedInOrder(pod: ClusterPod): Promise<void> {
  const [web, cache] = [await tombstoneOf(pod, 'web'), await tombstoneOf(pod, 'cache')];
  for (const { Name, PodRestarts, Restarts } of [web, cache])
    assert.deepEqual([PodRestarts, Restarts, pod.status(Name).restartCount], [1, 1, 0], Name);
  const order = [web.LastDied, cache.LastDied, cache.Started, cache.Healthy, web.Started].map(timeOf);
  assert.deepEqual(
    order,
    order.toSorted((a, b) => a - b),
  );
  assert.match(pod.log('cache'), /^filling the cache$[\s\S]*^the cache is warm$/m);
}

function assertServed({ failed, unserved, asked }: Answers): void {
  assert.deepEqual([failed, unserved], [[], 0]);
  assert.ok(asked > 100, `${asked} requests`);
}

function timeOf(at: string | undefined): number {
  assert.ok(at !== undefined, 'it is written down');
  return Date.parse(at);
}

/** An init container that begins a new generation of the graveyard. */
function beginContainer(script: string, volumeMounts: unknown): ContainerSpec {
  const image = imageNames().whole;
  return { name: 'begin', image, imagePullPolicy: 'Never', command: ['sh', '-c', script], volumeMounts };
}

/** The load before and after is part of what is compared. */
function calm(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 3_000));
}

/** The pod template of the example, with the image of the run and a slower server. */
function exampleSpec(): PodSpec {
  const { spec } = manifestOf('restart-in-place/deployment.yaml', 'Deployment') as {
    spec: { template: { spec: PodSpec } };
  };
  const image = { image: imageNames().whole, imagePullPolicy: 'Never' };
  const containers = spec.template.spec.containers.map((it) => ({ ...it, ...image }));
  return { ...spec.template.spec, containers: containers.map((it) => (it.name === 'web' ? { ...it, args: WEB } : it)) };
}

async function tombstoneOf(pod: ClusterPod, name: string): Promise<Tombstone> {
  const { members } = JSON.parse(await pod.exec('web', '/sexton/sexton', 'status', '-o', 'json')) as {
    members: readonly Tombstone[];
  };
  const found = members.find(({ Name }) => Name === name);
  assert.ok(found !== undefined, `${name} is there`);
  return found;
}

function wasReady({ changes }: ClusterPod, before: number): boolean {
  return changes.slice(0, before).some(({ pod }) => isReady(pod));
}
