import { shellOf } from '../../stop/images.ts';
import { wordAt } from '../../stop/plan.ts';
import { shellCommandOf } from '../../stop/shell.ts';
import { execBefore, isJob, shellSeverity, shellText } from '../common.ts';
import { ofContainer } from '../rule.ts';

export const rule = ofContainer({
  severity: 'warning',
  title: 'PID 1 is a shell that does not pass the stop signal on',
  why: 'As PID 1 a shell without a trap ignores TERM, so the command behind it runs on until KILL. dash never becomes its last command; busybox does, bash in most forms.',
  remedy: 'Write exec before the last command of the script, or start the program without a shell.',
  *find({ workload, container, argv, shell, stop, images }) {
    const script = argv && shellCommandOf(argv);
    if (shell?.mayStay !== true || script === undefined) return;
    const severity = isJob(workload) ? 'info' : shellSeverity(script, shell, shellOf(container.image, images));
    yield { at: wordAt(container, script.index), severity, atMs: stop.killAt.minMs, script, shell };
  },
  say: ({ script, shell, atMs }) => shellText(script, shell.stays, atMs),
  fix: ({ at, script }, { pod }) => execBefore(pod.source, at, script.script),
});
