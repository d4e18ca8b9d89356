/**
 * A stop as a picture: SVG 1.1 with its own style sheet, light and dark, no script and nothing loaded from elsewhere. Text comes from other
 * containers, so each goes through `escapeXml`.
 */
import { type Activity, type MemberStop, type PodStop, type Span, stopMsOf } from './stop.ts';
import { roundStep } from './time.ts';
import { endOf, nameOf, seconds, sentenceOf } from './words.ts';

const WIDTH = 960;
const LEFT = 170;
const RIGHT = 150;
const ROW = 34;
const BAR = 20;
const TOP = 84;
const BOTTOM = 62;
/** Narrower spans have no room for their name. */
const CHARACTER = 7.2;
const MAX_NAME = 18;

/** One pod's stop as a whole SVG document. */
export function podSvg(pod: PodStop): string {
  const height = TOP + pod.members.length * ROW + BOTTOM;
  const scale = scaleOf(pod);
  const rows = pod.members.map((member, index) => row(member, TOP + index * ROW, scale));
  const body = [
    `<title>${escapeXml(titleOf(pod))}</title>`,
    `<style>${STYLE}</style>`,
    `<rect class="paper" width="${WIDTH}" height="${height}"/>`,
    `<text class="title" x="16" y="28">${escapeXml(cut(pod.pod === '' ? 'How the pod stopped' : `How ${pod.pod} stopped`, 90))}</text>`,
    `<text class="sentence" x="16" y="50">${escapeXml(cut(sentenceOf(pod), 125))}</text>`,
    ...grid(scale, height),
    ...rows,
    ...deadline(pod, scale, height),
    legend(pod, height - 16),
  ];
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img">\n${body.join('\n')}\n</svg>\n`;
}

export function titleOf(pod: PodStop): string {
  return `${pod.pod === '' ? 'The pod' : `Pod ${pod.pod}`}: ${sentenceOf(pod)}`;
}

/** For text and for attribute values in double quotes. */
export function escapeXml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

const STYLE = `
.paper{fill:#fff}text{font:13px system-ui,sans-serif;fill:#24292f}.title{font-size:17px;font-weight:600}.sentence,.small{fill:#57606a}
.small{font-size:11px}.in{font-size:11px;fill:#fff;text-anchor:middle}.grid{stroke:#d0d7de}.deadline{stroke:#cf222e;stroke-dasharray:4 3}
.late{fill:#cf222e}.run{fill:#d0d7de}.wait{fill:#d0d7de}.hold{fill:#218bff}.drain{fill:#0969da}.linger{fill:#1b7c83}.pre-stop{fill:#8250df}
.stop{fill:#bf8700}.kill{fill:#cf222e}.rest{fill:#9a6700}.mark{stroke:#24292f;stroke-width:1.5}
@media(prefers-color-scheme:dark){.paper{fill:#0d1117}text{fill:#e6edf3}.sentence,.small{fill:#9198a1}.grid{stroke:#30363d}.run,.wait{fill:#3d444d}.mark{stroke:#e6edf3}.late{fill:#ff7b72}.deadline{stroke:#ff7b72}}
@media print{.paper{fill:#fff}}`.trim();

interface Scale {
  readonly fromMs: number;
  readonly zeroMs: number;
  readonly untilMs: number;
}

function scaleOf(pod: PodStop): Scale {
  const lengthMs = Math.max(1, stopMsOf(pod));
  const isNear = pod.deadlineMs !== undefined && pod.deadlineMs - pod.beganMs <= 2 * lengthMs;
  const untilMs = Math.max(pod.endedMs, isNear && pod.deadlineMs !== undefined ? pod.deadlineMs : pod.endedMs);
  return {
    fromMs: pod.beganMs - (untilMs - pod.beganMs) / 10,
    zeroMs: pod.beganMs,
    untilMs: Math.max(untilMs, pod.beganMs + 1),
  };
}

