/** The examples that have a manifest, as they stand: applied to a real cluster, with the images that they name. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { describe, type TestContext } from 'node:test';
import { ask, kubectl } from './helpers/api.ts';
import { clusterTest } from './helpers/case.ts';
import { apply, evict, manifestOf, NGINX, withExampleImages } from './helpers/examples.ts';
import { podOwnedBy } from './helpers/job.ts';
import type { PodObject, PodSpec } from './helpers/objects.ts';
import { type ClusterPod, followPod, startPod } from './helpers/pod.ts';
import { assertRollsWithoutFailure, namesOf, rolled, untilRolledOut } from './helpers/rollout.ts';
import { namespace } from './helpers/watch.ts';

withExampleImages();

describe('on a cluster', { concurrency: 4 }, () => {
  clusterTest('J04 examples/job-with-sidecar completes after its shipper has shipped the last line', async (t) => {
    await apply(t, 'job-with-sidecar/job.yaml');
    const pod = await podOf(t, 'batch', 'jobs', 'job-with-sidecar');
    assert.equal(await pod.untilEnded(), 'Succeeded');
    // On stdout; on stderr is what the shell and sexton say.
    const shipped = pod
      .log('shipper')
      .split('\n')
      .filter((line) => /^(step|the last|shipped) /.test(line));
    assert.deepEqual(shipped, ['step one', 'step two', 'step three', 'the last line', 'shipped all']);
    assert.equal(pod.message('shipper').StopReason, 'mains finished');
  });

  clusterTest('J06 K06 examples/cronjob fails once, and its proxy stays for the second try', async (t) => {
    await apply(t, 'cronjob/cronjob.yaml');
    await kubectl('create', 'job', 'report-now', '--from=cronjob/report', '--namespace', namespace());
    t.after(() =>
      kubectl('delete', 'job/report-now', '--ignore-not-found', '--wait=false', '--namespace', namespace()),
    );
    const pod = await podOf(t, 'batch', 'jobs', 'report-now');
    assert.equal(await pod.untilEnded(), 'Succeeded');
    assert.match(pod.log('work'), /^not there yet$.*^the report is written$/ms);
    assert.deepEqual([pod.status('work').restartCount, pod.status('proxy').restartCount], [1, 0]);
  });

  clusterTest('examples/istio-job waits for the injected proxy and asks it to leave', async (t) => {
    // What Istio's injector does to it.
    const { spec } = manifestOf('istio-job/job.yaml', 'Job') as { spec: { template: { spec: PodSpec } } };
    const proxy = { name: 'istio-proxy', image: 'example.com/mesh:1', command: ['/mesh'] };
    const template = spec.template.spec;
    const pod = await startPod(t, 'istio-job', { ...template, containers: [...template.containers, proxy] });
    assert.equal(await pod.untilEnded(), 'Succeeded');
    assert.deepEqual([pod.end('work').exitCode, pod.end('istio-proxy').exitCode], [0, 0]);
  });

  clusterTest('examples/server-demo loses no request in a rolling restart under load', async (t) => {
    await apply(t, 'server-demo/deployment.yaml');
    await assertRollsWithoutFailure(t, 'server-demo', 2);
  });

  clusterTest('examples/long-answers cuts no answer in a rolling update, and some without --idle-when', async (t) => {
    await apply(t, 'long-answers/deployment.yaml');
    await assertRollsWithoutFailure(t, 'long-answers', 2);
    const path = `/apis/apps/v1/namespaces/${namespace()}/deployments/long-answers`;
    const { spec } = await ask<{ spec: { template: { spec: PodSpec } } }>('GET', path);
    const containers = spec.template.spec.containers.map(({ name, command = [] }) => {
      return { name, command: command.filter((word) => !word.startsWith('--idle-when')) };
    });
    await ask('PATCH', path, { spec: { template: { spec: { containers } } } });
    const { failed } = await rolled(t, 'long-answers', 2);
    assert.ok(
      failed.some(({ trouble }) => trouble === 'cut off'),
      'none is cut off',
    );
  });

  clusterTest(
    'examples/web-server, an nginx stopped by SIGQUIT, loses no request in a restart',
    async (t) => {
      await apply(t, 'web-server/deployment.yaml');
      await assertRollsWithoutFailure(t, 'web', 2);
    },
    async () => (existsSync(NGINX) ? undefined : `there is no ${NGINX} to make its image of`),
  );

  clusterTest('examples/pdb-demo drains one eviction and refuses the next until a successor is ready', async (t) => {
    await apply(t, 'pdb-demo/deployment.yaml', 'pdb-demo/pdb.yaml');
    await untilRolledOut('pdb-demo');
    const [first = '', second = ''] = await namesOf('app=pdb-demo');
    const pod = await followPod(t, first);
    await untilBudgetAllows('pdb-demo');
    assert.equal(await evict(first), true);
    assert.equal(await evict(second), false, 'while there are only two that are ready');
    await pod.untilGone();
    const { StopReason, Phases } = pod.message('web') as {
      StopReason: string;
      Phases: { Phase: string; Ms: number }[];
    };
    assert.equal(StopReason, 'signal TERM');
    // Its drain begins with the request, for which its supervisor is woken.
    const drained = Phases.filter(({ Phase }) => Phase === 'wake' || Phase === 'drain');
    assert.ok(drained.reduce((sum, { Ms }) => sum + Ms, 0) >= 19_000, JSON.stringify(Phases));
    assert.equal(pod.end('web').exitCode, 0);
    await untilBudgetAllows('pdb-demo');
    assert.equal(await evict(second), true);
  });

  clusterTest('examples/controller-demo runs its hook before TERM, and the controller ends by TERM', async (t) => {
    await apply(t, 'controller-demo/deployment.yaml');
    await untilRolledOut('controller-demo');
    const [name = ''] = await namesOf('app=controller-demo');
    const pod = await followPod(t, name);
    await pod.untilLogged('controller', /"works"/);
    await pod.delete();
    await pod.untilGone();
    assert.equal(pod.end('controller').exitCode, 143);
    const { Phases } = pod.message('controller') as { Phases: { Phase: string }[] };
    assert.ok(
      Phases.some((it) => it.Phase === 'pre-stop'),
      JSON.stringify(Phases),
    );
  });

  clusterTest('examples/sidecar-restarts-while-main-drains fails fewer requests than a native sidecar', async (t) => {
    const { spec } = manifestOf('sidecar-restarts-while-main-drains/pod.yaml', 'Pod') as { spec: PodSpec };
    const [ours, native] = await Promise.all([
      drainWithout(t, 'ours', spec),
      drainWithout(t, 'native', asNative(spec)),
    ]);
    // How long it is away depends on the machine: it is a Node that starts.
    const seen = JSON.stringify({ ours, native });
    assert.ok(ours.lastOk && ours.failed < native.failed, seen);
    assert.ok(!native.lastOk && native.failed * 4 > native.asked, seen);
  });
});

async function podOf(t: TestContext, group: string, kind: string, name: string): Promise<ClusterPod> {
  const { metadata } = await ask<PodObject>('GET', `/apis/${group}/v1/namespaces/${namespace()}/${kind}/${name}`);
  return followPod(t, await podOwnedBy(metadata.uid));
}

async function untilBudgetAllows(name: string): Promise<void> {
  const condition = '--for=jsonpath={.status.disruptionsAllowed}=1';
  await kubectl('wait', condition, `pdb/${name}`, '--namespace', namespace(), '--timeout=90s');
}

interface Drained {
  readonly asked: number;
  readonly failed: number;
  readonly lastOk: boolean;
  /** What the request said that ends the proxy, and when it was back: milliseconds after the deletion. */
  readonly crash: string;
}

