/**
 * The frames between sexton-init and the supervisor, as `src/init/protocol.md` describes them: a 32-bit little-endian
 * length, then fields that each end with NUL. This is the supervisor's side: it encodes commits and decodes `hello` and
 * events. Whatever breaks a bound is a `ProtocolError`, in both directions. Init would end the connection over it, so
 * it is refused here, where the stack shows the caller.
 */
import { SIGNAL_EXIT } from '../../core/exit.ts';
import { MAX_NAME, MAX_SOCKET_PATH_BYTES } from '../../core/format/tombstone.ts';
import { MAX_MAINS_HEARD } from '../../core/lifecycle/prepared/reflexes.ts';
import { TOLD_WHY } from '../../core/state/events.ts';
import type { Commit, Hello, HostCommand, HostEvent, HostNews } from './host.ts';

const PROTOCOL_VERSION = 1;
export const MAX_FRAME_BYTES = 1_048_576;
export const MAX_MEMO_BYTES = 65_536;
/** Quiet names and sockets of one `watch`. */
export const MAX_QUIET = 128;
export const MAX_WATCHED = 128;
const MAX_DIRECTORY_BYTES = 4095;
const MAX_TEXTS_BYTES = 32_768;

const LENGTH_BYTES = 4;
const MAX_SIGNAL = 64;
/** Exit codes, and behind them the ends by signals. */
const MAX_END = SIGNAL_EXIT + MAX_SIGNAL;
const MAX_PID = 2 ** 31 - 1;
const MAX_ID = 2 ** 31 - 1;

export class ProtocolError extends Error {
  override readonly name = 'ProtocolError';
}

export function encodeCommit(commit: Commit): Buffer {
  const fields = ['commit'];
  if (commit.ack !== undefined) fields.push('ack', integer('ack', commit.ack, 0, Number.MAX_SAFE_INTEGER));
  if (commit.memo !== undefined) fields.push('memo', text('memo', commit.memo, MAX_MEMO_BYTES));
  for (const command of commit.commands) fields.push(...commandFields(command));
  return encodeFrame(fields);
}

export function encodeFrame(fields: readonly string[]): Buffer {
  const payload = `${fields.join('\0')}\0`;
  const bytes = Buffer.byteLength(payload);
  if (bytes > MAX_FRAME_BYTES) {
    throw new ProtocolError(`cannot send a frame of ${bytes} bytes: at most ${MAX_FRAME_BYTES} are allowed`);
  }
  const frame = Buffer.allocUnsafe(LENGTH_BYTES + bytes);
  frame.writeUInt32LE(bytes, 0);
  frame.write(payload, LENGTH_BYTES);
  return frame;
}

/** Cuts the byte stream into frames, however it is split. After an error the connection is of no more use. */
export class FrameReader {
  #pending: Buffer = Buffer.alloc(0);

  /** The frames that this chunk completes, each as its fields. */
  push(chunk: Buffer): string[][] {
    const bytes = this.#pending.length === 0 ? chunk : Buffer.concat([this.#pending, chunk]);
    const frames: string[][] = [];
    let start = 0;
    while (bytes.length - start >= LENGTH_BYTES) {
      const length = bytes.readUInt32LE(start);
      if (length === 0 || length > MAX_FRAME_BYTES) {
        throw new ProtocolError(`cannot read a frame of ${length} bytes: 1 to ${MAX_FRAME_BYTES} are allowed`);
      }
      const end = start + LENGTH_BYTES + length;
      if (end > bytes.length) break;
      if (bytes[end - 1] !== 0) throw new ProtocolError('cannot read a frame: its last byte is not NUL');
      frames.push(bytes.toString('utf8', start + LENGTH_BYTES, end - 1).split('\0'));
      start = end;
    }
    // A copy, as the socket may use the memory of the chunk again.
    this.#pending = Buffer.from(bytes.subarray(start));
    return frames;
  }
}

export function decodeHello(fields: readonly string[]): Hello {
  const [name, version, hostId = ''] = fields;
  if (name !== 'hello') throw new ProtocolError(`cannot read frame ${quote(name)}: hello has to come first`);
  if (version !== String(PROTOCOL_VERSION)) {
    throw new ProtocolError(
      `cannot talk to sexton-init: it speaks version ${quote(version)} of the protocol, this supervisor version ` +
        `${PROTOCOL_VERSION}; install both from the same release`,
    );
  }
  count(fields, 12);
  if (!/^[0-9a-f]{32}$/.test(hostId)) throw new ProtocolError(`cannot read hello: host id ${quote(hostId)}`);
  const startedAt = number(fields, 3, 0, Number.MAX_SAFE_INTEGER);
  const isPid1 = flag(fields, 4);
  const memo = flag(fields, 5) ? fields[6] : undefined;
  if (memo === undefined && fields[6] !== '') throw new ProtocolError('cannot read hello: its memo is declared absent');
  const wokenBy = fields[7] === '' ? undefined : fields[7];
  const oomKills = fields[8] === '' ? undefined : number(fields, 8, 0, Number.MAX_SAFE_INTEGER);
  const whyNode = fields[9] === '' ? undefined : fields[9];
  const ended = fields[10] === '' ? undefined : fields[10];
  const killed = number(fields, 11, 0, Number.MAX_SAFE_INTEGER);
  return { hostId, startedAt, memo, isPid1, wokenBy, oomKills, whyNode, ended, killed };
}

