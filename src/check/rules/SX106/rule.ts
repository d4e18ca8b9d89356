import { secondsText } from '../../stop/interval.ts';
import { hookOrCommand } from '../common.ts';
import { ofContainer } from '../rule.ts';

export const rule = ofContainer({
  severity: 'warning',
  title: 'A scenario leaves less time than hook and drain take',
  why: 'TERM does not tell how much time it leaves. Where the platform leaves less, the program is killed before it hears of the stop.',
  remedy: 'Shorten the hook or the drain, or declare --grace-floor, with which sexton ends its drain in time.',
  flags: ['--scenario', 'spot=15'],
  *find({ container, plan, stop: { told }, scenarios }) {
    const hasEnd = Number.isFinite(plan.hook?.maxMs ?? 0) && Number.isFinite(plan.drain.maxMs);
    for (const { name, capMs } of scenarios)
      if (capMs !== undefined && told.maxMs >= capMs && hasEnd)
        yield { at: hookOrCommand(container), atMs: capMs, name };
  },
  say: ({ name, atMs }, { stop }) =>
    `with ${name} there are ${secondsText(atMs)}, its program may hear of the stop only after ${secondsText(stop.told.maxMs)}`,
});