function x({ fromMs, untilMs }: Scale, atMs: number): number {
  const share = (Math.min(Math.max(atMs, fromMs), untilMs) - fromMs) / (untilMs - fromMs);
  return round(LEFT + share * (WIDTH - LEFT - RIGHT));
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

function grid(scale: Scale, height: number): readonly string[] {
  const step = roundStep((scale.untilMs - scale.zeroMs) / 6);
  const lines: string[] = [];
  for (let atMs = 0; scale.zeroMs + atMs <= scale.untilMs; atMs += step) {
    const at = x(scale, scale.zeroMs + atMs);
    lines.push(`<line class="grid" x1="${at}" x2="${at}" y1="${TOP - 8}" y2="${height - BOTTOM + 8}"/>`);
    lines.push(
      `<text class="small" x="${at}" y="${TOP - 13}" text-anchor="middle">${atMs === 0 ? '0' : seconds(atMs)}</text>`,
    );
  }
  return lines;
}

function row(member: MemberStop, y: number, scale: Scale): string {
  const role = member.role === 'sidecar' ? 'sidecar' : '';
  const bars = member.spans.map((span) => bar(span, y, scale));
  const end = member.forcedBy === undefined ? endOf(member) : `${endOf(member)}, KILL`;
  const isLate = member.forcedBy !== undefined;
  return [
    `<g><text x="16" y="${y + 15}">${escapeXml(cut(member.name, MAX_NAME))}<tspan class="small" dx="6">${role}</tspan></text>`,
    ...bars,
    `<text class="${isLate ? 'late' : 'small'}" x="${WIDTH - RIGHT + 12}" y="${y + 15}">${escapeXml(cut(end, 20))}</text></g>`,
  ].join('\n');
}

function bar(span: Span, y: number, scale: Scale): string {
  const [from, until] = [x(scale, span.fromMs), x(scale, span.untilMs)];
  if (span.untilMs < scale.fromMs || span.activity === 'wait') return '';
  const width = round(Math.max(2, until - from));
  const name = nameOf(span);
  const what = `${name} ${seconds(span.untilMs - span.fromMs)}`;
  const label = [what, name].find((text) => text.length * CHARACTER <= width);
  const text =
    label === undefined || span.activity === 'run'
      ? ''
      : `<text class="in" x="${round(from + width / 2)}" y="${y + 14}">${escapeXml(label)}</text>`;
  return `<rect class="${span.activity}" x="${from}" y="${y}" width="${width}" height="${BAR}"><title>${escapeXml(what)}</title></rect>${text}`;
}

function deadline(pod: PodStop, scale: Scale, height: number): readonly string[] {
  if (pod.deadlineMs === undefined) return [];
  const text = `deadline ${seconds(pod.deadlineMs - pod.beganMs)}`;
  const y = height - BOTTOM + 22;
  if (pod.deadlineMs > scale.untilMs)
    return [`<text class="small" x="${WIDTH - RIGHT}" y="${y}" text-anchor="end">${text} ›</text>`];
  const at = x(scale, pod.deadlineMs);
  return [
    `<line class="deadline" x1="${at}" x2="${at}" y1="${TOP - 8}" y2="${y - 12}"/>`,
    `<text class="small" x="${at}" y="${y}" text-anchor="end">${text}</text>`,
  ];
}

function legend({ members }: PodStop, y: number): string {
  const used = new Set(members.flatMap(({ spans }) => spans.map(({ activity }) => activity)));
  let at = 16;
  const entries = LEGEND.filter(([activity]) => used.has(activity)).map(([activity, text]) => {
    const entry = `<rect class="${activity}" x="${at}" y="${y - 10}" width="12" height="12"/><text class="small" x="${at + 17}" y="${y}">${text}</text>`;
    at += 17 + text.length * 6 + 22;
    return entry;
  });
  return entries.join('');
}

const LEGEND: readonly (readonly [Activity, string])[] = [
  ['run', 'running'],
  ['hold', 'hold: it serves until others have ended'],
  ['drain', 'drain'],
  ['linger', 'linger'],
  ['pre-stop', 'pre-stop hook'],
  ['stop', 'after a stop signal'],
  ['kill', 'after KILL'],
  ['rest', 'left-over processes'],
];

function cut(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, max - 1)}…`;
}
