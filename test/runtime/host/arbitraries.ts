import fc from 'fast-check';
import { MAX_SOCKET_PATH_BYTES } from '../../../src/core/format/tombstone.ts';
import type { Order } from '../../../src/core/orders.ts';
import { ROWS, TOLD_WHY } from '../../../src/core/state/events.ts';
import type { Commit, Hello, HostCommand, HostEvent } from '../../../src/runtime/host/host.ts';

/** Plain objects, as the code under test makes them. */
const record = <T>(model: { [K in keyof T]: fc.Arbitrary<T[K]> }): fc.Arbitrary<T> =>
  fc.record(model, { noNullPrototype: true }) as fc.Arbitrary<T>;
export const word = fc
  .string({ unit: 'binary', maxLength: 30 })
  .map((text) => text.replaceAll('\0', '').toWellFormed());
const signal = fc.integer({ min: 1, max: 64 });
const id = fc.integer({ min: 1, max: 2 ** 31 - 1 });
const pid = fc.integer({ min: 1, max: 2 ** 31 - 1 });
const wall = fc.bigInt({ min: 1n, max: 2n ** 63n - 1n }).map(String);
const base = { seq: fc.integer({ min: 1, max: 2 ** 40 }), at: fc.maxSafeNat() };

const nothing = fc.constant(undefined);
const maybe = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(arbitrary, { nil: undefined });
const errno = fc.constantFrom('ENOENT', 'E2BIG', 'EACCES', 'EAGAIN', 'ECANCELED', '133');
const code = fc.integer({ min: 0, max: 255 });

type Ended = Extract<HostEvent, { type: 'helperEnded' }>;

function helperEnded(how: { [K in 'code' | 'signal' | 'errno']: fc.Arbitrary<Ended[K]> }): fc.Arbitrary<Ended> {
  return record({ type: fc.constant('helperEnded'), ...base, id, ...how, output: word });
}

export const event: fc.Arbitrary<HostEvent> = fc.oneof(
  record({ type: fc.constant('signal'), ...base, signal, senderPid: fc.nat(), fromTerminal: fc.boolean() }),
  record({
    type: fc.constant('ordered'),
    ...{ ...base, id, row: fc.constantFrom(...ROWS), signal: fc.integer({ min: 0, max: 64 }), as: signal },
    ...{ senderPid: fc.nat(), receiverPid: fc.nat(), wall },
  }),
  record({ type: fc.constant('spawned'), ...base, id, pid }),
  record({ type: fc.constant('spawnFailed'), ...base, id, errno }),
  record({ type: fc.constant('exited'), ...base, id, pid, code, signal: nothing, core: fc.boolean() }),
  record({ type: fc.constant('exited'), ...base, id, pid, code: nothing, signal, core: fc.boolean() }),
  record({ type: fc.constant('rootsGone'), ...base, id }),
  record({
    type: fc.constant('told'),
    ...{ ...base, id, signal, count: pid, pid, why: fc.constantFrom(...TOLD_WHY), name: word, of: word },
  }),
  record({ type: fc.constant('silent'), ...base, id }),
  record({ type: fc.constant('notified'), ...base, id, dropped: fc.nat(), text: word }),
  record({ type: fc.constant('endWritten'), ...base, id, pid, code, wall }),
  fc.oneof(
    helperEnded({ code, signal: nothing, errno: nothing }),
    helperEnded({ code: nothing, signal, errno: nothing }),
    helperEnded({ code: nothing, signal: nothing, errno }),
  ),
);

export const hello: fc.Arbitrary<Hello> = record({
  hostId: fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: 32, maxLength: 32 }),
  startedAt: fc.maxSafeNat(),
  memo: maybe(word.filter((it) => it !== '')),
  isPid1: fc.boolean(),
  wokenBy: maybe(word.filter((it) => it !== '')),
  oomKills: maybe(fc.maxSafeNat()),
  whyNode: maybe(word.filter((it) => it !== '')),
  ended: maybe(word.filter((it) => it !== '')),
  killed: fc.maxSafeNat(),
});

const argv = fc
  .tuple(word, fc.array(word, { maxLength: 4 }))
  .map(([first, rest]): [string, ...string[]] => [first, ...rest]);
