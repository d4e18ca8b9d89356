/**
 * Sums metrics in the text formats of Prometheus, 0.0.4 and OpenMetrics, as they arrive. Lines of other metrics are
 * skipped unread. A line of a metric that counts must be right: a guess could end a request.
 */
import type { Metric } from '../../core/config.ts';
import { printable } from './detail.ts';

export class Exposition {
  /** Why there is no sum; the first reason stays. */
  problem: string | undefined;
  readonly #metrics: readonly Metric[];
  readonly #missing: Set<Metric>;
  #rest = NOTHING;
  #sum = 0;
  #isEof = false;

  constructor(metrics: readonly Metric[]) {
    this.#metrics = metrics;
    this.#missing = new Set(metrics);
  }

  take(chunk: Buffer): void {
    let from = 0;
    for (let at = chunk.indexOf(LINE_FEED); at >= 0; at = chunk.indexOf(LINE_FEED, from)) {
      this.#keep(chunk.subarray(from, at));
      this.#readLine();
      from = at + 1;
    }
    this.#keep(chunk.subarray(from));
  }

  /** `isBounded`: a last line without its end is complete all the same. `needsEof`: so OpenMetrics ends. */
  end(isBounded: boolean, needsEof = false): { readonly problem: string | undefined; readonly sum: number } {
    if (this.#rest.length > 0 && !isBounded) this.problem ??= 'malformed answer: its last line has no end';
    if (this.#rest.length > 0) this.#readLine();
    if (needsEof && !this.#isEof) this.problem ??= 'malformed answer: its # EOF is missing';
    const [missing] = this.#missing;
    if (missing !== undefined) this.problem ??= printable(`no metric ${nameOf(missing)}`);
    if (!Number.isFinite(this.#sum)) this.problem ??= 'malformed answer: its sum is not a number';
    return { problem: this.problem, sum: this.#sum };
  }

  #keep(part: Buffer): void {
    if (this.#rest.length + part.length <= MAX_LINE_BYTES) this.#rest = Buffer.concat([this.#rest, part]);
    else this.problem ??= 'malformed answer: one of its lines is too long';
  }

  #readLine(): void {
    const line = this.#rest.toString('utf8');
    this.#isEof = /^# EOF\r?$/.test(line);
    this.#rest = NOTHING;
    const name = /^[ \t]*([A-Za-z_:][\w:]*)/.exec(line);
    const those = this.#metrics.filter((metric) => metric.name === name?.[1]);
    if (name === null || those.length === 0) return;
    const { labels, value } = readSample(line.slice(name[0].length));
    for (const metric of those) {
      if (labels !== undefined && !metric.labels.every(([label, is]) => (labels.get(label) ?? '') === is)) continue;
      if (!(value >= 0)) this.problem ??= printable(`malformed answer: ${line}`);
      this.#missing.delete(metric);
      this.#sum += value;
    }
  }
}

const LINE_FEED = 0x0a;
const MAX_LINE_BYTES = 65_536;
const NOTHING = Buffer.alloc(0);

interface Sample {
  /** undefined: they are malformed. */
  readonly labels: ReadonlyMap<string, string> | undefined;
  /** NaN: it is malformed, or no finite number. */
  readonly value: number;
}

/** What follows a name: labels, a value, and perhaps a time and an exemplar. */
function readSample(text: string): Sample {
  const labels = new Map<string, string>();
  const begin = /^[ \t]*\{[ \t]*/.exec(text);
  LABEL.lastIndex = begin?.[0].length ?? 0;
  let at = LABEL.lastIndex;
  for (let pair = begin && LABEL.exec(text); pair !== null; pair = LABEL.exec(text)) {
    labels.set(pair[1] ?? '', unescaped(pair[2] ?? ''));
    at = LABEL.lastIndex;
  }
  if (begin !== null && text[at] !== '}') return { labels: undefined, value: Number.NaN };
  const [, value = ''] = SAMPLE.exec(text.slice(begin === null ? 0 : at + 1)) ?? [];
  // A double has no number below 5e-324.
  const isZero = /^[+-]?[0.]+(?:e|$)/i.test(value);
  return { labels, value: Number(value) === 0 && !isZero ? Number.NaN : Number(value) };
}

const LABEL = /([A-Za-z_]\w*)[ \t]*=[ \t]*"((?:[^"\\]|\\.)*)"[ \t]*(?:,[ \t]*|(?=\}))/y;
/** NaN and infinities do not match: no number of requests is one. */
const SAMPLE =
  /^[ \t]*([+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)(?:[ \t]+[+-]?[\d.]+(?:[eE][+-]?\d+)?)?[ \t\r]*(?:#.*)?$/s;

function unescaped(text: string): string {
  return text.replace(/\\(.)/g, (_, character: string) => (character === 'n' ? '\n' : character));
}

function nameOf({ name, labels }: Metric): string {
  return labels.length === 0 ? name : `${name}{${labels.map(([label, value]) => `${label}=${value}`).join(',')}}`;
}
