import { at } from '../../input/located.ts';
import { secondsText } from '../../stop/interval.ts';
import { hookAndDrain, raiseGrace } from '../common.ts';
import { ofContainer } from '../rule.ts';

export const rule = ofContainer({
  severity: 'warning',
  title: "The program's own shutdown timeout does not fit behind the preStop hook",
  why: 'The program begins its graceful shutdown after the hook, with what is left of the grace period.',
  remedy: "Raise terminationGracePeriodSeconds above the sum of the hook and the program's timeout.",
  *find(one) {
    const { container, setting, pod, graceMs } = one;
    const { minMs } = hookAndDrain(one);
    if (setting === undefined || minMs + setting.ms <= graceMs) return;
    yield { at: pod.graceAt ?? at(container.node, 'name'), atMs: graceMs, setting, minMs };
  },
  say: ({ setting, minMs }, { pod }) => {
    const before = minMs === 0 ? '' : ` after ${secondsText(minMs)} of hook and drain`;
    return `${setting.by}: may take ${secondsText(setting.ms)}${before}, the grace period is ${pod.graceSeconds} s`;
  },
  fix: ({ setting, minMs }, { pod }) => raiseGrace(pod, Math.ceil((minMs + setting.ms) / 1_000) + 5),
});
