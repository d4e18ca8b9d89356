import { isJob } from '../common.ts';
import { ofWorkload } from '../rule.ts';
import { isSidecar, ordinaryOf } from '../sidecars.ts';

export const rule = ofWorkload({
  severity: 'error',
  title: 'A Job with a sidecar that never ends',
  why: 'A Job is complete when all of its containers have ended. A proxy as an ordinary container runs on when the work is done.',
  remedy:
    'Make it a native sidecar (an init container with restartPolicy: Always), run both under sexton, or ask it to leave with sexton --quit.',
  *find({ workload, pod, view }) {
    const ordinary = ordinaryOf(view);
    // Its main may ask it to leave: by its command line, or by what its image does.
    const mayAsk = /quit|shutdown|kill/;
    const asks = ordinary.some(({ argv = [], sexton }) => sexton !== undefined || mayAsk.test(argv.join(' ')));
    if (!isJob(workload) || ordinary.length < 2 || asks || pod.sharesProcesses) return;
    for (const { container } of ordinary.filter(isSidecar)) yield { container };
  },
  say: () => 'does not end when the work is done, so the Job never completes',
});
