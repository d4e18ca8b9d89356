/**
 * The log: lines on descriptor 2, JSON or text. pino is loaded after the application has been started; what is said
 * before that is kept until then.
 *
 * Never through process.stderr: touching that stream makes an inherited pipe non-blocking for the application too.
 * Writing is asynchronous and bounded, so that a reader who has stalled costs lines and not signals.
 */
import type { Logger } from 'pino';
import type { LogLevel } from '../core/state/events.ts';

export interface LogOptions {
  readonly level: LogLevel | 'silent';
  readonly format: 'json' | 'text';
  readonly member: string;
}

export class Log {
  readonly #options: LogOptions;
  #early: { level: LogLevel; message: string; details: object; time: number }[] = [];
  #logger: Logger | undefined;
  #opening: Promise<void> | undefined;
  /** Writes nothing, but lays out the lines that may come. */
  #drafter: Logger | undefined;
  #draft = '';
  /** Lines are on their way to descriptor 2. */
  #isWriting = false;
  #onDrained: () => void = () => {};

  constructor(options: LogOptions) {
    this.#options = options;
  }

  /** Whether lines of this level are written. */
  shows(level: LogLevel): boolean {
    const least = this.#options.level;
    return least !== 'silent' && ORDER.indexOf(level) >= ORDER.indexOf(least);
  }

  say(level: LogLevel, message: string, details: object = {}): void {
    if (!this.shows(level)) return;
    if (this.#logger === undefined) this.#early.push({ level, message, details, time: Date.now() });
    else this.#logger[level]({ ...details, time: new Date().toISOString() }, message);
  }

  /** The line as it is written if it is said at this time, once the log is open; '': it is not shown. */
  lineOf(level: LogLevel, message: string, details: object, time: string): string {
    if (this.#drafter === undefined) throw new Error('internal error: a draft of a log that is not open');
    this.#draft = '';
    if (this.shows(level)) this.#drafter[level]({ ...details, time }, message);
    return this.#draft;
  }

  /** Opens the log and writes down what was said so far. */
  open(): Promise<void> {
    this.#opening ??= this.#open();
    return this.#opening;
  }

  async #open(): Promise<void> {
    const { destination, pino } = await import('pino');
    const sink = destination({ dest: 2, sync: false, maxLength: MAX_PENDING_BYTES });
    // A closed or full descriptor 2 costs lines, nothing else.
    sink.on('error', () => {});
    // pino calls it when this process ends by itself, as by a crash. It would try until it can write: without a reader
    // that is never, and this process would not end.
    sink.flushSync = () => {};
    sink.on('drain', () => {
      this.#isWriting = false;
      this.#onDrained();
    });
    const write = (line: string): boolean => {
      this.#isWriting = true;
      return sink.write(line);
    };
    const { level, format, member } = this.#options;
    const loggerTo = (take: (line: string) => unknown): Logger =>
      pino(
        {
          level,
          base: { member },
          timestamp: false,
          messageKey: 'message',
          formatters: { level: (label) => ({ level: label }) },
        },
        { write: (line: string) => void take(harmless(format === 'json' ? line : textLine(line))) },
      );
    this.#logger = loggerTo(write);
    this.#drafter = loggerTo((line) => {
      this.#draft += line;
    });
    const early = this.#early;
    this.#early = [];
    for (const { level: at, message, details, time } of early) {
      this.#logger[at]({ ...details, time: new Date(time).toISOString() }, message);
    }
  }

  /** Lines are on their way. */
  get isWriting(): boolean {
    return this.#isWriting;
  }

  /** Resolves when all is written, or after `mostMs`. */
  async close(mostMs: number): Promise<void> {
    await this.open();
    if (!this.#isWriting) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, mostMs);
      this.#onDrained = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

const ORDER: readonly LogLevel[] = ['debug', 'info', 'warn', 'error'];
const MAX_PENDING_BYTES = 256 * 1024;

/** `12:04:05.123Z info  web: asked to stop signal=SIGTERM` */
function textLine(line: string): string {
  const { level, time, member, message, ...details } = JSON.parse(line) as Record<string, unknown>;
  const pairs = Object.entries(details).flatMap(([key, value]) => {
    const text = Array.isArray(value) && value.every((it) => typeof it === 'string') ? value.join(',') : value;
    // Objects are for JSON; the message and the summary say the same in words.
    if (typeof text === 'object') return [];
    return [` ${key}=${typeof text === 'string' && !AMBIGUOUS.test(text) ? text : JSON.stringify(text)}`];
  });
  const words = String(message);
  const said = NEEDS_QUOTES.test(words) ? JSON.stringify(words) : words;
  return `${String(time).slice(11)} ${String(level).padEnd(5)} ${member}: ${said}${pairs.join('')}\n`;
}

/**
 * What a hook wrote may have line ends in it, or look like further pairs; a line of the log is one line, and says who
 * said what.
 */
const NEEDS_QUOTES = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;
const AMBIGUOUS = /["=\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;

/** JSON leaves as they are what a terminal still acts on, and what some readers take for the end of a line. */
function harmless(line: string): string {
  return line.replaceAll(/[\x7f-\x9f\p{Cf}\p{Zl}\p{Zp}]/gu, (character) =>
    character
      .split('')
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join(''),
  );
}
