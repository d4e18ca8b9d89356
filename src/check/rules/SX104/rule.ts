import { secondsText } from '../../stop/interval.ts';
import { hookAndDrain, hookOrCommand, raiseGrace } from '../common.ts';
import { ofContainer } from '../rule.ts';

export const rule = ofContainer({
  severity: 'warning',
  title: 'A long hook or drain, and the grace period left at its default',
  why: 'Without terminationGracePeriodSeconds a pod has 30 s, and the hook or drain takes more than half of it from the program.',
  remedy: 'Write terminationGracePeriodSeconds: the hook or drain, and what the program needs after it.',
  *find(one) {
    const { minMs } = hookAndDrain(one);
    if (one.pod.graceAt !== undefined || minMs <= 15_000 || minMs >= 30_000) return;
    yield { at: hookOrCommand(one.container), atMs: minMs };
  },
  say: ({ atMs }) => `hook and drain take ${secondsText(atMs)} of the default grace period of 30 s`,
  fix: ({ atMs }, { pod }) => raiseGrace(pod, Math.ceil(atMs / 1_000) + 30),
});
