import { formatDuration } from '../../../config/notation/duration.ts';
import { ZERO } from '../../stop/interval.ts';
import { graceBehind } from '../../stop/timeline.ts';
import { flagAt, withFlag } from '../common.ts';
import { ofContainer } from '../rule.ts';

const FLAG = '--grace-period';

export const rule = ofContainer({
  severity: 'error',
  title: "--grace-period is not the pod's",
  why: "A container cannot see terminationGracePeriodSeconds, so it is declared twice. Declared too long, the kubelet kills before sexton has stopped its command; too short, sexton kills early. Of the kubelet's grace period its preStop hook is used up when TERM comes.",
  remedy: 'Write the same time in both places, less the preStop hook of the container.',
  *find({ container, hook = ZERO, member, graceMs }) {
    const declaredMs = member?.gracePeriodMs;
    if (declaredMs === undefined || graceMs === 0) return;
    const mostMs = graceBehind(graceMs, hook.minMs);
    const leastMs = graceBehind(graceMs, hook.maxMs);
    if (declaredMs <= mostMs && declaredMs >= leastMs) return;
    const severity = declaredMs > mostMs ? 'error' : 'warning';
    yield { at: flagAt(container, FLAG), severity, atMs: Math.min(declaredMs, graceMs), declaredMs, mostMs };
  },
  say: ({ declaredMs, mostMs }, { pod, graceMs }) => {
    const less = mostMs >= graceMs ? '' : `, of which the preStop hook takes ${formatDuration(graceMs - mostMs)}`;
    return `sexton has a grace period of ${formatDuration(declaredMs)}, the pod has ${pod.graceSeconds} s${less}`;
  },
  fix: ({ mostMs }, { pod, container }) => withFlag(pod, container, FLAG, formatDuration(mostMs)),
});
