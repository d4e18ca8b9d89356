import { isJob } from '../common.ts';
import { ofContainer } from '../rule.ts';
import { isAgent, isBesideMain } from '../sidecars.ts';

export const rule = ofContainer({
  severity: 'info',
  title: 'A log or metrics agent as an ordinary container',
  why: 'It gets TERM together with the main, and may be gone before the last lines are written.',
  remedy: 'Make it a native sidecar (Kubernetes 1.29), or run it under sexton as a sidecar.',
  *find(one) {
    const { workload, container, view, minor } = one;
    if (isJob(workload) || (minor !== undefined && minor < 29)) return;
    if (isBesideMain(one, view) && isAgent(container)) yield { atMs: 0 };
  },
  say: () => 'gets TERM together with the main; the last lines may be lost',
});