/** The pod is deleted, and while its main drains the proxy crashes. Counted are the requests from the deletion on. */
async function drainWithout(t: TestContext, name: string, spec: PodSpec): Promise<Drained> {
  const pod = await startPod(t, name, spec);
  await pod.untilLogged('work', /"ok":true/);
  await pod.delete();
  const since = Date.now();
  await pod.until('the main has served on for a while', () => requestsOf(pod).some((it) => it.at > since + 6_000));
  const said = await pod
    .exec('work', 'wget', '-q', '-O', '-', 'http://127.0.0.1:15001/crash')
    .catch((error: unknown) => String(error));
  const crash = `${said}, ${Date.now() - since} ms`;
  await pod.untilGone();
  const requests = requestsOf(pod).filter((it) => it.at >= since);
  return {
    asked: requests.length,
    failed: requests.filter((it) => !it.ok).length,
    lastOk: requests.some((it) => it.what === 'last request' && it.ok),
    crash,
  };
}

function requestsOf(pod: ClusterPod): { at: number; what: string; ok: boolean }[] {
  const lines = pod
    .log('work')
    .split('\n')
    .filter((line) => line.startsWith('{"at":'));
  return lines.map((line) => JSON.parse(line));
}

/** Its proxy as the kubelet's sidecar, without sexton; the drain of the main is the same. */
function asNative(spec: PodSpec): PodSpec {
  const containers = spec.containers.map((it) => ({
    ...it,
    command: it.command?.filter((word) => word !== '--start-after' && word !== 'proxy=started') ?? [],
  }));
  const [work, proxy] = [
    containers.find((it) => it.name === 'work'),
    spec.containers.find((it) => it.name === 'proxy'),
  ];
  if (work === undefined || proxy === undefined) throw new Error('internal error: the pod has a work and a proxy');
  return { ...spec, containers: [work], initContainers: [{ ...proxy, command: ['/proxy'], restartPolicy: 'Always' }] };
}
