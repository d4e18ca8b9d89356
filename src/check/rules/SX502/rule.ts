import { at, textAt } from '../../input/located.ts';
import { budgetsOf, namedAt } from '../../input/objects.ts';
import { ofWorkload } from '../rule.ts';

export const rule = ofWorkload({
  severity: 'info',
  title: 'A disruption budget beside a rollout that takes all pods down',
  why: 'A budget guards against evictions only. With the strategy Recreate a rollout ends all pods before it starts new ones.',
  remedy: 'Use RollingUpdate with maxUnavailable: 0, unless two versions must never run together.',
  *find({ workload, objects }) {
    const node = at(workload.object, 'spec', 'strategy', 'type');
    const [guard] = budgetsOf(workload, objects);
    if (node !== undefined && textAt(node) === 'Recreate' && guard !== undefined) yield { at: node, guard };
  },
  say: ({ guard }) => `${namedAt(guard)} does not hold back a rollout, and Recreate ends all pods at once`,
});
