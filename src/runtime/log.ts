/**
 * The log: lines on descriptor 2, JSON or text. Written here and not by a library, as each wake of the supervisor would
 * load it before it can decide anything.
 *
 * Never through process.stderr: touching that stream makes an inherited pipe non-blocking for the application too.
 * Writing is asynchronous and bounded, so that a reader who has stalled costs lines and not signals.
 */
import type { LogLevel } from '../core/state/events.ts';
import { LineWriter } from './line-writer.ts';

export interface LogOptions {
  readonly level: LogLevel | 'silent';
  readonly format: 'json' | 'text';
  readonly member: string;
}

export class Log {
  readonly #options: LogOptions;
  readonly #writer = new LineWriter(2);

  constructor(options: LogOptions) {
    this.#options = options;
  }

  /** Whether lines of this level are written. */
  shows(level: LogLevel): boolean {
    const least = this.#options.level;
    return least !== 'silent' && ORDER.indexOf(level) >= ORDER.indexOf(least);
  }

  say(level: LogLevel, message: string, details: object = {}): void {
    const line = this.lineOf(level, message, details, new Date().toISOString());
    if (line !== '') this.#writer.write(line);
  }

  /** The line as it is written if it is said at this time; '': it is not shown. */
  lineOf(level: LogLevel, message: string, details: object, time: string): string {
    if (!this.shows(level)) return '';
    const { member, format } = this.#options;
    const line = `${JSON.stringify({ level, member, ...details, time, message })}\n`;
    return harmless(format === 'json' ? line : textLine(line));
  }

  /** Lines are on their way. */
  get isWriting(): boolean {
    return this.#writer.isWriting;
  }

  /** Resolves when all is written, or after `mostMs`. */
  flush(mostMs: number): Promise<void> {
    return this.#writer.drained(mostMs);
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
