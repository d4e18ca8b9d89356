import { at, wholeAt } from '../../input/located.ts';
import { secondsText } from '../../stop/interval.ts';
import { hookAndDrain } from '../common.ts';
import { ofContainer } from '../rule.ts';

const GRACE = 'terminationGracePeriodSeconds';

export const rule = ofContainer({
  severity: 'warning',
  title: "A probe's own grace period is shorter than hook and drain",
  why: 'When this probe fails, the container is stopped with the terminationGracePeriodSeconds of the probe in place of that of the pod.',
  remedy: "Raise the probe's terminationGracePeriodSeconds above hook and drain, or leave it out.",
  *find(one) {
    const { node } = one.container;
    const { minMs } = hookAndDrain(one);
    for (const probe of ['livenessProbe', 'startupProbe']) {
      const [seconds, value] = [wholeAt(node, probe, GRACE), at(node, probe, GRACE)];
      if (seconds === undefined || value === undefined || minMs === 0 || minMs < seconds * 1_000) continue;
      yield { at: value, atMs: seconds * 1_000, probe, seconds, minMs };
    }
  },
  say: ({ probe, seconds, minMs }) =>
    `after a failed ${probe} there are ${seconds} s, and hook and drain take ${secondsText(minMs)}`,
});
