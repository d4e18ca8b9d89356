/** Stops of scripts under `sexton inject`: the signals that processes get, and the last lines of their logs. */
import assert from 'node:assert/strict';
import { describe, type TestContext } from 'node:test';
import { parse, stringify } from 'yaml';
import { inject } from '../../src/inject/inject.ts';
import { clusterTest } from './helpers/case.ts';
import { imageNames } from './helpers/images.ts';
import type { PodObject } from './helpers/objects.ts';
import { type ClusterPod, startPod } from './helpers/pod.ts';

const { sexton, plain } = imageNames();
/** A fifo stands for bash's `exec > >(tee FILE)`: busybox has no process substitution. */
const TEE = 'mkfifo /tmp/pipe; tee /tmp/log </tmp/pipe & exec >/tmp/pipe';
const SERVER = `
trap 'for i in 1 2 3 4; do sleep 0.5; echo "last line $i"; done; exit 0' TERM
sleep 3600 &
echo ready
wait
`;
/** The master and its worker each need a second to stop. */
const MASTER = '/member name=master log=/dev/stdout term=1000 grandchild=1000';

describe('on a cluster', { concurrency: 2 }, () => {
  clusterTest('a server that writes to tee gets its last lines into the log of an injected pod', async (t) => {
    const pod = await startInjected(t, 'tee', `${TEE}; exec sh -c "$SERVER"`);
    await pod.untilLogged('main', /^ready$/m);
    await pod.delete();
    await pod.untilGone();
    assert.deepEqual(
      pod.log('main').match(/last line \d/g),
      [1, 2, 3, 4].map((i) => `last line ${i}`),
    );
    assert.equal(pod.end('main').exitCode, 0);
  });

  clusterTest('a worker gets TERM after its master has ended when an injected shell started both', async (t) => {
    const pod = await startInjected(t, 'shell', `${MASTER}; echo "the master has left"`);
    await pod.untilStarted('master');
    await pod.untilEvent('master.grandchild', 'Starting');
    await pod.delete();
    await pod.untilGone();
    const log = pod.timeline;
    assert.deepEqual([log.signals('master'), log.signals('master.grandchild')], [[15], [15]]);
    log.exitsBeforeSignalTo('master', 'master.grandchild');
    log.at('master.grandchild', 'Exiting');
    assert.equal(pod.end('main').exitCode, 143);
  });
});

/** The manifest goes through `sexton inject` in its default delivery. */
async function startInjected(t: TestContext, name: string, script: string): Promise<ClusterPod> {
  const main = { name: 'main', image: plain, imagePullPolicy: 'Never', command: ['sh', '-c', script] };
  const env = [{ name: 'SERVER', value: SERVER }];
  const spec = { terminationGracePeriodSeconds: 15, containers: [{ ...main, env }] };
  const text = stringify({ apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec });
  const options = { deliver: 'init-container', image: sexton, images: new Map(), version: 'test' } as const;
  const [change] = (await inject([{ path: 'pod.yaml', text }], options)).changes;
  return startPod(t, name, (parse(change?.text ?? '') as PodObject).spec);
}
