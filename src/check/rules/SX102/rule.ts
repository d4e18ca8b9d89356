import { at } from '../../input/located.ts';
import { secondsText, ZERO } from '../../stop/interval.ts';
import { drainOf } from '../../stop/plan.ts';
import { ofContainer } from '../rule.ts';

export const rule = ofContainer({
  severity: 'error',
  title: 'The configured drain and hooks of sexton take longer than the grace period',
  why: 'Drain, pre-stop, ladder and linger run one after the other from TERM on, and the kubelet kills the container at the end of the grace period.',
  remedy: 'Shorten the drain or the rungs, or raise terminationGracePeriodSeconds and --grace-period together.',
  *find({ container: { node }, hook = ZERO, member, graceMs }) {
    if (member === undefined) return;
    const drain = drainOf(member);
    const rungsMs = (member.ladder ?? []).reduce((sum, { forMs = 0 }) => sum + forMs, 0);
    const leastMs = hook.minMs + drain.minMs;
    const mostMs = hook.minMs + drain.maxMs + rungsMs + member.lingerMs;
    const common = { at: at(node, 'command'), atMs: graceMs };
    if (leastMs > 0 && leastMs >= graceMs) yield { ...common, takes: `at least ${secondsText(leastMs)}` };
    else if (mostMs > graceMs && mostMs !== Number.POSITIVE_INFINITY)
      yield { ...common, severity: 'warning', takes: `up to ${secondsText(mostMs)}` };
  },
  say: ({ takes }, { pod }) => `sexton's plan takes ${takes} of a grace period of ${pod.graceSeconds} s`,
});
