import { ofContainer } from '../rule.ts';
import { mayDrain } from '../sidecars.ts';

export const rule = ofContainer({
  severity: 'warning',
  title: 'RestartAllContainers skips hooks and grace periods',
  why: 'When such a rule matches, the kubelet gives each container TERM and 2 s, one after the other: no preStop hook, no grace period.',
  remedy: 'Use it only where every container may be killed at any time, or use the action Restart.',
  *find({ container, view }) {
    if (!view.containers.some((one) => one.container.preStop !== undefined || mayDrain(one))) return;
    for (const { action, node } of container.rules) if (action === 'RestartAllContainers') yield { at: node };
  },
  say: () => 'this rule leaves each container 2 s, without the hooks and drains of this pod',
});
