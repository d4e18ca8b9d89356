/** Signals: dropped, forwarded, or a stop request. A second request ends what the stop waits for, or climbs a rung. */
import { stopReasonOf } from '../ends.ts';
import { EXIT } from '../exit.ts';
import { isStopRequest, translate } from '../ladder.ts';
import { earlier, platformDeadline, requestDeadline } from '../pod/deadline.ts';
import { isRestarting } from '../pod/restart.ts';
import { SIGINT, SIGTERM, signalName } from '../signals.ts';
import { type Draft, note, say, update } from '../state/draft.ts';
import type { Event } from '../state/events.ts';
import { isHurried, REQUEST, type Stop } from '../state/state.ts';
import { beginClimb, climbOn, killNow, sayReceiver, sendSignal } from './stop/climb.ts';
import { finishMember } from './stop/end.ts';
import { leaveNow } from './stop/quitting.ts';
import { recordStop } from './stop/record-stop.ts';

export function onSignal(draft: Draft, event: Event & { type: 'signal' }): void {
  const { config } = draft;
  const name = signalName(event.signal);
  note(draft, 'signal received', { Signal: name, Sender: event.senderPid });
  if (draft.state.child.is === 'gone') {
    if (isStopRequest(config, event.signal) && !isSameRequest(draft, event)) leaveNow(draft);
    return;
  }
  if (isStopRequest(config, event.signal)) return requestStop(draft, event);
  const translated = translate(config, event.signal);
  if (translated === 'drop') return say(draft, 'debug', `dropped ${name}`);
  if (isMeantForUnstarted(draft, translated))
    return finishMember(draft, { status: EXIT.signalBase + translated, reason: 'never-started', exit: undefined });
  sendSignal(draft, translated);
}

/** Where no signal is a stop request, TERM is still meant for a command that has not started: it is not started. */
function isMeantForUnstarted({ config, state }: Draft, signal: number): boolean {
  return state.child.is === 'unstarted' && config.stopSignals.length === 0 && signal === SIGTERM;
}

/** Records what the host has forwarded. If that is the first stop request of a main, it begins the stop. */
export function onPassedOn(draft: Draft, event: Event & { type: 'ordered' }): void {
  const { signal, as, senderPid, receiverPid } = event;
  const [Signal, As] = [signalName(signal), signalName(as)];
  if (!isStopRequest(draft.config, signal)) return note(draft, 'signal forwarded', { Signal, As, Sender: senderPid });
  note(draft, 'signal received', { Signal, Sender: senderPid });
  note(draft, 'signal sent', { Signal: As });
  const { child, climb } = draft.state;
  if (child.is === 'gone') return;
  if (climb !== undefined) update(draft, { climb: { ...climb, passedOn: as } });
  requestStop(draft, { ...event, fromTerminal: false });
  // The host has sent the first rung.
  if (draft.state.stop !== undefined && (child.is === 'alive' || child.is === 'roots'))
    beginClimb(draft, { why: 'stop', killAtMs: undefined }, 'sent');
  sayReceiver(draft, as, receiverPid);
}

/**
 * `sexton stop`, which the platform does not know of: our own KILL ends it, and the platform's first request after it
 * hurries nothing. A repeated `sexton stop` can only bring the deadline forward.
 */
export function onStopAsked(draft: Draft, event: Event & { type: 'stopAsked' }): void {
  const { at, graceMs, among } = event;
  const { config, state } = draft;
  // A stop beats a restart.
  const isFirst = state.stop === undefined || isRestarting(state);
  // A stop that sexton decided on has no deadline yet, however long it lingers.
  if (isFirst || graceMs !== undefined || state.stop?.origin === 'self')
    update(draft, { deadline: earlier(state.deadline, requestDeadline(config, at.mono, event)) });
  if (!isFirst) {
    if (draft.state.deadline !== state.deadline)
      say(draft, 'info', 'sexton stop changed the grace period', { graceMs });
    return;
  }
  const details = { origin: 'platform', reason: REQUEST, signal: SIGTERM, requests: 0, among } as const;
  recordStop(draft, details, at);
  say(draft, 'info', 'asked to stop by sexton stop', graceMs === undefined ? {} : { graceMs });
}

type Request = Omit<Event & { type: 'signal' }, 'type'>;

function requestStop(draft: Draft, event: Request): void {
  const { deadline, stop } = draft.state;
  if (isSameRequest(draft, event)) return;
  // The platform's first request moves the deadline, also in a stop of our own.
  if (stop === undefined || stop.requests === 0)
    update(draft, { deadline: earlier(deadline, platformDeadline(draft.config, event.at.mono)) });
  if (stop === undefined || isRestarting(draft.state)) return onFirstRequest(draft, event);
  onFurtherRequest(draft, event, stop);
}

/**
 * Whether this signal repeats the first request. Some platforms send each signal twice: an agent and the runtime below
 * it, or `docker stop` beside systemd. The kubelet repeats one 10 to 18 s later when its runtime restarts; a member
 * with a declared grace period need not hurry for that. A person means every signal: at a terminal, by INT, or from
 * inside the PID namespace, since only outside senders have PID 0: sigaction(2).
 */
function isSameRequest({ config, state }: Draft, { at, signal, senderPid, fromTerminal }: Request): boolean {
  const { asked } = state.stop ?? {};
  if (asked?.signal !== signal || fromTerminal) return false;
  const isRepeated = config.gracePeriodMs !== undefined && senderPid === 0 && signal !== SIGINT;
  return isRepeated || at.mono - asked.atMs < SAME_REQUEST_MS;
}

const SAME_REQUEST_MS = 1_000;

function onFirstRequest(draft: Draft, { at, signal, senderPid }: Request): void {
  const name = signalName(signal);
  const asked = { signal, atMs: at.mono };
  const details = { origin: 'platform', reason: stopReasonOf(signal), signal, requests: 1, asked } as const;
  recordStop(draft, details, at);
  say(draft, 'info', 'asked to stop', { signal: name, sender: senderPid });
}

/** The platform's first request in a stop of our own hurries nothing and sends no signal again; later ones hurry it. */
function onFurtherRequest(draft: Draft, event: Request, stop: Stop): void {
  const { climb } = draft.state;
  const requests = stop.requests + 1;
  // Now the pod stops: all members are waited for.
  const asked = stop.asked ?? { signal: event.signal, atMs: event.at.mono };
  update(draft, { stop: { ...stop, origin: 'platform', requests, among: undefined, asked } });
  say(draft, 'info', requests === 1 ? 'asked to stop while stopping' : 'asked to stop again', {
    signal: signalName(event.signal),
    requests,
  });
  if (requests >= 3 && event.fromTerminal && event.signal === SIGINT)
    return killNow(draft, 'the third interrupt from the terminal');
  if (climb?.why === 'stop' && isHurried({ requests })) climbOn(draft);
}