/** undefined: the frame is that of an event. */
export function decodeNews(fields: readonly string[]): HostNews | undefined {
  const [name, ...names] = fields;
  if (name === 'changed') return { type: 'changed', names };
  if (name !== 'watching' && name !== 'contact') return undefined;
  count(fields, 3);
  const errno = fields[2] === '' ? undefined : errnoFrom(fields[2]);
  return { type: name, number: number(fields, 1, 1, MAX_ID), errno };
}

export function decodeEvent(fields: readonly string[]): HostEvent {
  const base = (length: number): { seq: number; at: number } => {
    count(fields, length);
    return { seq: number(fields, 1, 1, Number.MAX_SAFE_INTEGER), at: number(fields, 2, 0, Number.MAX_SAFE_INTEGER) };
  };
  const signalAt = (index: number): number => number(fields, index, 1, MAX_SIGNAL);
  const idAt = (index: number): number => number(fields, index, 1, MAX_ID);
  switch (fields[0]) {
    case 'signal': {
      const event = {
        type: 'signal',
        ...base(6),
        signal: signalAt(3),
        senderPid: number(fields, 4, 0, MAX_PID),
      } as const;
      return { ...event, fromTerminal: flag(fields, 5) };
    }
    case 'forwarded': {
      const event = { type: 'forwarded', ...base(7), signal: signalAt(3), as: signalAt(4) } as const;
      return { ...event, senderPid: number(fields, 5, 0, MAX_PID), receiverPid: number(fields, 6, 0, MAX_PID) };
    }
    case 'spawned':
      return { type: 'spawned', ...base(5), id: idAt(3), pid: number(fields, 4, 1, MAX_PID) };
    case 'spawn-failed': {
      const event = { type: 'spawnFailed', ...base(5), id: idAt(3) } as const;
      return { ...event, errno: errnoFrom(fields[4]) };
    }
    case 'overdue':
      return { type: 'overdue', ...base(4), id: idAt(3) };
    case 'exited': {
      const event = { type: 'exited', ...base(8), id: idAt(3), pid: number(fields, 4, 1, MAX_PID) } as const;
      return { ...event, ...exitAt(fields, 5), core: flag(fields, 7) };
    }
    case 'end-written': {
      const event = { type: 'endWritten', ...base(7), id: idAt(3), pid: number(fields, 4, 1, MAX_PID) } as const;
      return { ...event, code: number(fields, 5, 0, 255), wall: nanoseconds(fields[6]) };
    }
    case 'stop-sent':
      return {
        ...{ type: 'stopSent', ...base(8), id: idAt(3), signal: signalAt(4), isByMains: flag(fields, 5) },
        ...{ wall: nanoseconds(fields[6]), receiverPid: number(fields, 7, 0, MAX_PID) },
      } as const;
    case 'roots-gone':
      return { type: 'rootsGone', ...base(4), id: idAt(3) };
    case 'told': {
      const event = { type: 'told', ...base(10), id: idAt(3), signal: signalAt(4) } as const;
      const why = TOLD_WHY.find((one) => one === fields[7]);
      if (why === undefined)
        throw new ProtocolError(`cannot read a reason from ${quote(fields[7])}: no told event has this one`);
      const [name = '', of = ''] = fields.slice(8);
      return { ...event, count: number(fields, 5, 1, MAX_PID), pid: number(fields, 6, 1, MAX_PID), why, name, of };
    }
    case 'notified': {
      const event = { type: 'notified', ...base(6), id: number(fields, 3, 0, MAX_ID) } as const;
      return { ...event, dropped: number(fields, 4, 0, MAX_PID), text: fields[5] ?? '' };
    }
    case 'silent':
      return { type: 'silent', ...base(4), id: idAt(3) };
    case 'helper-ended':
      return { type: 'helperEnded', ...base(7), id: idAt(3), ...helperEnd(fields), output: fields[6] ?? '' };
    default:
      throw new ProtocolError(`cannot read frame ${quote(fields[0])}: no event has this name`);
  }
}

