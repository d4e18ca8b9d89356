import { at } from '../../input/located.ts';
import { namedAt } from '../../input/objects.ts';
import { balancerOf, isJob } from '../common.ts';
import { ofWorkload } from '../rule.ts';
import { isInjected } from '../sidecars.ts';

export const rule = ofWorkload({
  severity: 'warning',
  title: 'Behind a Service without a readiness probe',
  why: 'Without one, or a startupProbe, a pod counts as ready when its containers run: a rolling update removes old pods while new ones still start.',
  remedy: 'Add a readinessProbe to the container that serves.',
  *find(about) {
    const { workload, pod } = about;
    const balancer = balancerOf(about);
    if (isJob(workload) || workload.kind === 'Pod' || balancer === undefined) return;
    if (pod.containers.some(({ node }) => at(node, 'readinessProbe') !== undefined)) return;
    // No container counts as ready before its startup probe succeeds. A native sidecar's is over when the main starts.
    if (pod.containers.some(({ node, isNative }) => !isNative && at(node, 'startupProbe') !== undefined)) return;
    const container = pod.containers.find((one) => !one.isNative && !isInjected(one));
    if (container !== undefined) yield { at: at(container.node, 'name'), container, balancer };
  },
  say: ({ balancer }) => `has no readinessProbe, so ${namedAt(balancer)} sends to it as soon as it runs`,
});
