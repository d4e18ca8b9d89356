import { ofContainer } from '../rule.ts';
import { mayDrain } from '../sidecars.ts';

export const rule = ofContainer({
  severity: 'warning',
  title: 'RestartAllContainers skips hooks and grace periods',
  why: 'When such a rule matches, the kubelet kills all containers of the pod at once: no preStop hook, no TERM, no drain.',
  remedy: 'Use it only where every container may be killed at any time, or use the action Restart.',
  *find({ container, view }) {
    if (!view.containers.some((one) => one.container.preStop !== undefined || mayDrain(one))) return;
    for (const { action, node } of container.rules) if (action === 'RestartAllContainers') yield { at: node };
  },
  say: () => 'this rule kills all containers at once, without the hooks and drains of this pod',
});