function nanoseconds(field: string | undefined): string {
  if (field !== undefined && /^[1-9][0-9]{0,18}$/.test(field)) return field;
  throw new ProtocolError(`cannot read a wall clock from ${quote(field)}`);
}

type Exit = { readonly code: number | undefined; readonly signal: number | undefined };

function exitAt(fields: readonly string[], index: number): Exit {
  if (fields[index] === 'code') return { code: number(fields, index + 1, 0, 255), signal: undefined };
  if (fields[index] === 'signal') return { code: undefined, signal: number(fields, index + 1, 1, MAX_SIGNAL) };
  throw new ProtocolError(`cannot read an exit from ${quote(fields[index])}: code or signal has to stand there`);
}

function helperEnd(fields: readonly string[]): Exit & { readonly errno: string | undefined } {
  if (fields[4] === 'errno') return { code: undefined, signal: undefined, errno: errnoFrom(fields[5]) };
  return { ...exitAt(fields, 4), errno: undefined };
}

function errnoFrom(field: string | undefined): string {
  if (field !== undefined && /^(?:E[A-Z0-9]+|[0-9]+)$/.test(field)) return field;
  throw new ProtocolError(`cannot read an errno from ${quote(field)}`);
}

/** As much of a helper's output as a line of the log can carry. */
export const MAX_OUTPUT_BYTES = 4096;

function commandFields(command: HostCommand): string[] {
  switch (command.type) {
    case 'spawn': {
      const { fromIndex, argv } = command.program;
      const id = integer('child id', command.id, 1, MAX_ID);
      if (fromIndex > 0) return ['spawn', id, integer('index', fromIndex, 1, MAX_ID), '0'];
      const words = argv.map((word) => text('argument', word, MAX_FRAME_BYTES));
      return ['spawn', id, '0', String(words.length), ...words];
    }
    case 'kill':
      return ['kill', integer('child id', command.id, 1, MAX_ID), signalField(command.signal)];
    case 'forward':
    case 'forwardOnce': {
      const pairs = Object.entries(command.table);
      const numbers = pairs.flatMap(([from, to]) => [signalField(Number(from)), signalField(to)]);
      const operation = command.type === 'forward' ? 'forward' : 'forward-once';
      return [operation, integer('child id', command.id, 1, MAX_ID), String(pairs.length), ...numbers];
    }
    case 'fallback': {
      const stops = command.stopSignals.map(signalField);
      const signal = command.signal === undefined ? '0' : signalField(command.signal);
      const times = [command.waitMs, command.graceMs, command.atMs].map(timeField);
      return ['fallback', String(stops.length), ...stops, signal, ...times];
    }
    case 'killAt':
      return ['kill-at', timeField(command.atMs)];
    case 'leaveAt':
      return ['leave-at', timeField(command.atMs)];
    case 'due':
      return ['due', timeField(command.atMs)];
    case 'listen':
      // An empty path would bind a name of the kernel's choice: unix(7), "autobind".
      if (command.path === '') throw new ProtocolError('cannot send an empty socket path');
      return ['listen', text('socket path', command.path, MAX_SOCKET_PATH_BYTES)];
    case 'exec': {
      const words = command.argv.map((word) => text('argument', word, MAX_FRAME_BYTES));
      const limit = integer('output limit', command.outputLimit, 0, MAX_OUTPUT_BYTES);
      return ['exec', integer('helper id', command.id, 1, MAX_ID), limit, String(words.length), ...words];
    }
    case 'endHelper':
      return ['end-helper', integer('helper id', command.id, 1, MAX_ID)];
    case 'stop': {
      const { id, signal, lateMs, lastMs } = command;
      return ['stop', integer('child id', id, 1, MAX_ID), signalField(signal), timeField(lateMs), timeField(lastMs)];
    }
    case 'signalTo':
      return ['signal-to', integer('child id', command.id, 1, MAX_ID), command.to === 'first' ? '1' : '0'];
    case 'parentDeath':
      return ['parent-death', signalField(command.signal)];
    case 'tellReaped':
      return ['tell-reaped'];
    case 'notify':
      return ['notify', command.all ? '1' : '0', timeField(command.watchdogMs)];
    case 'watchdog':
      return ['watchdog', integer('child id', command.id, 1, MAX_ID), timeField(command.ms)];
    case 'watch': {
      const quiet = command.quiet.map((name) => text('name', name, MAX_NAME));
      const sockets = command.sockets.map((path) => text('socket path', path, MAX_SOCKET_PATH_BYTES));
      const counts = [integer('names', quiet.length, 0, MAX_QUIET), integer('sockets', sockets.length, 0, MAX_WATCHED)];
      const dir = text('directory', command.dir, MAX_DIRECTORY_BYTES);
      const order = integer('number', command.number, 1, MAX_ID);
      return ['watch', order, ...counts, dir, text('name', command.ownName, MAX_NAME), ...quiet, ...sockets];
    }
    case 'connect': {
      const path = text('socket path', command.path, MAX_SOCKET_PATH_BYTES);
      return ['connect', integer('number', command.number, 1, MAX_ID), path];
    }
    case 'hangUp':
      return ['hang-up', integer('number', command.number, 1, MAX_ID)];
    case 'sleep':
      return ['sleep'];
    case 'asleepAt':
      return ['asleep-at', text('path', command.path, MAX_DIRECTORY_BYTES)];
    case 'texts': {
      const { path, terminationLog, tombstone, evidence, log, errorLog } = command;
      const isMade = terminationLog?.isNamed === true ? '1' : '0';
      const texts = [path, terminationLog?.path ?? '', isMade, tombstone, evidence, log, errorLog];
      return ['texts', String(texts.length), ...texts.map((it) => text('text', it, MAX_TEXTS_BYTES))];
    }
    case 'preparedEnds': {
      const { id, signal, patienceMs, ends } = command;
      const words = ends.flatMap(({ prelude, from, to, final, code, signal: by, reason, stopReason }) => [
        prelude,
        integer('end', from, 0, MAX_END),
        integer('end', to, from, MAX_END),
        final ? '1' : '0',
        code === 'same' ? '256' : code === undefined ? '257' : integer('exit code', code, 0, 255),
        by,
        reason,
        stopReason,
      ]);
      const times = [signalField(signal), timeField(patienceMs)];
      return ['prepared-ends', integer('child id', id, 1, MAX_ID), ...times, String(words.length), ...words];
    }
    case 'endWith': {
      const { id, needed, endsWithLost, holds, lingerMs, signal, mains } = command;
      const words = mains.flatMap(({ hostId, path }) => [hostId, text('socket path', path, MAX_SOCKET_PATH_BYTES)]);
      return [
        'end-with',
        integer('child id', id, 1, MAX_ID),
        integer('number of mains', needed, 0, MAX_MAINS_HEARD),
        endsWithLost ? '1' : '0',
        holds ? '1' : '0',
        timeField(lingerMs || undefined),
        signalField(signal),
        String(words.length),
        ...words,
      ];
    }
    case 'exit':
      return ['exit', integer('exit code', command.code, 0, 255)];
    default:
      return command satisfies never;
  }
}

