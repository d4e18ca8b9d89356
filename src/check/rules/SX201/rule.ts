import { ladderOf } from '../../../core/ladder.ts';
import { predictLateMs } from '../../../core/lifecycle/stop/untold.ts';
import { SIGTERM, signalName, signalNumber } from '../../../core/signals.ts';
import { shellOf } from '../../stop/images.ts';
import { secondsText } from '../../stop/interval.ts';
import { type ContainerView, wordFromEnd } from '../../stop/plan.ts';
import { defersTrap } from '../../stop/shell.ts';
import { EXEC_REMEDY, execBefore, isJob, shellSeverity, shellText } from '../common.ts';
import { ofContainer } from '../rule.ts';

export const rule = ofContainer({
  severity: 'warning',
  title: 'A shell in front of the program does not pass the stop signal on',
  why: 'As PID 1 a shell without a trap ignores TERM, so the command behind it runs on until KILL. dash never becomes its last command; busybox does, bash in most forms. A trap runs only when the command in the foreground has ended, and sexton signals that command late.',
  remedy: `${EXEC_REMEDY} A trap needs its command in the background: server & wait $!.`,
  *find(about) {
    const { workload, container, shell, sexton, stop, images } = about;
    if (shell === undefined) return;
    const { command } = shell;
    const at = wordFromEnd(container, command.fromEnd);
    const deferred = deferredTrap(about);
    if (deferred !== undefined) {
      const severity = isJob(workload) || sexton !== undefined ? 'info' : 'warning';
      yield { at, severity, ...deferred, script: undefined };
    } else if (shell.mayStay && sexton === undefined) {
      const severity = isJob(workload) ? 'info' : shellSeverity(command, shell, shellOf(container.image, images));
      const atMs = stop.killAt.minMs;
      yield { at, severity, atMs, what: shellText(command, shell.stays, atMs), script: command.script };
    }
  },
  say: ({ what }) => what,
  fix: ({ at, script }, { pod }) => (script === undefined ? [] : execBefore(pod.source, at, script)),
});

/** When the program gets the signal for which its shell has a trap; undefined: there is none, or it gets it at once. */
function deferredTrap({ shell, sexton, member, stopSignal, stop }: ContainerView) {
  const signal = signalNumber(stopSignal ?? 'TERM') ?? SIGTERM;
  const isAtOnce = sexton?.run?.host.signalTo === 'group';
  const name = signalName(member === undefined ? signal : ladderOf(member, signal)[0].signal);
  if (shell === undefined || isAtOnce || !defersTrap(shell.command.script, name)) return undefined;
  const what = `${shell.command.shell} runs its trap when its command has ended, and that`;
  const killMs = stop.killAt.minMs;
  if (member === undefined)
    return { atMs: killMs, what: `${what} does not get ${name}: KILL after ${secondsText(killMs)}` };
  const lateMs = predictLateMs(member, signal, stop.told.minMs - stop.term.minMs);
  if (lateMs === undefined) return { atMs: killMs, what: `${what} does not get ${name} without --grace-period` };
  const atMs = stop.term.minMs + lateMs;
  return { atMs, what: `${what} gets ${name} only after ${secondsText(atMs)}` };
}
