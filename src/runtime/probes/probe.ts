/**
 * Probes and hooks that go over the network: one is started, and its end is reported once. Each has a connection of its
 * own and closes it, as a kept connection would tell of an older moment.
 *
 * Loaded when the first one is run. None of it asks for process.stdout or process.stderr. Node's own sockets do as they
 * close: only `keepToOurselves` of `run` protects the pipes that the application shares.
 */
import type {
  FileAction,
  GaugeAction,
  GrpcAction,
  HttpAction,
  QuitAction,
  ReadyAction,
  TcpAction,
} from '../../core/config.ts';
import { timedOutAfter } from '../../core/time.ts';
import { attemptFile } from './file.ts';
import { attemptGauge } from './gauge.ts';
import { attemptGrpc } from './grpc.ts';
import { attemptHttp } from './http.ts';
import { attemptReady, QuitAttempt } from './sidecar.ts';
import { type Attempt, attemptTcp, type Tell, type Verdict } from './tcp.ts';

export type NetworkAction = HttpAction | TcpAction | GrpcAction | QuitAction | ReadyAction | GaugeAction | FileAction;

export interface ActionEnd extends Verdict {
  /** Always empty here: what a server answers may be a secret and does not belong in a log. */
  readonly output: string;
}

export interface RunningAction {
  /** Closes the connection now; `onEnd` is not called any more. Needless after the end. */
  end(): void;
  /** Its time is over: `onEnd` follows in a few turns of the loop, with what has arrived by then. */
  expire(): void;
}

export interface ActionOptions {
  /** undefined: it takes as long as it takes. */
  readonly timeoutMs: number | undefined;
  /** Called once, never before `startAction` has returned; by then no socket and no timer is left. */
  readonly onEnd: (end: ActionEnd) => void;
}

/** Never throws; what goes wrong is a failure of the action. */
export function startAction(action: NetworkAction, { timeoutMs, onEnd }: ActionOptions): RunningAction {
  let attempt: Attempt | undefined;
  let isOver = false;
  let timer: NodeJS.Timeout | undefined;
  let turn: NodeJS.Immediate | undefined;
  const end = (): void => {
    isOver = true;
    clearTimeout(timer);
    clearImmediate(turn);
    attempt?.close();
  };
  const tell: Tell = (ok, detail, sum) => {
    if (isOver) return;
    end();
    onEnd({ ok, detail, output: '', ...(sum !== undefined && { sum }) });
  };
  const giveUp = (turnsLeft: number): void => {
    const { ok, detail } = attempt?.sofar ?? { ok: false, detail: timedOutAfter(timeoutMs ?? 0) };
    if (turnsLeft === 0) tell(ok, detail);
    else turn = setImmediate(giveUp, turnsLeft - 1);
  };
  const expire = (): void => {
    clearTimeout(timer);
    if (!isOver && turn === undefined) giveUp(LAST_TURNS);
  };
  if (timeoutMs !== undefined) timer = setTimeout(expire, timeoutMs);
  try {
    attempt = begin(action, tell);
  } catch (error) {
    const { message } = error as Error;
    queueMicrotask(() => tell(false, `internal error: ${message}`));
  }
  return { end, expire };
}

/**
 * After a pause of this process the loop comes to its timers before its sockets, when an answer may be there but not
 * read yet. So the sockets get their turn first. They get several turns, as an answer may take more than one:
 * connected, then answered. Turns, not time: what has not arrived by now is too late.
 */
const LAST_TURNS = 5;

function begin(action: NetworkAction, tell: Tell): Attempt {
  switch (action.kind) {
    case 'http':
      return attemptHttp(action, tell);
    case 'tcp':
      return attemptTcp(action, tell);
    case 'grpc':
      return attemptGrpc(action, tell);
    case 'quit':
      return new QuitAttempt(action, tell);
    case 'ready':
      return attemptReady(action, tell);
    case 'gauge':
      return attemptGauge(action, tell);
    case 'file':
      return attemptFile(action, tell);
    default:
      return action satisfies never;
  }
}
