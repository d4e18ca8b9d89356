import { hookLine } from '../hooks.ts';
import { ofContainer } from '../rule.ts';

/** Behind -s and -n stands a signal, which may be 1. */
const KILL = /(?:^|[;&|\s])kill\s+(?:-[sn]\s+[^\s;&|]+\s+|-(?![sn]\s)[^\s;&|]+\s+)*([^\s;&|]*)/g;

export const rule = ofContainer({
  severity: 'warning',
  title: 'kill 1 in a pod that shares its process namespace',
  why: 'With shareProcessNamespace PID 1 is the pause container: signals to it do not reach the program.',
  remedy: 'Signal the program by its name (pkill), or do not share the process namespace.',
  *find({ container, pod }) {
    const targets = [...(hookLine(container) ?? '').matchAll(KILL)].map(([, target]) => target);
    if (!pod.sharesProcesses || !targets.includes('1')) return;
    yield { at: container.preStop?.node, atMs: 0 };
  },
  say: () => 'PID 1 is the pause container here, so kill 1 does not reach the program',
});
