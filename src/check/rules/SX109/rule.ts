import { isJob } from '../common.ts';
import { ofWorkload } from '../rule.ts';

export const rule = ofWorkload({
  severity: 'warning',
  title: 'No grace period',
  why: 'With 0 the pod is removed at once, and a StatefulSet may have two pods of one name; with 1 nothing ends gracefully.',
  remedy: 'Write at least the time that the program takes to end.',
  *find({ workload, pod: { graceAt, graceSeconds } }) {
    if (graceAt !== undefined && graceSeconds <= 1 && !isJob(workload)) yield { at: graceAt, atMs: 0 };
  },
  say: (_, { pod }) => `a grace period of ${pod.graceSeconds} s: the containers are killed, not stopped`,
});
