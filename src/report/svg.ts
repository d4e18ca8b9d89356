/**
 * A stop as a picture: SVG 1.1 with its own style sheet, light and dark, no script and nothing loaded from elsewhere.
 * Text comes from other containers, so each goes through `escapeXml`.
 */
import { type Axis, axisOf, isShown, shareOf, ticksOf } from './axis.ts';
import type { Activity, MemberStop, PodStop, Span } from './stop.ts';
import { endText, nameOf, seconds, sentenceOf, shorten } from './words.ts';

const WIDTH = 960;
const MARGIN = 16;
const ROW = 32;
const BAR = 20;
const LINE = 20;
/** A character's width in pixels in a wide font: in a bar, at 13 px, and at 11 px. */
const IN_BAR = 7;
const NORMAL = 7.6;
const SMALL = 6.6;
const MAX_NAME = 20;
const MAX_END = 36;
const MAX_TICKS = 6;

/** One pod's stop as a whole SVG document. */
export function podSvg(pod: PodStop): string {
  const frame = frameOf(pod, axisOf(pod));
  const sentence = wrap(sentenceOf(pod), Math.floor((WIDTH - 2 * MARGIN) / NORMAL));
  const top = 64 + sentence.length * LINE;
  const foot = top + pod.members.length * ROW;
  const key = legend(pod, foot + 46);
  const height = key.bottom + MARGIN;
  const body = [
    `<title>${escapeXml(titleOf(pod))}: ${escapeXml(sentenceOf(pod))}</title>`,
    `<style>${STYLE}</style>`,
    `<rect class="paper" width="${WIDTH}" height="${height}"/>`,
    `<text class="title" x="${MARGIN}" y="30">${escapeXml(shorten(titleOf(pod), 80))}</text>`,
    ...sentence.map(
      (line, index) => `<text class="soft" x="${MARGIN}" y="${53 + index * LINE}">${escapeXml(line)}</text>`,
    ),
    ...grid(frame, top, foot),
    ...pod.members.map((member, index) => row(member, top + index * ROW, frame)),
    ...deadline(pod, frame, top, foot),
    ...key.items,
  ];
  const size = `width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}"`;
  return `<svg xmlns="http://www.w3.org/2000/svg" ${size} role="img">\n${body.join('\n')}\n</svg>\n`;
}

export function titleOf(pod: PodStop): string {
  return pod.pod === '' ? 'How the pod stopped' : `How ${pod.pod} stopped`;
}

/** For text and for attribute values in double quotes. */
export function escapeXml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** Fills with enough contrast for what stands in them, 4.5 to 1 and more, light and dark. */
export const COLOURS = `
.run{fill:#d0d7de}.hold{fill:#b6dcff}.drain{fill:#0969da}.linger{fill:#1b7c83}.pre-stop{fill:#8250df}.stop{fill:#9a6700}.kill{fill:#cf222e}
.rest{fill:#6e7781}text.in{font-size:11px;fill:#fff;text-anchor:middle}text.in-hold{fill:#0a3069}.grid{stroke:#d0d7de}
.deadline{stroke:#cf222e;stroke-dasharray:4 3}.mark{fill:#24292f}
@media(prefers-color-scheme:dark){.run{fill:#3d444d}.hold{fill:#143d70}text.in-hold{fill:#cae8ff}.grid{stroke:#3d444d}.deadline{stroke:#ff7b72}
.mark{fill:#e6edf3}}`.trim();

const STYLE = `
text{font:13px system-ui,-apple-system,'Segoe UI',sans-serif;fill:#24292f}text.title{font-size:17px;font-weight:600}
text.soft{fill:#57606a}text.small,tspan{font-size:11px;fill:#57606a}text.bad{font-size:11px;fill:#cf222e}.paper{fill:#fff}
${COLOURS}
@media(prefers-color-scheme:dark){.paper{fill:#0d1117}text{fill:#e6edf3}text.soft,text.small,tspan{fill:#9198a1}text.bad{fill:#ff7b72}}`.trim();

/** Where the bars are: what is left between the names and the ends. */
interface Frame {
  readonly axis: Axis;
  readonly left: number;
  readonly right: number;
}

function frameOf({ members }: PodStop, axis: Axis): Frame {
  const names = members.map(
    ({ name, role }) => shorten(name, MAX_NAME).length * NORMAL + (role === 'sidecar' ? 56 : 0),
  );
  const ends = members.map((member) => shorten(endText(member), MAX_END).length * SMALL);
  return {
    axis,
    left: Math.ceil(MARGIN + Math.max(...names) + 14),
    right: WIDTH - Math.ceil(MARGIN + Math.max(...ends) + 12),
  };
}

