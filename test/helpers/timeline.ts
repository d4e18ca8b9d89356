/**
 * Reads the log that the members of a pod share, and asserts the order of what they did.
 *
 * A line is `<CLOCK_MONOTONIC ms> <name> <event> [detail]`; the file's order is the order in which things happened.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { waitFor } from './wait.ts';

export interface LogEvent {
  readonly index: number;
  readonly atMs: number;
  readonly name: string;
  readonly event: string;
  readonly detail: string;
}

export interface Timeline {
  readonly events: readonly LogEvent[];
  of(name: string, event?: string): LogEvent[];
  /** The first such event; fails when there is none. */
  at(name: string, event: string): LogEvent;
  last(name: string, event: string): LogEvent;
  /** `a` said `Started` before the first life of `b` began. */
  startsBefore(a: string, b: string): void;
  /** `a` ended for good before the first life of `b` began. */
  endsBeforeStartOf(a: string, b: string): void;
  /** `a` ended for good before `b` did. */
  exitsBefore(a: string, b: string): void;
  /** `a` ended for good before `b` was asked to stop. */
  exitsBeforeSignalTo(a: string, b: string): void;
  /** There was a moment at which both had started and neither had ended. */
  runTogether(a: string, b: string): void;
  restarted(name: string): void;
  notRestarted(name: string): void;
  neverStarted(name: string): void;
  /** The numbers of the signals that `name` got, in order. */
  signals(name: string): number[];
  toString(): string;
}

export function readTimeline(path: string): Timeline {
  return parseTimeline(readOrEmpty(path));
}

export function parseTimeline(text: string): Timeline {
  const events = text.split('\n').slice(0, -1).map(parseLine);
  const of = (name: string, event?: string): LogEvent[] =>
    events.filter((it) => it.name === name && (event === undefined || it.event === event));
  const pick = (name: string, event: string, index: number): LogEvent => {
    const found = of(name, event).at(index);
    assert.ok(found, `${name} has no event ${event} in\n${text}`);
    return found;
  };
  const at = (name: string, event: string): LogEvent => pick(name, event, 0);
  const last = (name: string, event: string): LogEvent => pick(name, event, -1);
  const ordered = (first: LogEvent, second: LogEvent): void =>
    assert.ok(first.index < second.index, `${show(first)} does not come before ${show(second)} in\n${text}`);
  const lives = (name: string): number => of(name, 'Starting').length;
  return {
    events,
    of,
    at,
    last,
    startsBefore: (a, b) => ordered(at(a, 'Started'), at(b, 'Starting')),
    endsBeforeStartOf: (a, b) => ordered(last(a, 'Exiting'), at(b, 'Starting')),
    exitsBefore: (a, b) => ordered(last(a, 'Exiting'), last(b, 'Exiting')),
    exitsBeforeSignalTo: (a, b) => ordered(last(a, 'Exiting'), at(b, 'Signal')),
    runTogether: (a, b) => {
      ordered(at(a, 'Started'), last(b, 'Exiting'));
      ordered(at(b, 'Started'), last(a, 'Exiting'));
    },
    restarted: (name) => assert.ok(lives(name) > 1, `${name} was not started again in\n${text}`),
    notRestarted: (name) => assert.equal(lives(name), 1, `${name} was not started exactly once in\n${text}`),
    neverStarted: (name) => assert.equal(lives(name), 0, `${name} was started in\n${text}`),
    signals: (name) => of(name, 'Signal').map((it) => Number(it.detail)),
    toString: () => text,
  };
}

export function waitForEvent(path: string, name: string, event: string, count = 1): Promise<LogEvent> {
  return waitFor(`${name} ${event} (${count})`, () => readTimeline(path).of(name, event)[count - 1]);
}

function parseLine(line: string, index: number): LogEvent {
  const [at = '', name = '', event = '', ...detail] = line.split(' ');
  assert.match(at, /^\d+\.\d{3}$/, `a line of the log is damaged: ${line}`);
  return { index, atMs: Number(at), name, event, detail: detail.join(' ') };
}

function show(event: LogEvent): string {
  return `'${event.name} ${event.event}${event.detail && ` ${event.detail}`}' (${event.atMs})`;
}

function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
