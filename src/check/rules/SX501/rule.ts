import { at, textAt, wholeAt } from '../../input/located.ts';
import { type Objects, scalerOf, type Workload } from '../../input/objects.ts';
import { ofBudget } from '../rule.ts';

export const rule = ofBudget({
  severity: 'error',
  title: 'A disruption budget that never allows a disruption',
  why: 'An eviction that the budget forbids is refused for ever: nodes cannot be drained, and upgrades hang until someone deletes the pod by hand, without its grace.',
  remedy: 'Allow at least one: maxUnavailable: 1, or more replicas than minAvailable.',
  *find({ budget: { object }, workloads, objects }) {
    const most = at(object, 'spec', 'maxUnavailable');
    const least = at(object, 'spec', 'minAvailable');
    const zero = textAt(most);
    if (most !== undefined && (zero === '0' || zero === '0%'))
      return yield { at: most, what: `maxUnavailable ${zero} allows no eviction at all` };
    if (least === undefined) return;
    if (textAt(least) === '100%') return yield { at: least, what: 'minAvailable 100% allows no eviction at all' };
    const needed = wholeAt(least);
    const said = new Set<string>();
    for (const workload of workloads) {
      const { replicas, most, noun } = countsOf(workload, objects);
      if (needed === undefined || replicas === undefined || replicas === 0 || needed < replicas) continue;
      const what = `minAvailable ${needed} with ${replicas} ${noun} of ${workload.name} allows no eviction`;
      // One workload may be there in several renderings.
      if (!said.has(what)) yield { at: least, what, severity: needed >= most ? 'error' : 'warning' };
      said.add(what);
    }
  },
  say: ({ what }) => what,
});

/** How many pods a workload has; undefined: that is not written in it. */
function countsOf(workload: Workload, objects: Objects) {
  const hasReplicas = ['Deployment', 'StatefulSet', 'ReplicaSet'].includes(workload.kind);
  const scaler = scalerOf(workload, objects);
  const replicas = scaler === undefined ? workload.replicas : wholeAt(scaler.object, 'spec', 'minReplicas');
  const least = replicas ?? 1;
  const most = scaler === undefined ? least : (wholeAt(scaler.object, 'spec', 'maxReplicas') ?? least);
  return { replicas: hasReplicas ? least : undefined, most, noun: scaler === undefined ? 'replicas' : 'minReplicas' };
}
