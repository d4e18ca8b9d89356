import { shellOf } from '../../stop/images.ts';
import { wordFromEnd } from '../../stop/plan.ts';
import { EXEC_REMEDY, execBefore, isJob, shellSeverity, shellText } from '../common.ts';
import { ofContainer } from '../rule.ts';

export const rule = ofContainer({
  severity: 'warning',
  title: 'PID 1 is a shell that does not pass the stop signal on',
  why: 'As PID 1 a shell without a trap ignores TERM, so the command behind it runs on until KILL. dash never becomes its last command; busybox does, bash in most forms.',
  remedy: EXEC_REMEDY,
  *find({ workload, container, shell, sexton, stop, images }) {
    if (shell?.mayStay !== true || sexton !== undefined) return;
    const { command } = shell;
    const severity = isJob(workload) ? 'info' : shellSeverity(command, shell, shellOf(container.image, images));
    yield { at: wordFromEnd(container, command.fromEnd), severity, atMs: stop.killAt.minMs, shell };
  },
  say: ({ shell, atMs }) => shellText(shell.command, shell.stays, atMs),
  fix: ({ at, shell }, { pod }) => execBefore(pod.source, at, shell.command.script),
});