const name = fc.constantFrom('main', 'web-2', 'a'.repeat(63));
const table = fc.array(fc.tuple(signal, signal), { maxLength: 6 }).map((pairs) => Object.fromEntries(pairs));
const time = fc.integer({ min: 1 });
const order: fc.Arbitrary<Order> = fc.oneof(
  record({ when: fc.constantFrom('each', 'first'), table }),
  record({ when: fc.constant('unheard'), ms: time, signal: maybe(signal) }),
  record({ when: fc.constant('lost'), atMs: time, signal: maybe(signal) }),
  record({ when: fc.constantFrom('grace', 'mains-grace'), ms: time }),
  record({ when: fc.constant('deadline'), atMs: time }),
  record({ when: fc.constant('leave'), atMs: time, isZero: fc.boolean() }),
  record({
    when: fc.constant('mains'),
    needed: fc.integer({ min: 0, max: 16 }),
    countsLost: fc.boolean(),
    holds: fc.boolean(),
    lingerMs: fc.nat(),
    signal,
    mains: fc.array(
      record({ hostId: fc.constant('0123456789abcdef'.repeat(2)), path: fc.constant('/graveyard/.a.sock') }),
      { minLength: 1 },
    ),
  }),
  record({
    when: fc.constant('end'),
    prelude: fc.constantFrom('', 'f', 'st', 't'),
    patienceMs: fc.integer({ min: 0, max: 5_000 }),
    from: fc.integer({ min: 0, max: 100 }),
    to: fc.integer({ min: 100, max: 255 }),
    final: fc.boolean(),
    code: fc.oneof(code, fc.constantFrom('same' as const, undefined)),
    signal: fc.constantFrom('', 'SIGTERM', 'SIGRTMIN+3'),
    reason: fc.constantFrom('completed', 'error', 'stopped'),
    stopReason: word.filter((it) => Buffer.byteLength(it) <= 15),
  }),
);
const to = fc.constantFrom('tree' as const, 'group' as const, 'first' as const);
const command: fc.Arbitrary<HostCommand> = fc.oneof(
  record({ type: fc.constant('spawn'), id, to, program: record({ fromIndex: fc.constant(0), argv }) }),
  record({
    type: fc.constant('spawn'),
    id,
    to,
    program: record({ fromIndex: fc.integer({ min: 1, max: 99 }), argv: fc.constant<[string]>(['own']) }),
  }),
  record({ type: fc.constant('kill'), id, signal }),
  record({
    type: fc.constant('orders'),
    id,
    stopSignals: fc.array(signal, { maxLength: 4 }),
    rows: fc.array(order, { maxLength: 16 }),
  }),
  record({ type: fc.constant('due'), atMs: maybe(fc.integer({ min: 1 })) }),
  record({
    type: fc.constant('listen'),
    path: word.filter((path) => path !== '' && Buffer.byteLength(path) <= MAX_SOCKET_PATH_BYTES),
  }),
  record({ type: fc.constant('exec'), id, argv, outputLimit: fc.integer({ min: 0, max: 4096 }) }),
  record({
    type: fc.constant('stop'),
    ...{ id, signal, lateMs: maybe(fc.integer({ min: 1 })), lastMs: maybe(fc.integer({ min: 1 })) },
  }),
  record({ type: fc.constant('endHelper'), id }),
  record({ type: fc.constant('notify'), all: fc.boolean(), watchdogMs: maybe(fc.integer({ min: 1 })) }),
  record({ type: fc.constant('watchdog'), id, ms: maybe(fc.integer({ min: 1 })) }),
  record({
    type: fc.constant('watch'),
    number: id,
    dir: fc.constantFrom('/graveyard', '/var/run/grün'),
    ownName: name,
    quiet: fc.array(name, { maxLength: 3 }),
  }),
  record({
    type: fc.constant('connections'),
    paths: fc.array(fc.constantFrom('/graveyard/.main.sock', '/g/.grün.sock'), { maxLength: 3 }),
  }),
  record({ type: fc.constant('sleep'), path: fc.constantFrom('', '/graveyard/web', '/g/grün') }),
  record({
    type: fc.constant('texts'),
    path: fc.constant('/graveyard/web'),
    terminationLog: fc.constantFrom(
      undefined,
      { path: '/dev/termination-log', isNamed: false },
      { path: '/e', isNamed: true },
    ),
    tombstone: word,
    evidence: word,
    log: word,
    errorLog: word,
  }),
  record({ type: fc.constant('exit'), code }),
);

export const commit: fc.Arbitrary<Commit> = record({
  ack: maybe(fc.maxSafeNat()),
  memo: maybe(word),
  commands: fc.array(command, { maxLength: 6 }),
});
