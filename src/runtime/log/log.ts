/**
 * The log: lines on descriptor 2, JSON or text. pino lays them out. It is loaded once the supervisor has acted on what
 * it was started for; until then lines wait in a list.
 *
 * Nothing here touches process.stderr: that would make an inherited pipe non-blocking for the application too. Writing
 * is asynchronous and bounded, so a reader that has stalled costs lines and never holds up a signal.
 */
import type { pino as Pino } from 'pino';
import type { LogLevel } from '../../core/state/events.ts';
import { LineWriter } from './line-writer.ts';

export interface LogOptions {
  readonly level: LogLevel | 'silent';
  readonly format: 'json' | 'text';
  readonly member: string;
}

interface Line {
  readonly level: LogLevel;
  readonly message: string;
  readonly details: object;
  readonly time: string;
}

/** Lines wait no longer than this for a supervisor that is kept from acting, as by a graveyard that hangs. */
const MOST_WAITING_MS = 1_000;

export class Log {
  readonly #options: LogOptions;
  readonly #writer = new LineWriter(2);
  #waiting: Line[] = [];
  #isOpen = false;
  #loading: Promise<void> | undefined;
  #write: ((line: Line) => void) | undefined;

  constructor(options: LogOptions) {
    this.#options = options;
  }

  shows(level: LogLevel): boolean {
    const least = this.#options.level;
    return least !== 'silent' && ORDER.indexOf(level) >= ORDER.indexOf(least);
  }

  say(level: LogLevel, message: string, details: object = {}): void {
    if (!this.shows(level)) return;
    const line = { level, message, details, time: new Date().toISOString() };
    if (this.#write !== undefined) return this.#write(line);
    if (this.#waiting.push(line) === 1) this.#beginWaiting();
    if (this.#isOpen) this.#load();
  }

  /** The line as it is written if it is said at this time; '': it is not shown. */
  lineOf(level: LogLevel, message: string, details: object, time: string): string {
    if (!this.shows(level)) return '';
    const { member } = this.#options;
    return this.#formatted(`${JSON.stringify({ level, member, ...details, time, message })}\n`);
  }

  /** The beginning of a line to which the host adds time and details; empty: the line is not shown. */
  openLine(level: LogLevel, message: string): string {
    const { member, format } = this.#options;
    if (!this.shows(level)) return '';
    if (format === 'text') return ` ${level.padEnd(5)} ${member}: ${message}`;
    return JSON.stringify({ level, member, message }).slice(0, -1);
  }

  /** The supervisor has acted: from now on the first line that is shown loads pino. */
  open(): void {
    this.#isOpen = true;
    if (this.#waiting.length > 0) this.#load();
  }

  get isWriting(): boolean {
    return this.#waiting.length > 0 || this.#writer.isWriting;
  }

  /** Resolves when all is written, or after `mostMs`. An end or a sleep does not wait for pino. */
  flush(mostMs: number): Promise<void> {
    for (const line of this.#takeWaiting()) this.#writePlain(line);
    return this.#writer.drained(mostMs);
  }

  #beginWaiting(): void {
    process.once('exit', this.#onExit);
    setTimeout(() => this.open(), MOST_WAITING_MS).unref();
  }

  #load(): void {
    this.#loading ??= this.#loadPino();
  }

  /** Without pino, as when the directory of sexton was removed, lines are the same. */
  async #loadPino(): Promise<void> {
    const write = await import('pino').then(
      ({ pino }) => this.#writeBy(pino),
      () => (line: Line) => this.#writePlain(line),
    );
    this.#write = write;
    for (const line of this.#takeWaiting()) write(line);
  }

  #writeBy(pino: typeof Pino): (line: Line) => void {
    const { level: least, member } = this.#options;
    const options = {
      level: least,
      base: { member },
      timestamp: false,
      messageKey: 'message',
      formatters: { level: (label: string) => ({ level: label }) },
    };
    const logger = pino(options, { write: (line: string) => this.#writer.write(this.#formatted(line)) });
    return ({ level, message, details, time }) => logger[level]({ ...details, time }, message);
  }

  /** The process ends before pino was loaded, perhaps by an exception. */
  readonly #onExit = (): void => {
    for (const line of this.#takeWaiting()) this.#writer.writeNow(this.#plainLine(line));
  };

  #takeWaiting(): readonly Line[] {
    const lines = this.#waiting;
    this.#waiting = [];
    process.removeListener('exit', this.#onExit);
    return lines;
  }

  #writePlain(line: Line): void {
    this.#writer.write(this.#plainLine(line));
  }

  #plainLine({ level, message, details, time }: Line): string {
    return this.lineOf(level, message, details, time);
  }

  #formatted(line: string): string {
    return harmless(this.#options.format === 'json' ? line : textLine(line));
  }
}

const ORDER: readonly LogLevel[] = ['debug', 'info', 'warn', 'error'];

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

/** A hook's output may contain line ends or look like further pairs, but a line of the log stays one line. */
const NEEDS_QUOTES = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;
const AMBIGUOUS = /["=\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;

/**
 * JSON does not escape some characters that a terminal still acts on, or that some readers take for the end of a line.
 * The logger pino also leaves halves of a surrogate pair.
 */
export function harmless(line: string): string {
  return line.replaceAll(/[\x7f-\x9f\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, (character) =>
    character
      .split('')
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join(''),
  );
}
