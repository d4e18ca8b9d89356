/** A raw connection to a server whose protocol is lines of text: redis, memcached, nats. */
import { connect } from 'node:net';
import type { TestContext } from 'node:test';
import { waitFor } from '../helpers/wait.ts';
import { PORT, type Stage } from './stage.ts';

export interface Talk {
  say(text: string): void;
  /** What has come since the last answer that was heard, up to and with what is looked for. */
  hear(wanted: RegExp): Promise<string>;
  isOver(): boolean;
}

export function talkTo(t: TestContext, { host }: Stage): Talk {
  const socket = connect(PORT, host);
  t.after(() => socket.destroy());
  let unheard = '';
  let isOver = false;
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    unheard += chunk;
  });
  socket.on('error', () => {});
  socket.on('close', () => {
    isOver = true;
  });
  return {
    say: (text) => void socket.write(text),
    hear: (wanted) =>
      waitFor(`${wanted} is heard`, () => {
        const found = wanted.exec(unheard);
        if (found === null && isOver) throw new Error(`the connection is over after ${JSON.stringify(unheard)}`);
        if (found === null) return undefined;
        unheard = unheard.slice(found.index + found[0].length);
        return found[0];
      }),
    isOver: () => isOver,
  };
}
