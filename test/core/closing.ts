/** How init closes the open texts: `src/init/orders/closing.c` in TypeScript. */
import type { EndRow } from '../../src/core/end-rows.ts';
import { type ChildExit, statusOf } from '../../src/core/exit.ts';
import { seconds } from '../../src/core/format/evidence.ts';
import { padded } from '../../src/core/format/tombstone.ts';
import { signalName } from '../../src/core/signals.ts';
import { type Instant, rfc3339 } from '../../src/core/time.ts';

export interface Closing {
  readonly end: Pick<EndRow, 'prelude' | 'final' | 'code' | 'reason' | 'stopReason'>;
  readonly exit: ChildExit;
  /** One for each event of the prelude, and the end. */
  readonly moments: readonly Instant[];
  /** The declared grace period, of which init knows by the row `grace`. */
  readonly graceMs: number | undefined;
}

export function closedTombstone(open: string, closing: Closing): string {
  const { end } = closing;
  const { died, deadlineMs } = timesOf(closing);
  const keys = {
    Phase: 'dead',
    ...sharedKeys(closing),
    Deadline: deadlineMs,
    DiedMonotonic: died.mono,
    Final: end.final,
  };
  const lines = Object.entries(keys).flatMap(([key, value]) =>
    value === undefined ? [] : [`,\n  "${key}": ${JSON.stringify(value)}`],
  );
  return padded(`${open}${lines.join('')}\n}`);
}

/** Empty for a command that has failed by itself. */
export function closedMessage(open: string, closing: Closing): string {
  const { prelude, reason } = closing.end;
  return prelude === '' && reason === 'error' ? '' : closedEvidence(open, closing);
}

/** With its line end. */
export function closedEvidence(open: string, closing: Closing): string {
  const { end, exit } = closing;
  const { asked, died, deadlineMs } = timesOf(closing);
  const status = statusOf(exit);
  const code = end.code === 'same' ? status : end.code;
  const own = exit.signal === undefined ? `exit code ${status}` : `ended by ${signalName(exit.signal)}`;
  const whole = code === status ? own : `${own}, container's exit code ${code}`;
  const StopMs = asked === undefined ? undefined : died.mono - asked.mono;
  const GraceLeftMs = deadlineMs === undefined ? undefined : deadlineMs - died.mono;
  const left =
    GraceLeftMs === undefined
      ? ''
      : `, ${seconds(Math.abs(GraceLeftMs))} ${GraceLeftMs < 0 ? 'over its grace' : 'of grace left'}`;
  const Summary =
    StopMs === undefined
      ? `ended by itself, ${whole}`
      : `stopped in ${seconds(StopMs)} (${end.stopReason}): ${whole}, not forced${left}`;
  const keys = { Summary, ...sharedKeys(closing), ContainerExitCode: code, StopMs, GraceLeftMs };
  return `${JSON.stringify(keys).slice(0, -1)},${open}}\n`;
}

function timesOf({ end, moments, graceMs }: Closing) {
  const died = moments.at(-1);
  if (died === undefined) throw new Error('an end has a moment');
  const asked = moments.length > 1 ? moments[0] : undefined;
  const isAsked = asked !== undefined && end.prelude !== 't' && graceMs !== undefined;
  return { died, asked, deadlineMs: isAsked ? Math.ceil(asked.mono + graceMs) : undefined };
}

/** The keys of both texts. */
function sharedKeys(closing: Closing) {
  const { end, exit } = closing;
  const { asked, died } = timesOf(closing);
  return {
    Reason: end.reason,
    ExitCode: statusOf(exit),
    Signal: exit.signal === undefined ? undefined : signalName(exit.signal),
    StopReason: asked === undefined ? undefined : end.stopReason,
    StopRequested: asked === undefined ? undefined : rfc3339(asked.wall),
    Died: rfc3339(died.wall),
  };
}
