/**
 * The frames between sexton-init and the supervisor, as `src/init/protocol.md` describes them: a 32-bit little-endian
 * length, then fields that each end with NUL. `OPERATIONS` and `EVENTS` have a row for each operation and each event:
 * its name, and its fields in the order of the protocol.
 *
 * Whatever breaks a bound is a `ProtocolError`, in both directions. Init would end the connection over it, so it is
 * refused here, where the stack shows the caller.
 */
import type { SignalTo } from '../../config/run-config.ts';
import type { EndRow } from '../../core/end-rows.ts';
import { SIGNAL_EXIT } from '../../core/exit.ts';
import { MAX_NAME, MAX_SOCKET_PATH_BYTES } from '../../core/format/tombstone.ts';
import { MAX_MAINS_HEARD, type MainsRow } from '../../core/mains-row.ts';
import type { Order } from '../../core/orders.ts';
import { ROWS, type Row, TOLD_WHY, type Told } from '../../core/state/events.ts';
import {
  FLAG,
  list,
  number,
  optional,
  ProtocolError,
  pattern,
  quote,
  type Reader,
  TIME,
  text,
  type Writer,
} from './fields.ts';
import type { Commit, Hello, HostCommand, HostEvent, HostNews } from './host.ts';

export { ProtocolError };

const PROTOCOL_VERSION = '1';
export const MAX_FRAME_BYTES = 1_048_576;
export const MAX_MEMO_BYTES = 65_536;
/** Quiet names of one `watch`. */
export const MAX_QUIET = 128;
export const MAX_CONNECTIONS = 256;
const MAX_TEXTS_BYTES = 32_768;
/** As much of a helper's output as a line of the log can carry. */
export const MAX_OUTPUT_BYTES = 4096;
const LENGTH_BYTES = 4;
const MAX_SIGNAL = 64;
const MAX_INT = 2 ** 31 - 1;

const SEQUENCE = number('sequence', 1, Number.MAX_SAFE_INTEGER);
const MS = number('time', 0, Number.MAX_SAFE_INTEGER);
const NANOSECONDS = pattern('wall clock', /^[1-9][0-9]{0,18}$/);
const CHILD = number('child id', 1, MAX_INT);
const CHILD_OR_0 = number('child id', 0, MAX_INT);
const HELPER = number('helper id', 1, MAX_INT);
const ORDER = number('number', 1, MAX_INT);
const COUNT = number('count', 0, MAX_INT);
const PID = number('pid', 1, MAX_INT);
const PID_OR_0 = number('pid', 0, MAX_INT);
const SIGNAL = number('signal', 1, MAX_SIGNAL);
const CODE = number('exit code', 0, 255);
const ERRNO = pattern('errno', /^(?:E[A-Z0-9]+|[0-9]+)$/);
const REASON = pattern<Told['why']>('reason', new RegExp(`^(?:${TOLD_WHY.join('|')})$`));
const ROW = pattern<Row>('row', new RegExp(`^(?:${ROWS.join('|')})$`));
const SIGNAL_OR_0 = number('signal', 0, MAX_SIGNAL);
const MAINS = number('number of mains', 0, MAX_MAINS_HEARD);
const HOST_ID = text('host id', 32);
const WORD = text('word', 15);
const ARGUMENT = text('argument', MAX_FRAME_BYTES);
const TEXT = text('text', MAX_FRAME_BYTES);
const OPEN_TEXT = text('text', MAX_TEXTS_BYTES);
const PATH = text('path', 4095);
const NAME = text('name', MAX_NAME);

const SOCKET = {
  write: (path: string): string => {
    // An empty path would bind a name of the kernel's choice: unix(7), "autobind".
    if (path === '') throw new ProtocolError('cannot send an empty socket path');
    return text('socket path', MAX_SOCKET_PATH_BYTES).write(path);
  },
};

const TABLE: Writer<Readonly<Record<number, number>>> = {
  write: (table) => {
    const pairs = Object.entries(table);
    return [String(pairs.length), ...pairs.flatMap(([from, to]) => [SIGNAL.write(Number(from)), SIGNAL.write(to)])];
  },
};

const REACH: readonly SignalTo[] = ['tree', 'group', 'first'];

type Command<T> = Extract<HostCommand, { type: T }>;

/** In the order of the fields. */
type Writers<T> = { readonly [K in keyof T]: Writer<T[K]> };

/** A function writes fields of which the command has no keys in the same order. */
type Operation<C> = readonly [name: string, fields: Writers<Omit<C, 'type'>> | ((command: C) => readonly string[])];

