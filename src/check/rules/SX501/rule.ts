import { at, type Located, textAt, wholeAt } from '../../input/located.ts';
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
    if (zero === '0' || zero === '0%')
      return yield { at: most, what: `maxUnavailable ${zero} allows no eviction at all` };
    if (least === undefined) return;
    if (textAt(least) === '100%') return yield { at: least, what: 'minAvailable 100% allows no eviction at all' };
    // What has one name is one workload in several renderings, of which the smallest counts.
    const renderings = Map.groupBy(workloads, ({ kind, name }) => `${kind}/${name}`).values();
    const counts = Array.from(
      renderings,
      (all) => all.flatMap((one) => countsOf(one, objects) ?? []).toSorted((a, b) => a.replicas - b.replicas)[0],
    );
    const known = counts.filter((one) => one !== undefined);
    const replicas = known.reduce((sum, one) => sum + one.replicas, 0);
    const scaled = known.reduce((sum, one) => sum + one.most, 0);
    // What an unknown number adds may be all that the budget needs.
    if (known.length < counts.length || replicas === 0 || !isAll(least, replicas)) return;
    const noun = known.some(({ isScaled }) => isScaled) ? 'minReplicas' : 'replicas';
    const names = known.map(({ name }) => name).join(', ');
    const what = `minAvailable ${textAt(least)} with ${replicas} ${noun} of ${names} allows no eviction`;
    yield { at: least, what, severity: isAll(least, scaled) ? 'error' : 'warning' };
  },
  say: ({ what }) => what,
});

/** How many pods a workload has; undefined: that is not written in it. */
function countsOf(workload: Workload, objects: Objects) {
  if (!['Deployment', 'StatefulSet', 'ReplicaSet'].includes(workload.kind)) return undefined;
  const scaler = scalerOf(workload, objects);
  // KEDA sets the number, from 0 on, so none is certain.
  if (scaler?.kind === 'ScaledObject') return undefined;
  const replicas = (scaler === undefined ? workload.replicas : wholeAt(scaler.object, 'spec', 'minReplicas')) ?? 1;
  const most = (scaler && wholeAt(scaler.object, 'spec', 'maxReplicas')) ?? replicas;
  return { name: workload.name, replicas, most, isScaled: scaler !== undefined };
}

/** Whether that many pods are all needed. Kubernetes rounds percentages up. */
function isAll(least: Located, pods: number): boolean {
  const [, percent] = /^(\d+)%/.exec(textAt(least) ?? '') ?? [];
  return (percent === undefined ? (wholeAt(least) ?? 0) : Math.ceil((Number(percent) * pods) / 100)) >= pods;
}
