/** A FastCGI client, as far as php-fpm needs one: one GET for each connection, with the response piece by piece. */
import { connect } from 'node:net';
import type { Exchange } from './clients.ts';
import { PORT } from './stage.ts';

/** Types of records, by the specification of FastCGI 1.0, section 8. */
const [BEGIN, END, PARAMS, STDIN, STDOUT] = [1, 3, 4, 5, 6] as const;

export function getByFastCgi(script: string): Exchange {
  return ({ host }, path, onBody, onEnd) => {
    const socket = connect(PORT, host);
    const responder = Buffer.from([0, 1, 0, 0, 0, 0, 0, 0]);
    const params = { SCRIPT_FILENAME: script, REQUEST_METHOD: 'GET', REQUEST_URI: path };
    const pairs = Buffer.concat(Object.entries(params).map(([name, value]) => pair(name, value)));
    socket.write(Buffer.concat([record(BEGIN, responder), record(PARAMS, pairs), record(PARAMS), record(STDIN)]));
    let unread = Buffer.alloc(0);
    let text = '';
    let isComplete = false;
    socket.on('data', (chunk) => {
      unread = Buffer.concat([unread, chunk]);
      while (unread.length >= 8) {
        const [length, padding] = [unread.readUInt16BE(4), unread.readUInt8(6)];
        const end = 8 + length + padding;
        if (unread.length < end) break;
        const type = unread.readUInt8(1);
        if (type === STDOUT) text += unread.toString('latin1', 8, 8 + length);
        // The last four bytes of its body: the request was completed.
        if (type === END) isComplete = unread.readUInt8(12) === 0;
        unread = unread.subarray(end);
      }
      const body = text.indexOf('\r\n\r\n');
      if (body >= 0) onBody(text.slice(body + 4));
    });
    socket.on('error', () => {});
    socket.on('close', () => onEnd(isComplete));
  };
}

function record(type: number, content = Buffer.alloc(0)): Buffer {
  return Buffer.concat([Buffer.from([1, type, 0, 1, content.length >> 8, content.length & 255, 0, 0]), content]);
}

/** Lengths of less than 128 bytes take one byte. */
function pair(name: string, value: string): Buffer {
  if (name.length > 127 || value.length > 127) throw new Error(`internal error: ${name} is too long`);
  return Buffer.concat([Buffer.from([name.length, value.length]), Buffer.from(name + value)]);
}
