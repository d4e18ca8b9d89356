/**
 * The two messages of grpc.health.v1.Health/Check, as Protocol Buffers in a gRPC frame: `HealthCheckRequest { string
 * service = 1 }` and `HealthCheckResponse { ServingStatus status = 1 }`. A frame is a byte that says whether it is
 * compressed, and a length.
 */

export type ServingStatus = 'UNKNOWN' | 'SERVING' | 'NOT_SERVING' | 'SERVICE_UNKNOWN';

export function encodeRequest(service: string): Buffer {
  const name = Buffer.from(service, 'utf8');
  // A field with its default value is left out.
  const message = name.length === 0 ? name : Buffer.concat([Buffer.from([STRING_1, ...varint(name.length)]), name]);
  const frame = Buffer.alloc(PREFIX_BYTES);
  frame.writeUInt32BE(message.length, 1);
  return Buffer.concat([frame, message]);
}

/** undefined: not just one whole answer. Fields that a later version may have are skipped. */
export function decodeResponse(frame: Buffer): ServingStatus | undefined {
  if (frame.length < PREFIX_BYTES || frame[0] !== 0) return undefined;
  const message = frame.subarray(PREFIX_BYTES);
  if (frame.readUInt32BE(1) !== message.length) return undefined;
  let status = 0;
  for (let at = 0; at < message.length; ) {
    const tag = readVarint(message, at);
    const value = tag === undefined ? undefined : readField(message, tag.next, tag.value & 7);
    if (tag === undefined || value === undefined) return undefined;
    if (tag.value === VARINT_1) status = value.value;
    at = value.next;
  }
  return STATUSES[status] ?? 'UNKNOWN';
}

const PREFIX_BYTES = 5;
/** Field number and wire type: a length and bytes, a number. */
const STRING_1 = 0x0a;
const VARINT_1 = 0x08;
const STATUSES: readonly ServingStatus[] = ['UNKNOWN', 'SERVING', 'NOT_SERVING', 'SERVICE_UNKNOWN'];

interface Read {
  readonly value: number;
  readonly next: number;
}

/** The value of a number; all other fields are only skipped. */
function readField(bytes: Buffer, at: number, wireType: number): Read | undefined {
  if (wireType === 0) return readVarint(bytes, at);
  const length = wireType === 2 ? readVarint(bytes, at) : FIXED[wireType] && { value: FIXED[wireType], next: at };
  if (!length || length.next + length.value > bytes.length) return undefined;
  return { value: 0, next: length.next + length.value };
}

const FIXED: Readonly<Record<number, number>> = { 1: 8, 5: 4 };

/** Ten bytes at most; numbers beyond 2^53 lose bits, which are of no interest here. */
function readVarint(bytes: Buffer, at: number): Read | undefined {
  let value = 0;
  for (let index = 0; index < 10; index++) {
    const byte = bytes[at + index];
    if (byte === undefined) return undefined;
    value += (byte & 0x7f) * 2 ** (7 * index);
    if (byte < 0x80) return { value, next: at + index + 1 };
  }
  return undefined;
}

function varint(number: number): number[] {
  return number < 0x80 ? [number] : [(number & 0x7f) | 0x80, ...varint(number >>> 7)];
}
