/** A restart in place on a real kubelet: examples/restart-in-place behind clients that follow EndpointSlices. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, type TestContext } from 'node:test';
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
import { type ClusterPod, startPod } from './helpers/pod.ts';
import { namespace } from './helpers/watch.ts';

/** So slow that some requests are under way at any moment. */
const SERVER = "require('http').createServer((_, to) => setTimeout(() => to.end('cached'), 500)).listen(8080)";
const WEB = ['/bin/node', '-e', SERVER];

describe('on a cluster, a restart in place', { concurrency: 3 }, () => {
  clusterTest('a restart in place of one of two replicas fails no request', async (t) => {
    const { first, answers } = await rehearse(t, 2, exampleSpec());
    const tombstone = await tombstoneOf(first, 'web');
    const unreadyMs = first.changes.find(
      ({ pod }, index) => index > 0 && wasReady(first, index) && !isReady(pod),
    )?.atMs;
    const endedMs = Date.parse(tombstone.LastDied ?? '');
    assert.ok(
      unreadyMs !== undefined && unreadyMs < endedMs,
      `not ready at ${unreadyMs}, its command ended at ${endedMs}`,
    );
    assert.deepEqual([first.status('web').restartCount, first.status('cache').restartCount], [0, 0]);
    assert.deepEqual([tombstone.PodRestarts, tombstone.Restarts], [1, 1]);
    assert.match(first.log('cache'), /^filling the cache$[\s\S]*^the cache is warm$/m);
    assert.deepEqual([answers.failed, answers.unserved], [[], 0]);
    assert.ok(answers.asked > 100, `${answers.asked} requests`);
  });

  clusterTest('a restart in place of the only replica leaves clients without an address', async (t) => {
    const { answers } = await rehearse(t, 1, exampleSpec());
    assert.deepEqual(answers.failed, []);
    assert.ok(answers.unserved > 0, 'nobody was there for a while');
  });

  clusterTest('a restart in place by rule runs the init containers again after all commands', async (t) => {
    const begin: ContainerSpec = {
      name: 'begin',
      image: imageNames().whole,
      imagePullPolicy: 'Never',
      command: ['sh', '-c', '/sexton/sexton begin && echo begun >> /log/begun'],
      volumeMounts: MOUNTS,
    };
    const more = {
      restartPolicy: 'Never',
      restartPolicyRules: [{ action: 'RestartAllContainers', exitCodes: { operator: 'In', values: [88] } }],
    };
    const members = [
      { name: 'proxy', flags: SIDECAR },
      { name: 'main', flags: ['--start-after', 'proxy=started', '--restart-rules', '88=restart-all'], more },
    ];
    const pod = await startPod(t, 'by-rule', podOf({ members, more: { initContainers: [begin] } }));
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

/** Restarts the first of this many pods of a Service under load. */
async function rehearse(t: TestContext, replicas: number, spec: PodSpec): Promise<Rehearsal> {
  const name = `in-place-${randomBytes(3).toString('hex')}`;
  const path = `/api/v1/namespaces/${namespace()}/services`;
  const ports = [{ name: 'http', port: 80, targetPort: 8080 }];
  await ask('POST', path, { metadata: { name }, spec: { selector: { app: name }, ports } });
  t.after(() => ask('DELETE', `${path}/${name}`));
  const [first] = await Promise.all(Array.from({ length: replicas }, () => startPod(t, name, spec, { app: name })));
  if (first === undefined) throw new Error('internal error: no pod');
  const clients = await startClients(t, name);
  await clients.untilReady(replicas);
  await calm();
  const gone = clients.untilReady(replicas - 1);
  await Promise.all([first.exec('web', '/sexton/sexton', 'restart'), gone]);
  await clients.untilReady(replicas);
  await calm();
  return { first, answers: await clients.stop() };
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