const OPERATIONS: { readonly [T in HostCommand['type']]: Operation<Command<T>> } = {
  spawn: ['spawn', { id: CHILD, to: { write: (to) => String(REACH.indexOf(to)) }, program: { write: programFields } }],
  kill: ['kill', { id: CHILD, signal: SIGNAL }],
  stop: ['stop', { id: CHILD, signal: SIGNAL, lateMs: TIME, lastMs: TIME }],
  orders: ['orders', { id: CHILD, stopSignals: list(SIGNAL), rows: { write: rowsFields } }],
  due: ['due', { atMs: TIME }],
  listen: ['listen', { path: SOCKET }],
  exec: ['exec', { id: HELPER, outputLimit: number('output limit', 0, MAX_OUTPUT_BYTES), argv: list(ARGUMENT) }],
  endHelper: ['end-helper', { id: HELPER }],
  notify: ['notify', { all: FLAG, watchdogMs: TIME }],
  watchdog: ['watchdog', { id: CHILD, ms: TIME }],
  watch: ['watch', watchFields],
  connections: [
    'connections',
    { paths: { write: (paths) => [COUNT.write(paths.length), ...paths.map(SOCKET.write)] } },
  ],
  sleep: ['sleep', { path: PATH }],
  texts: ['texts', textFields],
  exit: ['exit', { code: CODE }],
};

function rowsFields(rows: readonly Order[]): readonly string[] {
  return [COUNT.write(rows.length), ...rows.flatMap((row) => [row.when, ...[rowFields(row)].flat()])];
}

function rowFields(row: Order): string | readonly string[] {
  switch (row.when) {
    case 'each':
    case 'first':
      return TABLE.write(row.table);
    case 'unheard':
      return [TIME.write(row.ms), SIGNAL_OR_0.write(row.signal ?? 0)];
    case 'lost':
      return [TIME.write(row.atMs), SIGNAL_OR_0.write(row.signal ?? 0)];
    case 'grace':
    case 'mains-grace':
      return TIME.write(row.ms);
    case 'deadline':
      return TIME.write(row.atMs);
    case 'leave':
      return [TIME.write(row.atMs), FLAG.write(row.isZero)];
    case 'mains':
      return mainsFields(row);
    case 'end':
      return endFields(row);
    default:
      return row satisfies never;
  }
}

function mainsFields({ needed, countsLost, holds, lingerMs, signal, mains }: MainsRow): readonly string[] {
  return [
    MAINS.write(needed),
    FLAG.write(countsLost),
    FLAG.write(holds),
    COUNT.write(Math.min(MAX_INT, Math.ceil(lingerMs))),
    SIGNAL.write(signal),
    MAINS.write(mains.length),
    ...mains.flatMap(({ hostId, path }) => [HOST_ID.write(hostId), SOCKET.write(path)]),
  ];
}

function endFields({
  prelude,
  patienceMs,
  from,
  to,
  final,
  code,
  signal,
  reason,
  stopReason,
}: EndRow): readonly string[] {
  return [
    prelude,
    COUNT.write(patienceMs),
    number('end', 0, SIGNAL_EXIT + MAX_SIGNAL).write(from),
    number('end', from, SIGNAL_EXIT + MAX_SIGNAL).write(to),
    FLAG.write(final),
    code === 'same' ? '256' : code === undefined ? '257' : CODE.write(code),
    WORD.write(signal),
    WORD.write(reason),
    WORD.write(stopReason),
  ];
}

function programFields({ fromIndex, argv }: Command<'spawn'>['program']): readonly string[] {
  return fromIndex > 0 ? [COUNT.write(fromIndex), '0'] : ['0', ...list(ARGUMENT).write(argv)];
}

function watchFields({ number: order, dir, ownName, quiet }: Command<'watch'>): readonly string[] {
  const count = number('names', 0, MAX_QUIET).write(quiet.length);
  return [ORDER.write(order), count, PATH.write(dir), ...[ownName, ...quiet].map(NAME.write)];
}

function textFields(command: Command<'texts'>): readonly string[] {
  const { path, terminationLog, tombstone, evidence, log, errorLog } = command;
  const files = [path, terminationLog?.path ?? '', FLAG.write(terminationLog?.isNamed === true)];
  const words = [...files, tombstone, evidence, log, errorLog];
  return [COUNT.write(words.length), ...words.map(OPEN_TEXT.write)];
}

export function encodeCommit({ ack, memo, commands }: Commit): Buffer {
  const words = ['commit'];
  if (ack !== undefined) words.push('ack', number('ack', 0, Number.MAX_SAFE_INTEGER).write(ack));
  if (memo !== undefined) words.push('memo', text('memo', MAX_MEMO_BYTES).write(memo));
  for (const command of commands) words.push(...operationFields(command));
  return encodeFrame(words);
}

