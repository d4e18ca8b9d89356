import { flagAt, withFlag } from '../common.ts';
import { ofContainer } from '../rule.ts';

const FLAG = '--restart-policy';

export const rule = ofContainer({
  severity: 'error',
  title: '--restart-policy is not that of the pod or container',
  why: 'The members learn from this policy which of them will not come back. With Never in a pod of Always, sidecars end although their main comes back; the other way round, they keep running for a main that has ended for good.',
  remedy: 'Declare the restartPolicy of the container, else that of the pod; a Deployment has Always.',
  *find({ container, pod, sexton, member }) {
    const policy = container.policy ?? pod.policy;
    if (member === undefined || sexton?.unsure.has('restart-policy')) return;
    if (member.solo && member.quit.length === 0) return;
    if (member.restartPolicy === policy) return;
    yield { at: flagAt(container, FLAG), told: member.restartPolicy, policy };
  },
  say: ({ told, policy }) => `sexton takes the restart policy for ${told}, and it is ${policy}`,
  fix: ({ policy }, { pod, container }) => withFlag(pod, container, FLAG, policy),
});