/** Never too early; 0: never at all, which the core may also call infinity. */
function timeField(atMs: number | undefined): string {
  return atMs === undefined || atMs === Number.POSITIVE_INFINITY
    ? '0'
    : integer('time', Math.max(1, Math.ceil(atMs)), 1, Number.MAX_SAFE_INTEGER);
}

function signalField(signal: number): string {
  return integer('signal', signal, 1, MAX_SIGNAL);
}

function integer(what: string, value: number, min: number, max: number): string {
  if (!Number.isInteger(value) || value < min || value > max) {
    throw new ProtocolError(`cannot send ${what} ${value}: it has to be a whole number from ${min} to ${max}`);
  }
  return String(value);
}

function text(what: string, value: string, maxBytes: number): string {
  if (value.includes('\0')) throw new ProtocolError(`cannot send a ${what} with a NUL byte in it`);
  const bytes = Buffer.byteLength(value);
  if (bytes > maxBytes) {
    throw new ProtocolError(`cannot send a ${what} of ${bytes} bytes: at most ${maxBytes} are allowed`);
  }
  return value;
}

function count(fields: readonly string[], length: number): void {
  if (fields.length !== length) {
    throw new ProtocolError(`cannot read ${quote(fields[0])}: it has ${fields.length} fields in place of ${length}`);
  }
}

function number(fields: readonly string[], index: number, min: number, max: number): number {
  const field = fields[index] ?? '';
  const value = /^(?:0|[1-9][0-9]{0,15})$/.test(field) ? Number(field) : Number.NaN;
  if (!(value >= min && value <= max)) {
    throw new ProtocolError(
      `cannot read field ${index} of ${quote(fields[0])}: ${quote(field)} is no number from ${min} to ${max}`,
    );
  }
  return value;
}

function flag(fields: readonly string[], index: number): boolean {
  return number(fields, index, 0, 1) === 1;
}

/** Short and printable, as it goes into a message. */
function quote(field: string | undefined): string {
  return field === undefined ? 'nothing' : JSON.stringify(field.slice(0, 40));
}
