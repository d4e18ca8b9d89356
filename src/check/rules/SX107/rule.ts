import { secondsText } from '../../stop/interval.ts';
import { ofContainer } from '../rule.ts';

export const rule = ofContainer({
  severity: 'warning',
  title: 'Native sidecars stop one after the other, and the last ones do not fit',
  why: 'A native sidecar gets TERM when all containers and the sidecars that were started after it have ended. What is left of the grace period is all that it gets, or 2 s.',
  remedy: 'Raise terminationGracePeriodSeconds above the longest main and the sum of the sidecars.',
  *find({ plan, stop: { term, killAt } }) {
    const needMs = term.maxMs + plan.response.maxMs;
    const isLate = term.maxMs > 0 && needMs > killAt.maxMs;
    if (plan.isNative && Number.isFinite(needMs) && isLate) yield { atMs: killAt.minMs };
  },
  say: (_, { plan, stop: { term, killAt } }) =>
    `gets TERM after up to ${secondsText(term.maxMs)} and needs ${secondsText(plan.response.maxMs)}; KILL comes at ${secondsText(killAt.maxMs)}`,
});
