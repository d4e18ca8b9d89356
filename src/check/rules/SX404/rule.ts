import { isJob } from '../common.ts';
import { ofContainer } from '../rule.ts';
import { isBesideMain, isProxy } from '../sidecars.ts';

export const rule = ofContainer({
  severity: 'warning',
  title: 'A proxy gets TERM together with the main that needs it',
  why: 'Ordinary containers are stopped at the same time. What the main still has to send while it stops finds no proxy.',
  remedy: 'Make the proxy a native sidecar, give it a preStop hook that waits, or run both under sexton.',
  *find(one) {
    const { workload, container, view } = one;
    if (!isJob(workload) && isBesideMain(one, view) && isProxy(container)) yield { atMs: 0 };
  },
  say: () => 'gets TERM at 0 s like the main, whose last requests then fail',
});