function x({ axis, left, right }: Frame, atMs: number): number {
  return round(left + shareOf(axis, atMs) * (right - left));
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

function grid(frame: Frame, top: number, foot: number): readonly string[] {
  return ticksOf(frame.axis, MAX_TICKS).flatMap(({ atMs, text }) => {
    const at = x(frame, atMs);
    return [
      `<line class="grid" x1="${at}" x2="${at}" y1="${top - 8}" y2="${foot}"/>`,
      `<text class="small" x="${at}" y="${top - 13}" text-anchor="middle">${text}</text>`,
    ];
  });
}

function row(member: MemberStop, y: number, frame: Frame): string {
  const { axis, right } = frame;
  const role = member.role === 'sidecar' ? '<tspan dx="6">sidecar</tspan>' : '';
  const kind = member.forcedBy === undefined ? 'small' : 'bad';
  return [
    `<g><text x="${MARGIN}" y="${y + 15}">${escapeXml(shorten(member.name, MAX_NAME))}${role}</text>`,
    ...member.spans.filter((span) => isShown(axis, span)).map((span) => bar(span, y, frame)),
    ...signalsOf(member, axis).map(({ atMs, text }) => mark(x(frame, atMs), y, text)),
    `<text class="${kind}" x="${right + 12}" y="${y + 15}">${escapeXml(shorten(endText(member), MAX_END))}</text></g>`,
  ].join('\n');
}

function bar(span: Span, y: number, frame: Frame): string {
  const [from, until] = [x(frame, span.fromMs), x(frame, span.untilMs)];
  const width = round(Math.max(2, until - from));
  const what = labelOf(span);
  const label = [what, nameOf(span)].find((text) => text.length * IN_BAR <= width - 4);
  const text =
    label === undefined || span.activity === 'run'
      ? ''
      : `<text class="in in-${span.activity}" x="${round(from + width / 2)}" y="${y + 14}">${escapeXml(label)}</text>`;
  const at = Math.min(from, frame.right - width);
  return `<rect class="${span.activity}" x="${round(at)}" y="${y}" width="${width}" height="${BAR}"><title>${escapeXml(what)}</title></rect>${text}`;
}

/** `drain 4.2 s`. */
export function labelOf(span: Span): string {
  return `${nameOf(span)} ${seconds(span.untilMs - span.fromMs)}`;
}

/** The signals that are on the axis, one for each moment. */
export function signalsOf(
  { marks }: MemberStop,
  axis: Axis,
): readonly { readonly atMs: number; readonly text: string }[] {
  const shown = marks.filter(({ isSignal, atMs }) => isSignal && atMs >= axis.fromMs && atMs <= axis.untilMs);
  const moments = Map.groupBy(shown, ({ atMs }) => Math.round(shareOf(axis, atMs) * 500));
  return [...moments.values()].map((group) => ({
    atMs: group[0]?.atMs ?? 0,
    text: [...new Set(group.map(({ text }) => text))].join(', '),
  }));
}

function mark(at: number, y: number, text: string): string {
  const shape = `M${round(at - 4)} ${y - 6}h8l-4 6z`;
  return `<path class="mark" d="${shape}"><title>${escapeXml(text)}</title></path>`;
}

function deadline(pod: PodStop, frame: Frame, top: number, foot: number): readonly string[] {
  if (pod.deadlineMs === undefined) return [];
  const y = foot + 16;
  if (pod.deadlineMs > frame.axis.untilMs)
    return [`<text class="small" x="${frame.right}" y="${y}" text-anchor="end">${deadlineText(pod)} →</text>`];
  const at = x(frame, pod.deadlineMs);
  return [
    `<line class="deadline" x1="${at}" x2="${at}" y1="${top - 8}" y2="${foot + 4}"/>`,
    `<text class="bad" x="${at}" y="${y}" text-anchor="${at > WIDTH / 2 ? 'end' : 'start'}">${deadlineText(pod)}</text>`,
  ];
}

export function deadlineText({ deadlineMs, beganMs }: PodStop): string {
  return deadlineMs === undefined ? '' : `deadline at ${seconds(deadlineMs - beganMs)}`;
}

function legend(pod: PodStop, top: number): { readonly items: readonly string[]; readonly bottom: number } {
  let [at, y] = [MARGIN, top];
  const items = legendOf(pod).map(([activity, text]) => {
    const width = 17 + Math.ceil(text.length * SMALL) + 14;
    if (at + width > WIDTH) [at, y] = [MARGIN, y + LINE];
    const shape =
      activity === 'mark'
        ? `<path class="mark" d="M${at + 2} ${y - 7}h8l-4 6z"/>`
        : `<rect class="${activity}" x="${at}" y="${y - 10}" width="12" height="12"/>`;
    const item = `${shape}<text class="small" x="${at + 17}" y="${y}">${text}</text>`;
    at += width;
    return item;
  });
  return { items, bottom: y };
}

/** What the picture of this pod shows, in words. */
export function legendOf(pod: PodStop): readonly (readonly [Activity | 'mark', string])[] {
  const axis = axisOf(pod);
  const used = new Set<string>(pod.members.flatMap(({ spans }) => spans.map(({ activity }) => activity)));
  if (pod.members.some((member) => signalsOf(member, axis).length > 0)) used.add('mark');
  return LEGEND.filter(([activity]) => used.has(activity));
}

const LEGEND: readonly (readonly [Activity | 'mark', string])[] = [
  ['run', 'running'],
  ['hold', 'hold: serving until other members have ended'],
  ['drain', 'drain'],
  ['linger', 'linger'],
  ['pre-stop', 'pre-stop hook'],
  ['stop', 'after a stop signal'],
  ['kill', 'after KILL'],
  ['rest', 'leftover processes'],
  ['mark', 'a signal'],
];

function wrap(text: string, columns: number): readonly string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const line = lines.pop();
    const longer = line === undefined ? word : `${line} ${word}`;
    if (line === undefined || longer.length <= columns) lines.push(shorten(longer, columns));
    else lines.push(line, shorten(word, columns));
  }
  return lines.length <= MAX_LINES
    ? lines
    : [...lines.slice(0, MAX_LINES - 1), shorten(lines.slice(MAX_LINES - 1).join(' '), columns)];
}

const MAX_LINES = 3;
