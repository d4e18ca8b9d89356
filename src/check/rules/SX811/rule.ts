import { secondsText } from '../../stop/interval.ts';
import { drainOf } from '../../stop/plan.ts';
import { flagAt } from '../common.ts';
import { flagForMetrics, idleServerAsked, idleServerOf } from '../idle.ts';
import { ofContainer } from '../rule.ts';

export const rule = ofContainer({
  severity: 'warning',
  title: '--idle-when asks for metrics that this server does not have',
  why: 'A metric that is missing counts as busy, so the drain takes its longest time. Each server has metrics of its own, and some serve none without a flag.',
  remedy: 'Name the preset of this server, or give the server the flag.',
  *find(one) {
    const { container, member } = one;
    const asked = idleServerAsked(one);
    const server = idleServerOf(one);
    if (member === undefined || asked === undefined || server === undefined) return;
    const common = { at: flagAt(container, '--idle-when'), atMs: drainOf(member).maxMs };
    const flag = flagForMetrics(server, one);
    if (asked.name !== server.name)
      yield { ...common, what: `those of ${asked.name}, and the server is ${server.name}` };
    else if (flag !== undefined)
      yield { ...common, what: `those of ${server.name}, which serves them with ${flag} only` };
  },
  say: ({ what, atMs }) => `--idle-when asks for metrics, ${what}: the drain takes ${secondsText(atMs)} each time`,
});
