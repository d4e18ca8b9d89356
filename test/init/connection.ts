/** The supervisor's end of the protocol for a test: frames as fields, and bytes for what is no good frame. */
import type { Socket } from 'node:net';
import { encodeFrame, FrameReader } from '../../src/runtime/host/frames.ts';
import { send } from '../helpers/process.ts';
import { waitFor } from '../helpers/wait.ts';

const NEWS: readonly string[] = ['watching', 'changed', 'contact', 'told'];

export interface About {
  readonly pid: number;
  /** Init, unless that is in a PID namespace of its own. */
  readonly ppid: number;
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

export class Supervisor {
  readonly #socket: Socket;
  readonly #reader = new FrameReader();
  readonly #frames: string[][] = [];
  readonly #news: string[][] = [];
  #head = Buffer.alloc(0);
  #about: About | undefined;
  #taken = false;
  #ended = false;
  #sent = 0;
  hello: readonly string[] = [];

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (chunk) => this.#take(chunk));
    socket.on('error', () => {});
    socket.on('close', () => {
      this.#ended = true;
    });
  }

  /** How many bytes the test has sent to init. */
  get sent(): number {
    return this.#sent;
  }

  /** Frames that have come and were not looked at. */
  get pending(): number {
    return this.#frames.length;
  }

  get taken(): boolean {
    return this.#taken;
  }

  get about(): About {
    if (!this.#about) throw new Error('the relay has not introduced itself');
    return this.#about;
  }

  /** Resolves once the process has introduced itself, and init has greeted it. */
  async take(): Promise<void> {
    this.#taken = true;
    await waitFor('the relay introduces itself', () => this.#about !== undefined);
    this.hello = await this.expect('hello');
  }

  async next(): Promise<string[]> {
    return waitFor('a frame comes', () => {
      if (this.#frames.length === 0 && this.#ended) throw new Error('the connection has ended');
      return this.#frames.shift();
    });
  }

  /** The next that init sent of the directory that it watches, of a connection, or of whom a signal has reached. */
  async news(): Promise<string[]> {
    return waitFor('news of the directory come', () => this.#news.shift());
  }

  /** The next frame, which has to have this name, without sequence and time. */
  async expect(name: string): Promise<string[]> {
    const [got, ...fields] = await this.next();
    if (got !== name) throw new Error(`expected ${name}, got ${[got, ...fields].join(' ')}`);
    return name === 'hello' ? fields : fields.slice(2);
  }

  /** The next frames, which have to have these names. */
  async skip(...names: readonly string[]): Promise<void> {
    for (const name of names) await this.expect(name);
  }

  commit(...fields: readonly (string | number)[]): void {
    this.raw(encodeFrame(['commit', ...fields.map(String)]));
  }

  /** Acknowledges everything that was sent up to this sequence number. */
  ack(seq: string | number): void {
    this.commit('ack', seq);
  }

  raw(bytes: Buffer): void {
    this.#sent += bytes.length;
    this.#socket.write(bytes);
  }

  /** Dies as by a crash. */
  async kill(): Promise<void> {
    send(this.about.pid, 'SIGKILL');
    await this.closed();
  }

  /** Ends as by a failed assertion of Node's own. */
  abort(): void {
    this.#socket.write('abort');
  }

  async closed(): Promise<void> {
    await waitFor('the connection ends', () => this.#ended);
  }

  end(): void {
    this.#socket.destroy();
  }

  #take(chunk: Buffer): void {
    if (this.#about) {
      this.#sort(chunk);
      return;
    }
    this.#head = Buffer.concat([this.#head, chunk]);
    const newline = this.#head.indexOf(10);
    if (newline === -1) return;
    this.#about = JSON.parse(this.#head.subarray(0, newline).toString());
    this.#sort(this.#head.subarray(newline + 1));
  }

  #sort(chunk: Buffer): void {
    for (const frame of this.#reader.push(chunk))
      (NEWS.includes(frame[0] ?? '') ? this.#news : this.#frames).push(frame);
  }
}
