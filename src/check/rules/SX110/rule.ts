import { secondsText } from '../../stop/interval.ts';
import { hookAndDrain } from '../common.ts';
import { ofWorkload } from '../rule.ts';
import { ordinaryOf } from '../sidecars.ts';
import { delayOf } from './delay.ts';

export const rule = ofWorkload({
  severity: 'warning',
  title: 'The balancer takes longer to leave the pod out than the pod serves on',
  why: 'A balancer that sends to pods by itself goes on for its deregistration delay. A pod that ends before cuts those requests.',
  remedy: 'Raise the preStop sleep or the drain above the delay, and the grace period with it; or shorten the delay.',
  *find({ workload, pod, view, objects }) {
    const delay = delayOf(workload, objects);
    // A hook of unknown length may take all the time that there is.
    const longestMs = Math.max(0, ...ordinaryOf(view).map((one) => hookAndDrain(one).maxMs));
    if (delay === undefined || longestMs >= delay.ms) return;
    const atMs = Math.min(longestMs, pod.graceSeconds * 1_000);
    yield { ...delay, atMs, longestMs };
  },
  say: ({ ms, longestMs }, { workload }) =>
    `the balancer may send requests for ${secondsText(ms)}, and hook and drain of ${workload.name} end after ${secondsText(longestMs)}`,
});
