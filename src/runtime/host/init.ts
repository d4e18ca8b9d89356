/**
 * The host over sexton-init: one socket, inherited by descriptor, that carries the frames of `src/init/protocol.md`.
 *
 * The application's first instruction waits for this, and loading `node:net` takes ten times as long as all else here
 * (2.9 ms against 0.3 ms). So the first frames are read and written directly on the descriptor, which blocks; init
 * sends `hello` at once. The socket takes over after that. Nothing here uses `fs.read`: a read that waits in the thread
 * pool keeps `process.exit` from ending the process. A crash would then hang, and init would start no other supervisor.
 */
import { closeSync, readSync, writeSync } from 'node:fs';
import type { Socket } from 'node:net';
import { decodeEvent, decodeHello, decodeNews, encodeCommit, FrameReader } from './frames.ts';
import type { Commit, Hello, Host, HostEvent, HostNews } from './host.ts';

/**
 * More than a socket holds, so that one read takes `hello` and all that init could send before. That is some 190 events
 * beside the largest memo, by the kernel's way of counting small writes. Should more be queued, they follow.
 */
const CHUNK_BYTES = 262_144;

/**
 * The signals that people and tools send, as `pkill node` does. They are meant for init or the application, so here they
 * do nothing. Any other signal ends this process, and init starts the next one. USR1 needs no listener: init starts Node
 * with `--disable-sigusr1`.
 */
const MISDIRECTED = ['SIGHUP', 'SIGINT', 'SIGQUIT', 'SIGUSR2', 'SIGALRM', 'SIGTERM'] as const;

export class InitHost implements Host {
  readonly limits: readonly string[] = [];
  /** It is our parent; in images without the file at its place, too. */
  readonly init = `/proc/${process.ppid}/exe`;
  readonly #fd: number;
  readonly #reader = new FrameReader();
  #first: Promise<readonly string[][]> | undefined;
  #socket: Socket | undefined;
  #closing = false;

  constructor(fd: number) {
    this.#fd = fd;
  }

  /** What init says first; `open` repeats it. */
  async hello(): Promise<Hello> {
    this.#first ??= this.#firstFrames();
    const [first = []] = await this.#first;
    return decodeHello(first);
  }

  async open(onEvent: (event: HostEvent) => void, onNews: (news: HostNews) => void = () => {}): Promise<Hello> {
    const hello = await this.hello();
    const [, ...rest] = (await this.#first) ?? [];
    const tell = (fields: readonly string[]): void => {
      const news = decodeNews(fields);
      if (news === undefined) onEvent(decodeEvent(fields));
      else onNews(news);
    };
    // The caller of `open` goes on first, then events flow.
    setImmediate(() => {
      for (const fields of rest) tell(fields);
      // A turn later, so that what these events lead to is committed before `node:net` is loaded.
      setImmediate(() => {
        for (const signal of MISDIRECTED) process.on(signal, () => {});
        this.#attach(tell);
      });
    });
    return hello;
  }

  commit(commit: Commit): void {
    const frame = encodeCommit(commit);
    if (this.#socket !== undefined) {
      this.#socket.write(frame);
      return;
    }
    try {
      for (let at = 0; at < frame.length; ) at += writeSync(this.#fd, frame, at);
    } catch (error) {
      if (!isDisconnect(error)) throw error;
      leave();
    }
  }

  async close(): Promise<void> {
    if (this.#closing) return;
    this.#closing = true;
    const socket = this.#socket;
    if (socket === undefined) return closeSync(this.#fd);
    await new Promise<void>((resolve) => {
      socket.once('close', () => resolve());
      socket.destroy();
    });
  }

  async #firstFrames(): Promise<string[][]> {
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
    for (;;) {
      const bytes = readNow(this.#fd, chunk);
      if (bytes === 0) return leave();
      const frames = bytes === undefined ? [] : this.#reader.push(chunk.subarray(0, bytes));
      if (frames.length > 0) return frames;
      // Only a descriptor that does not block comes here, and only until init has written.
      if (bytes === undefined) await new Promise((resolve) => setTimeout(resolve, 1));
    }
  }

  #attach(tell: (fields: readonly string[]) => void): void {
    if (this.#closing) return;
    const { Socket } = process.getBuiltinModule('node:net');
    const socket = new Socket({ fd: this.#fd, readable: true, writable: true });
    this.#socket = socket;
    socket.on('data', (chunk: Buffer) => {
      for (const fields of this.#reader.push(chunk)) tell(fields);
    });
    // What kind of error it was makes no difference: `close` follows.
    socket.on('error', () => {});
    socket.on('close', () => {
      if (!this.#closing) leave();
    });
  }
}

/** The bytes read, 0 at the end of the connection, `undefined` when there is nothing yet. */
function readNow(fd: number, chunk: Buffer): number | undefined {
  try {
    return readSync(fd, chunk);
  } catch (error) {
    if (hasCode(error, 'EAGAIN')) return undefined;
    if (isDisconnect(error)) return 0;
    throw new Error(`cannot hear from sexton-init on descriptor ${fd}: unset SEXTON_INIT_FD, which only init sets`, {
      cause: error,
    });
  }
}

/**
 * Init is gone or has put another in our place: whatever we do from here on is wrong, a tombstone included. KILL runs
 * no exit handler and cannot be held up by a file operation that hangs.
 */
function leave(): never {
  process.kill(process.pid, 'SIGKILL');
  // The signal is on its way to this very process: kill(2) delivers it before it returns.
  throw new Error('internal error: this process outlived its own KILL');
}

function isDisconnect(error: unknown): boolean {
  return hasCode(error, 'EPIPE') || hasCode(error, 'ECONNRESET');
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