function operationFields<C extends HostCommand>(command: C): readonly string[] {
  const [name, fields] = OPERATIONS[command.type] as unknown as Operation<C>;
  if (typeof fields === 'function') return [name, ...fields(command)];
  const writers = Object.entries(fields) as [keyof C, Writer<unknown>][];
  return [name, ...writers.flatMap(([key, field]) => field.write(command[key]))];
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

const HELLO: Required<Readers<Hello>> = {
  hostId: pattern('host id', /^[0-9a-f]{32}$/),
  startedAt: MS,
  isPid1: FLAG,
  memo: optional(TEXT),
  wokenBy: optional(TEXT),
  oomKills: optional(MS),
  whyNode: optional(TEXT),
  ended: optional(TEXT),
  killed: MS,
};

const ANSWER = { number: ORDER, errno: optional(ERRNO) };

type Readers<T> = { readonly [K in keyof T]: Reader<T[K]> };

/** The fields of each event stand behind its sequence and time. */
const EVENTS: {
  readonly [T in HostEvent['type']]: readonly [
    name: string,
    Readers<Omit<Extract<HostEvent, { type: T }>, 'type' | 'seq' | 'at'>>,
  ];
} = {
  signal: ['signal', { signal: SIGNAL, senderPid: PID_OR_0, fromTerminal: FLAG }],
  ordered: [
    'ordered',
    {
      ...{ id: CHILD, row: ROW, signal: SIGNAL_OR_0, as: SIGNAL },
      ...{ senderPid: PID_OR_0, receiverPid: PID_OR_0, wall: NANOSECONDS },
    },
  ],
  spawned: ['spawned', { id: CHILD, pid: PID }],
  spawnFailed: ['spawn-failed', { id: CHILD, errno: ERRNO }],
  exited: ['exited', { id: CHILD, pid: PID, code: optional(CODE), signal: optional(SIGNAL), core: FLAG }],
  rootsGone: ['roots-gone', { id: CHILD }],
  told: ['told', { id: CHILD, signal: SIGNAL, count: PID, pid: PID, why: REASON, name: TEXT, of: TEXT }],
  endWritten: ['end-written', { id: CHILD, pid: PID, code: CODE, wall: NANOSECONDS }],
  helperEnded: [
    'helper-ended',
    { id: HELPER, code: optional(CODE), signal: optional(SIGNAL), errno: optional(ERRNO), output: TEXT },
  ],
  notified: ['notified', { id: CHILD_OR_0, dropped: COUNT, text: TEXT }],
  silent: ['silent', { id: CHILD }],
};

export function decodeHello([name, version, ...words]: readonly string[]): Hello {
  if (name !== 'hello') throw new ProtocolError(`cannot read frame ${quote(name)}: hello has to come first`);
  if (version === PROTOCOL_VERSION) return readFields(name, HELLO, words);
  throw new ProtocolError(
    `cannot talk to sexton-init: it speaks version ${quote(version)} of the protocol, this supervisor version ` +
      `${PROTOCOL_VERSION}; install both from the same release`,
  );
}

/** undefined: the frame is that of an event. */
export function decodeNews([name, ...words]: readonly string[]): HostNews | undefined {
  if (name === 'changed') return { type: name, names: words };
  if (name !== 'watching' && name !== 'contact') return undefined;
  if (name === 'contact') return { type: name, ...readFields(name, { path: TEXT, errno: optional(ERRNO) }, words) };
  return { type: name, ...readFields(name, ANSWER, words) };
}

export function decodeEvent([name, ...words]: readonly string[]): HostEvent {
  const found = Object.entries(EVENTS).find(([, row]) => row[0] === name);
  if (found === undefined) throw new ProtocolError(`cannot read frame ${quote(name)}: no event has this name`);
  const [type, [, fields]] = found;
  const event = { type, ...readFields<object>(type, { seq: SEQUENCE, at: MS, ...fields }, words) } as HostEvent;
  if (event.type !== 'exited' && event.type !== 'helperEnded') return event;
  const ends = [event.code, event.signal, event.type === 'exited' ? undefined : event.errno];
  if (ends.filter((end) => end !== undefined).length === 1) return event;
  throw new ProtocolError(`cannot read ${name}: it has to have one of code, signal and errno`);
}

function readFields<T>(name: string, fields: Readers<T>, words: readonly string[]): T {
  const readers = Object.entries<Reader<unknown>>(fields);
  if (words.length !== readers.length) {
    throw new ProtocolError(`cannot read ${name}: it has ${words.length} fields in place of ${readers.length}`);
  }
  const values = readers.map(([key, field], index) => [key, field.read(words[index] ?? '')]);
  return Object.fromEntries(values);
}
