/** The protocol's frames: round trips against a plain form of init's side, every split of the stream, every bound. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  decodeEvent,
  decodeHello,
  encodeCommit,
  encodeFrame,
  FrameReader,
  MAX_FRAME_BYTES,
  MAX_MEMO_BYTES,
  ProtocolError,
} from '../../../src/runtime/host/frames.ts';
import type { HostCommand } from '../../../src/runtime/host/host.ts';
import { commit, event, hello, word } from './arbitraries.ts';
import { commitOf, eventFields, frameOf, helloFields } from './init-side.ts';
import { orders } from './orders.ts';
import '../../helpers/seeded.ts';

test('every commit is read by init as it was meant', () => {
  fc.assert(
    fc.property(commit, (given) => {
      const frames = new FrameReader().push(encodeCommit(given));
      assert.equal(frames.length, 1);
      assert.deepEqual(commitOf(frames[0] ?? []), given);
    }),
  );
});

test('every event and every hello is read as init meant it', () => {
  fc.assert(fc.property(event, (given) => assert.deepEqual(decodeEvent(eventFields(given)), given)));
  fc.assert(fc.property(hello, (given) => assert.deepEqual(decodeHello(helloFields(given)), given)));
});

test('a time is sent as a whole number, never too early, and one that never comes as 0', () => {
  const sent = (atMs: number | undefined): string[] =>
    encodeCommit({ ack: undefined, memo: undefined, commands: [{ type: 'due', atMs }] })
      .subarray(4)
      .toString()
      .split('\0');
  assert.deepEqual(sent(12.25), ['commit', 'due', '13', '']);
  for (const never of [undefined, Number.POSITIVE_INFINITY]) assert.deepEqual(sent(never), ['commit', 'due', '0', '']);
  assert.throws(() => sent(Number.NaN), /cannot send time NaN/);
});

test('our frames are, byte for byte, those of a plain encoder', () => {
  fc.assert(
    fc.property(fc.array(word, { minLength: 1 }), (fields) => assert.deepEqual(encodeFrame(fields), frameOf(fields))),
  );
});

test('a stream cut at any place, or at any two, gives the same frames', () => {
  const stream = Buffer.concat([
    frameOf(
      helloFields({
        hostId: '0af3'.repeat(8),
        startedAt: 12,
        memo: 'Übergabe €',
        isPid1: true,
        oomKills: 3,
        killed: 0,
      }),
    ),
    frameOf(eventFields({ type: 'spawned', seq: 1, at: 13, id: 1, pid: 77 })),
    frameOf(['']),
    frameOf(eventFields({ type: 'rootsGone', seq: 2, at: 14, id: 1 })),
  ]);
  const whole = new FrameReader().push(stream);
  assert.equal(whole.length, 4);
  for (let first = 0; first <= stream.length; first++) {
    for (let second = first; second <= stream.length; second++) {
      const reader = new FrameReader();
      const parts = [stream.subarray(0, first), stream.subarray(first, second), stream.subarray(second)];
      const frames = parts.flatMap((part) => reader.push(part));
      assert.deepEqual(frames, whole);
    }
  }
});

test('random frames in random pieces come out whole, and the memory of a chunk may be used again', () => {
  fc.assert(
    fc.property(
      fc.array(fc.array(word, { minLength: 1 })),
      fc.infiniteStream(fc.integer({ min: 1, max: 9 })),
      (sent, sizes) => {
        const stream = Buffer.concat(sent.map(frameOf));
        const reader = new FrameReader();
        const read: string[][] = [];
        for (let at = 0; at < stream.length; ) {
          const size = sizes.next().value as number;
          const piece = Buffer.from(stream.subarray(at, at + size));
          read.push(...reader.push(piece));
          piece.fill(0xff);
          at += size;
        }
        assert.deepEqual(read, sent);
      },
    ),
  );
});

test('a frame that is empty, too long or does not end with NUL ends the reading', () => {
  const length = (bytes: number): Buffer => {
    const head = Buffer.alloc(4);
    head.writeUInt32LE(bytes);
    return head;
  };
  assert.throws(() => new FrameReader().push(length(0)), /cannot read a frame of 0 bytes/);
  assert.throws(() => new FrameReader().push(length(MAX_FRAME_BYTES + 1)), /cannot read a frame of 1048577 bytes/);
  assert.deepEqual(new FrameReader().push(length(MAX_FRAME_BYTES)), []);
  assert.throws(() => new FrameReader().push(Buffer.concat([length(2), Buffer.from('\0a')])), /last byte is not NUL/);
  const largest = frameOf(['x'.repeat(MAX_FRAME_BYTES - 1)]);
  assert.equal(new FrameReader().push(largest)[0]?.[0]?.length, MAX_FRAME_BYTES - 1);
});

test('what init would refuse is refused before it is sent', () => {
  const send = (commands: HostCommand[], memo?: string, ack?: number) => () => encodeCommit({ ack, memo, commands });
  assert.throws(send([], 'x'.repeat(MAX_MEMO_BYTES + 1)), /cannot send a memo of 65537 bytes: at most 65536/);
  assert.doesNotThrow(send([], 'x'.repeat(MAX_MEMO_BYTES)));
  assert.throws(send([], 'a\0b'), /memo with a NUL byte/);
  assert.throws(send([], undefined, 1.5), /cannot send ack 1.5/);
  assert.throws(send([{ type: 'listen', path: 'é'.repeat(54) }]), /socket path of 108 bytes: at most 107/);
  assert.throws(send([{ type: 'kill', id: 1, signal: 0 }]), /signal 0: it has to be a whole number from 1 to 64/);
  assert.throws(send([{ type: 'kill', id: 0, signal: 15 }]), /child id 0/);
  assert.throws(send([orders({ when: 'each', table: { 65: 1 } })]), /signal 65/);
  assert.throws(send([{ type: 'exit', code: 256 }]), /exit code 256/);
  assert.throws(send([{ type: 'exec', id: 0, argv: ['true'], outputLimit: 1 }]), /helper id 0/);
  assert.throws(send([{ type: 'exec', id: 1, argv: ['true'], outputLimit: 4097 }]), /output limit 4097/);
  assert.throws(send([{ type: 'exec', id: 1, argv: ['a\0b'], outputLimit: 1 }]), /argument with a NUL/);
  assert.throws(send([{ type: 'listen', path: '' }]), /empty socket path/);
  const spawn = (...argv: [string, ...string[]]) =>
    send([{ type: 'spawn', id: 1, to: 'tree', program: { fromIndex: 0, argv } }]);
  assert.throws(spawn('a', 'b\0c'), /argument with a NUL/);
  assert.throws(spawn('x'.repeat(MAX_FRAME_BYTES)), /cannot send a/);
});

test('an event with a field too many, too few, out of range or of another form is refused', () => {
  const wrong = [
    [],
    [''],
    ['Signal', '1', '2', '15', '0', '0'],
    ['signal', '1', '2', '15', '0'],
    ['signal', '1', '2', '15', '0', '0', '0'],
    ['signal', '0', '2', '15', '0', '0'],
    ['signal', '1', '-2', '15', '0', '0'],
    ['signal', '1', '2', '0', '0', '0'],
    ['signal', '1', '2', '65', '0', '0'],
    ['signal', '1', '2', '15', '0', '2'],
    ['signal', '1', '2', '15', '0', ''],
    ['signal', '01', '2', '15', '0', '0'],
    ['signal', '1', '2', '0xf', '0', '0'],
    ['signal', '1', '2', ' 15', '0', '0'],
    ['signal', '99999999999999999', '2', '15', '0', '0'],
    ['spawned', '1', '2', '1', '0'],
    ['spawn-failed', '1', '2', '1', 'no such file'],
    ['exited', '1', '2', '1', '7', '256', '', '0'],
    ['exited', '1', '2', '1', '7', '', '0', '0'],
    ['exited', '1', '2', '1', '7', 'status', '', '0'],
    ['exited', '1', '2', '1', '7', '', '', '0'],
    ['exited', '1', '2', '1', '7', '0', '9', '0'],
    ['roots-gone', '1', '2', '0'],
    ['roots-gone', '1', '2', '1', '0'],
    ['told', '1', '2', '1', '15', '1', '7', 'nobody', 'sh', ''],
    ['told', '1', '2', '1', '15', '0', '7', 'left', 'sh', ''],
    ['told', '1', '2', '1', '15', '1', '7', 'left', 'sh'],
    ['helper-ended', '1', '2', '3', '0', '', ''],
    ['helper-ended', '1', '2', '3', '256', '', '', ''],
    ['helper-ended', '1', '2', '3', '', '0', '', ''],
    ['helper-ended', '1', '2', '3', '', '', 'no such file', ''],
    ['helper-ended', '1', '2', '3', '', '', '', ''],
    ['helper-ended', '1', '2', '3', '0', '', 'ENOENT', ''],
    ['helper-ended', '1', '2', '0', '0', '', '', ''],
  ];
  for (const fields of wrong) assert.throws(() => decodeEvent(fields), ProtocolError, JSON.stringify(fields));
});

test('a hello of another version, or one that is not well formed, is refused with the remedy', () => {
  const good = ['hello', '1', 'ab'.repeat(16), '5', '1', '', '', '7', '--drain', 'signal 9', '1'];
  assert.doesNotThrow(() => decodeHello(good));
  const remedy = /speaks version "2" of the protocol, this supervisor version 1; install both/;
  assert.throws(() => decodeHello(good.with(1, '2')), remedy);
  assert.throws(() => decodeHello(['spawned']), /hello has to come first/);
  for (const wrong of [
    good.with(2, 'AB'.repeat(16)),
    good.with(4, 'yes'),
    good.with(7, '-1'),
    good.with(10, ''),
    good.slice(0, 10),
    [...good, ''],
  ]) {
    assert.throws(() => decodeHello(wrong), ProtocolError, JSON.stringify(wrong));
  }
});
