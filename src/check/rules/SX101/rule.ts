import { intervalText } from '../../stop/interval.ts';
import { raiseGrace } from '../common.ts';
import { ofContainer } from '../rule.ts';

export const rule = ofContainer({
  severity: 'error',
  title: 'The preStop hook takes the whole grace period',
  why: 'The hook and the stop of the program share the grace period. When the hook has used it up, the kubelet sends TERM and KILL 2 s later.',
  remedy:
    'Raise terminationGracePeriodSeconds above the hook and what the program needs after it, or shorten the hook.',
  *find({ container: { preStop }, hook, graceMs }) {
    if (hook === undefined || preStop === undefined || graceMs === 0 || hook.minMs < graceMs) return;
    yield { at: preStop.node, atMs: graceMs, hook };
  },
  say: ({ hook }, { pod: { graceSeconds } }) =>
    `a preStop of ${intervalText(hook)} in a grace period of ${graceSeconds} s: its program gets TERM after ${graceSeconds} s and KILL 2 s later`,
  fix: ({ hook }, { pod }) => raiseGrace(pod, Math.ceil(hook.minMs / 1_000) + 30),
});
