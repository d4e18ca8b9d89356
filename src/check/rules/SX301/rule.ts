import { insertKey } from '../../edits.ts';
import { at, itemsAt } from '../../input/located.ts';
import { namedAt } from '../../input/objects.ts';
import { balancerOf, hasSleep, isJob, raiseGrace } from '../common.ts';
import { ofWorkload } from '../rule.ts';
import { isInjected, isIstio, mayDrain, ordinaryOf } from '../sidecars.ts';

const SLEEP_SECONDS = 5;

export const rule = ofWorkload({
  severity: 'info',
  title: 'Behind a Service, and nothing keeps the pod serving while endpoints are updated',
  why: 'TERM and the removal of the endpoint begin at the same time. Proxies and balancers send new requests for some more seconds, to a program that has stopped listening.',
  remedy: 'Add a preStop sleep of some seconds, or a drain by sexton; raise the grace period by as much.',
  *find(about) {
    const mains = ordinaryOf(about.view);
    const balancer = balancerOf(about);
    if (isJob(about.workload) || balancer === undefined) return;
    if (mains.some((one) => one.container.preStop !== undefined || mayDrain(one))) return;
    const own = mains.map(({ container }) => container).filter((one) => !isInjected(one) && !isIstio(one));
    const container = own.find(({ node }) => itemsAt(node, 'ports').length > 0) ?? own[0];
    if (container !== undefined) yield { at: at(container.node, 'name'), container, atMs: 0, balancer };
  },
  say: ({ balancer }) => `gets TERM at once, while ${namedAt(balancer)} still sends to it`,
  fix: ({ container }, { pod, minor }) => {
    if (pod.graceSeconds === 0 || !hasSleep(minor)) return [];
    const sleep = insertKey(pod.source, container.node, 'lifecycle', {
      preStop: { sleep: { seconds: SLEEP_SECONDS } },
    });
    // The default grace period has room for it.
    if (sleep.length === 0 || pod.graceAt === undefined) return sleep;
    return [...sleep, ...raiseGrace(pod, pod.graceSeconds + SLEEP_SECONDS)];
  },
});
