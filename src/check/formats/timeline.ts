/**
 * The predicted stop of a pod as a chart, which text, picture and page draw as they draw reports. Milliseconds since
 * the stop request; what is uncertain is drawn as long as it may last.
 */
import { seconds } from '../../core/format/evidence.ts';
import { cleanText } from '../../core/format/tombstone.ts';
import { axisBetween, type Bar, type Mark, type Paint } from '../../report/bars.ts';
import type { Chart, Note, Row } from '../../report/chart.ts';
import type { Finding } from '../finding.ts';
import { intervalText, secondsText } from '../stop/interval.ts';
import type { ContainerStop, Timeline } from '../stop/timeline.ts';

export function timelineChart({ containers, graceMs }: Timeline, findings: readonly Finding[]): Chart {
  const axis = axisBetween(0, Math.max(graceMs, ...containers.map(lastMs)));
  const notes = findings.flatMap(({ rule, atMs, message }): Note[] =>
    atMs === undefined || atMs > axis.untilMs ? [] : [{ atMs, text: rule, detail: cleanText(message) }],
  );
  return {
    axis,
    rows: containers.map((stop) => rowOf(stop, axis.fromMs)),
    deadline: { atMs: graceMs, text: `grace period over at ${secondsText(graceMs)}` },
    notes: notes.filter(({ atMs, text }, at) => notes.findIndex((n) => n.atMs === atMs && n.text === text) === at),
  };
}

function lastMs({ end, killAt }: ContainerStop): number {
  return Math.min(end.maxMs, killAt.maxMs);
}

function rowOf(stop: ContainerStop, fromMs: number): Row {
  return {
    name: cleanText(stop.name),
    kind: stop.plan.isNative ? 'native' : '',
    bars: barsOf(stop, fromMs),
    marks: marksOf(stop),
    end: endText(stop),
    isBad: stop.killed === 'always',
    isPrediction: false,
  };
}

export function barsOf(stop: ContainerStop, fromMs: number): readonly Bar[] {
  const { hookEnd, term, told, end, plan } = stop;
  const last = lastMs(stop);
  const waiting = plan.waitsFor.length > 0 ? 'hold' : 'drain';
  const ends: readonly (readonly [Paint, string, untilMs: number])[] = [
    ['run', 'running', 0],
    ['pre-stop', 'preStop hook', hookEnd.maxMs],
    ['hold', 'hold', term.maxMs],
    [waiting, waiting, told.maxMs],
    ['stop', 'stopping', Math.max(told.maxMs, end.minMs)],
    ['maybe', 'may still run', last],
  ];
  const bars: Bar[] = [];
  let from = fromMs;
  for (const [paint, name, untilMs] of ends) {
    const until = Math.min(untilMs, last);
    const label = paint === 'maybe' ? name : `${name} ${seconds(until - from)}`;
    if (until > from) bars.push({ paint, fromMs: from, untilMs: until, name, label });
    from = Math.max(from, until);
  }
  return bars;
}

export function marksOf({ killed, killAt }: ContainerStop): readonly Mark[] {
  if (killed === 'never') return [];
  const atMs = killed === 'always' ? killAt.minMs : killAt.maxMs;
  return [{ atMs, text: `KILL, if it has not ended, at ${secondsText(atMs)}`, kind: 'killed' }];
}

export function endText({ killed, end, killAt }: ContainerStop): string {
  if (killed === 'always') return `KILL at ${secondsText(killAt.minMs)}`;
  if (killed === 'never') return `ends by ${secondsText(end.maxMs)}`;
  return `ends, or KILL at ${secondsText(killAt.maxMs)}`;
}

/** `Ends after 0 to 32 s; the grace period is 30 s; KILL is possible: web, envoy`. */
export function timelineSentence({ containers, graceMs, end }: Timeline): string {
  const named = (verdict: ContainerStop['killed']): string =>
    containers
      .filter(({ killed }) => killed === verdict)
      .map(({ name }) => cleanText(name))
      .join(', ');
  const [always, maybe] = [named('always'), named('maybe')];
  return [
    `Ends after ${intervalText(end)}`,
    `the grace period is ${secondsText(graceMs)}`,
    ...(always === '' ? [] : [`KILL is certain: ${always}`]),
    ...(maybe === '' ? [] : [`KILL is possible: ${maybe}`]),
    ...(always + maybe === '' ? ['no KILL'] : []),
  ].join('; ');
}
