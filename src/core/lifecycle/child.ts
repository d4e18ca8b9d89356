/** The child: what the host reports about its start and its end. */
import { type ChildExit, isInterrupt, OVERTAKEN, statusOf, statusOfErrno } from '../exit.ts';
import { SIGKILL, signalName } from '../signals.ts';
import { type Draft, note, say, update } from '../state/draft.ts';
import type { Event } from '../state/events.ts';
import type { Child } from '../state/state.ts';
import { rfc3339 } from '../time.ts';
import { endAsWritten, endLife, finishMember } from './stop/end.ts';

/** Ends the member. A command that ran before and lacks only resources now counts as one that died. */
export function onSpawnFailed(
  draft: Draft,
  { id, errno, why = errno }: Event & { type: 'spawnFailed' },
  child: (Child & { is: 'spawning' }) | (Child & { is: 'unstarted' }),
): void {
  if (errno === OVERTAKEN) return undoSpawn(draft, child);
  note(draft, 'start failed', { Error: errno, Why: why });
  say(draft, 'error', `cannot start ${why}`);
  const status = draft.config.startFailureCode ?? statusOfErrno(errno);
  if (id === 1 || !PASSING.has(errno)) return finishMember(draft, { status, reason: 'error', exit: undefined });
  const exit = { code: status, signal: undefined };
  const sinceMs = draft.state.now.mono;
  endLife(draft, { is: 'roots', id, exit, sinceMs, livedMs: 0, oom: false });
}

/** Out of processes, memory or descriptors, or the program is being replaced: clone(2), execve(2). */
const PASSING: ReadonlySet<string> = new Set(['EAGAIN', 'ENOMEM', 'EMFILE', 'ENFILE', 'ETXTBSY']);

/** A stop request prevented the start, and is known here by now. */
function undoSpawn(draft: Draft, child: Child & { is: 'spawning' | 'unstarted' }): void {
  if (child.is === 'unstarted') return;
  const { now, births } = draft.state;
  const before: Child =
    child.after === undefined ? { is: 'unstarted' } : { is: 'backoff', untilMs: now.mono, exit: child.after };
  update(draft, { child: before, births: births - 1 });
}

export function onSpawned(draft: Draft, { id, pid, at }: Event & { type: 'spawned' }): void {
  const { chronicle } = draft.state;
  const time = rfc3339(at.wall);
  const { probes, postStart, notifies } = draft.config;
  const started = probes.startup === undefined && postStart === undefined && !notifies ? time : undefined;
  const healthy = probes.readiness === undefined ? started : undefined;
  update(draft, {
    births: id,
    child: { is: 'alive', id, pid, sinceMs: at.mono },
    notified: undefined,
    chronicle: { ...chronicle, firstBorn: chronicle.firstBorn ?? time, born: time, started, healthy },
  });
  note(draft, 'started', { Pid: pid, Incarnation: id });
  say(draft, 'info', 'started', { pid });
}

export function onExited(draft: Draft, event: Event & { type: 'exited' }, child: Child & { is: 'alive' }): void {
  const { climb } = draft.state;
  if (child.id !== event.id) return;
  const { code, signal } = event;
  const exit = { code, signal };
  const oom = signal === SIGKILL && event.oom && climb?.killed !== true;
  const by =
    signal !== SIGKILL ? {} : { By: climb?.killed === true ? 'sexton' : oom ? 'OOM killer' : 'an unknown sender' };
  note(
    draft,
    'exited',
    signal === undefined ? { ExitCode: code ?? 0 } : { Signal: signalName(signal), Core: event.core, ...by },
  );
  const how = signal === undefined ? { exitCode: code } : { signal: signalName(signal), core: event.core, ...by };
  say(draft, exitLevel(draft, exit), 'exited', how);
  const livedMs = event.at.mono - child.sinceMs;
  // Counts from now: the end of the roots is reported right behind this one, even when both are heard late.
  const sinceMs = draft.state.now.mono;
  update(draft, {
    child: { is: 'roots', id: event.id, exit, sinceMs, livedMs, oom },
    chronicle: { ...draft.state.chronicle, healthy: undefined, exit },
  });
}

/** A failure without a stop is an error, our own KILL a warning: a log of errors then has every crash. */
function exitLevel({ config, state: { climb } }: Draft, exit: ChildExit): 'info' | 'warn' | 'error' {
  // Under the name tini no signal is a stop request, and a requested end looks like any other.
  if (config.stopSignals.length === 0) return 'info';
  if (climb?.killed === true && exit.signal === SIGKILL) return 'warn';
  const isExpected = climb !== undefined && exit.signal !== SIGKILL;
  return isExpected || statusOf(exit) === 0 || isInterrupt(exit) ? 'info' : 'error';
}

export function onRootsGone(draft: Draft, event: Event & { type: 'rootsGone' }, child: Child & { is: 'roots' }): void {
  if (child.id !== event.id) return;
  if (event.isWritten === true) endAsWritten(draft, child);
  else endLife(draft, child);
}
