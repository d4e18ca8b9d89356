/** Init's end of the protocol, written as plainly as possible, for the tests of the encoder and decoder. */
import type { Prelude } from '../../../src/core/end-rows.ts';
import type { DeathReason } from '../../../src/core/format/tombstone.ts';
import type { Order } from '../../../src/core/orders.ts';
import type { Commit, Hello, HostCommand, HostEvent } from '../../../src/runtime/host/host.ts';

export function helloFields(hello: Hello): string[] {
  const { hostId, startedAt, isPid1, memo = '', wokenBy = '', oomKills = '', whyNode = '', ended = '', killed } = hello;
  const about = [wokenBy, String(oomKills), whyNode, ended, String(killed)];
  return ['hello', '1', hostId, String(startedAt), isPid1 ? '1' : '0', memo, ...about];
}

export function eventFields(event: HostEvent): string[] {
  const base = [String(event.seq), String(event.at)];
  switch (event.type) {
    case 'signal':
      return ['signal', ...base, String(event.signal), String(event.senderPid), event.fromTerminal ? '1' : '0'];
    case 'ordered': {
      const { id, row, signal, as, senderPid, receiverPid, wall } = event;
      return ['ordered', ...base, String(id), row, ...[signal, as, senderPid, receiverPid].map(String), wall];
    }
    case 'spawned':
      return ['spawned', ...base, String(event.id), String(event.pid)];
    case 'spawnFailed':
      return ['spawn-failed', ...base, String(event.id), event.errno];
    case 'exited': {
      const how = [event.code ?? '', event.signal ?? ''].map(String);
      return ['exited', ...base, String(event.id), String(event.pid), ...how, event.core ? '1' : '0'];
    }
    case 'silent':
      return ['silent', ...base, String(event.id)];
    case 'notified':
      return ['notified', ...base, String(event.id), String(event.dropped), event.text];
    case 'helperEnded':
      return [
        'helper-ended',
        ...base,
        ...[event.id, event.code ?? '', event.signal ?? '', event.errno ?? ''].map(String),
        event.output,
      ];
    case 'endWritten':
      return ['end-written', ...base, String(event.id), String(event.pid), String(event.code), event.wall];
    case 'rootsGone':
      return ['roots-gone', ...base, String(event.id)];
    case 'told': {
      const { id, signal, count, pid, why, name, of } = event;
      return ['told', ...base, ...[id, signal, count, pid].map(String), why, name, of];
    }
    default:
      return event satisfies never;
  }
}

/** The length is checked, nothing else: the encoder is what is tested. */
export function frameOf(fields: readonly string[]): Buffer {
  const payload = Buffer.from(fields.map((field) => `${field}\0`).join(''));
  const length = Buffer.alloc(4);
  length.writeUInt32LE(payload.length);
  return Buffer.concat([length, payload]);
}

export function commitOf(fields: readonly string[]): Commit {
  const words = [...fields];
  const word = (): string => {
    const next = words.shift();
    if (next === undefined) throw new Error('the commit ends inside an operation');
    return next;
  };
  const int = (): number => Number.parseInt(word(), 10);
  const some = <T>(n: number, read: () => T): T[] => Array.from({ length: n }, read);
  const order = (): Order => {
    const when = word();
    if (when === 'each' || when === 'first')
      return { when, table: Object.fromEntries(some(int(), () => [int(), int()])) };
    if (when === 'mains') {
      const [needed, countsLost, holds, lingerMs, signal] = [int(), int() === 1, int() === 1, int(), int()];
      const mains = some(int(), () => ({ hostId: word(), path: word() }));
      return { when, needed, countsLost, holds, lingerMs, signal, mains };
    }
    if (when === 'end') {
      const [prelude, patienceMs] = [word() as Prelude, int()];
      const [from, to, final, number] = [int(), int(), word() === '1', int()];
      const code = number === 256 ? ('same' as const) : number === 257 ? undefined : number;
      const [signal, reason, stopReason] = [word(), word() as DeathReason, word()];
      return { when, prelude, patienceMs, from, to, final, code, signal, reason, stopReason };
    }
    const time = int();
    if (when === 'unheard') return { when, ms: time, signal: int() || undefined };
    if (when === 'lost') return { when, atMs: time, signal: int() || undefined };
    if (when === 'leave') return { when, atMs: time, isZero: int() === 1 };
    return when === 'grace' || when === 'mains-grace' ? { when, ms: time } : { when: 'deadline', atMs: time };
  };
  if (word() !== 'commit') throw new Error('not a commit');
  let ack: number | undefined;
  let memo: string | undefined;
  const commands: HostCommand[] = [];
  while (words.length > 0) {
    const operation = word();
    if (operation === 'ack') ack = int();
    else if (operation === 'memo') memo = word();
    else if (operation === 'spawn') {
      const id = int();
      const to = (['tree', 'group', 'first'] as const)[int()] ?? 'tree';
      const fromIndex = int();
      const argv = some(int(), word);
      // init takes what is not sent from its own command line.
      commands.push({
        type: 'spawn',
        id,
        to,
        program: { fromIndex, argv: fromIndex > 0 ? ['own'] : [argv[0] ?? '', ...argv.slice(1)] },
      });
    } else if (operation === 'kill') commands.push({ type: 'kill', id: int(), signal: int() });
    else if (operation === 'orders')
      commands.push({ type: 'orders', id: int(), stopSignals: some(int(), int), rows: some(int(), order) });
    else if (operation === 'due') commands.push({ type: 'due', atMs: int() || undefined });
    else if (operation === 'listen') commands.push({ type: 'listen', path: word() });
    else if (operation === 'exec') {
      const id = int();
      const outputLimit = int();
      const [file = '', ...rest] = some(int(), word);
      commands.push({ type: 'exec', id, argv: [file, ...rest], outputLimit });
    } else if (operation === 'sleep') commands.push({ type: 'sleep', path: word() });
    else if (operation === 'texts') {
      int();
      const [path, evidencePath, isNamed] = [word(), word(), word() === '1'];
      const terminationLog = evidencePath === '' ? undefined : { path: evidencePath, isNamed };
      const [tombstone, evidence, log, errorLog] = [word(), word(), word(), word()];
      commands.push({ type: 'texts', path, terminationLog, tombstone, evidence, log, errorLog });
    } else if (operation === 'end-helper') commands.push({ type: 'endHelper', id: int() });
    else if (operation === 'stop') {
      const [id, signal, lateMs, lastMs] = [int(), int(), int() || undefined, int() || undefined];
      commands.push({ type: 'stop', id, signal, lateMs, lastMs });
    } else if (operation === 'notify')
      commands.push({ type: 'notify', all: int() === 1, watchdogMs: int() || undefined });
    else if (operation === 'watchdog') commands.push({ type: 'watchdog', id: int(), ms: int() || undefined });
    else if (operation === 'watch') {
      const [number, names] = [int(), int()];
      commands.push({
        type: 'watch',
        number,
        dir: word(),
        ownName: word(),
        quiet: some(names, word),
      });
    } else if (operation === 'connections') commands.push({ type: 'connections', paths: some(int(), word) });
    else if (operation === 'exit') commands.push({ type: 'exit', code: int() });
    else throw new Error(`no such operation: ${operation}`);
  }
  return { ack, memo, commands };
}
