import { flagAt } from '../common.ts';
import { ofContainer } from '../rule.ts';

export const rule = ofContainer({
  severity: 'warning',
  title: 'A drain by connections on the network of the host',
  why: 'With hostNetwork the container sees the connections of the whole node, so a drain that waits for quiet takes its longest time.',
  remedy: 'Name the ports in the drain (ports=8080), or use a fixed drain.',
  *find({ container, pod, member }) {
    const drain = member?.drain;
    if (!pod.isOnHostNetwork || drain?.kind !== 'adaptive' || drain.ports.length > 0) return;
    yield { at: flagAt(container, '--drain'), atMs: drain.maxMs };
  },
  say: () => 'the drain counts the connections of the whole node, as the pod has hostNetwork',
});
