/**
 * What tells whether the application is idle: `http://:8000/idle`, `http://:8000/metrics,metric=running+waiting`,
 * `exec:CMD`, `file:PATH`, `file:!PATH`, `notify`, `preset:NAME`. Options of time follow as for probes.
 */
import type { GaugeAction, IdleCheck, Metric } from '../../../core/config.ts';
import { formatDuration, parseDuration, parseSomeTime } from '../duration.ts';
import { didYouMean, nearest } from '../nearest.ts';
import { type Option, splitPlain } from '../options.ts';
import { bad, good, notAbsolute, type Parse, show, unexpanded } from '../parse.ts';
import { type ActionRules, formatAction, parseActionText, parsePort } from './action.ts';
import { IDLE_PRESETS } from './idle-presets.ts';

export function parseIdleCheck(text: string): Parse<IdleCheck> {
  if (text.startsWith('preset:')) return parsePreset(text);
  if (text.startsWith('file:')) return parseFile(text);
  if (/^notify(,|$)/.test(text)) return parseNotify(text);
  const parsed = parseActionText(text, RULES);
  if (!parsed.ok) return parsed;
  const { action, options } = parsed.value;
  const given = options.find(({ name }) => name === 'metric');
  if (action.kind === 'exec') {
    return given === undefined ? withTimes(action, options) : bad('metric= belongs to http://; leave it out');
  }
  if (action.kind !== 'http') return bad(`is not an idle check; write one such as ${RULES.example}`);
  const metrics = given === undefined ? good([]) : parseMetrics(given.text);
  return metrics.ok ? withTimes({ kind: 'gauge', call: action, metrics: metrics.value }, options) : metrics;
}

/** The options that differ from the defaults follow the action. */
export function formatIdleCheck({ action, ...times }: IdleCheck): string {
  const given = Object.entries(TIMES).flatMap(([name, { field }]): readonly Option[] =>
    times[field] === DEFAULTS[field] ? [] : [{ name, text: formatDuration(times[field]) }],
  );
  switch (action.kind) {
    case 'exec':
      return formatAction(action, given);
    case 'file': {
      const options = given.map(({ name, text }) => `,${name}=${text}`).join('');
      return `file:${action.idle === 'present' ? '!' : ''}${action.path}${options}`;
    }
    case 'notify':
      return ['notify', ...given.map(({ name, text }) => `${name}=${text}`)].join();
    case 'gauge':
      return formatAction(action.call, [...metricOption(action), ...given]);
    default:
      return action satisfies never;
  }
}

const DEFAULTS = { periodMs: 1_000, timeoutMs: 1_000, forMs: 2_000, staleMs: 0 };
const TIMES = {
  period: { field: 'periodMs', parse: parseSomeTime },
  timeout: { field: 'timeoutMs', parse: parseSomeTime },
  for: { field: 'forMs', parse: parseDuration },
  stale: { field: 'staleMs', parse: parseDuration },
} as const;

const EXAMPLE = 'http://:8000/metrics,metric=running+waiting';
const TIME_OPTIONS = { known: Object.keys(TIMES), refused: {} };
const RULES: ActionRules = {
  what: 'an idle check',
  schemes: ['exec', 'http', 'https'],
  methods: ['GET'],
  example: `${EXAMPLE}, exec:CMD, file:PATH, notify or preset:vllm`,
  options: { known: ['metric', ...TIME_OPTIONS.known], refused: {} },
};

function withTimes(action: IdleCheck['action'], options: readonly Option[]): Parse<IdleCheck> {
  const times = { ...DEFAULTS };
  for (const [name, { field, parse }] of Object.entries(TIMES)) {
    const text = options.find((option) => option.name === name)?.text;
    if (text === undefined) continue;
    const time = parse(text);
    if (!time.ok) return bad(`${name}=${show(text)}: ${time.why}`);
    times[field] = time.value;
  }
  return good({ action, ...times });
}

function parseFile(text: string): Parse<IdleCheck> {
  const split = splitPlain(text.slice('file:'.length), TIME_OPTIONS);
  if (!split.ok) return split;
  const { head, options } = split.value;
  // Such a file would never be there, and a busy application would seem idle.
  const slip = unexpanded(head);
  if (slip !== undefined) return bad(slip);
  const path = head.replace(/^!/, '');
  if (!path.startsWith('/')) return notAbsolute(path, 'file:/run/busy');
  return withTimes({ kind: 'file', path, idle: path === head ? 'absent' : 'present' }, options);
}

/** It is asked nothing, so only `for` has a meaning. */
function parseNotify(text: string): Parse<IdleCheck> {
  const never = 'the command says by itself when it is idle; leave it out';
  const split = splitPlain(text, { known: ['for'], refused: { period: never, timeout: never, stale: never } });
  if (!split.ok) return split;
  if (split.value.head !== 'notify') return bad(`${show(text)} has another option than for=; write notify,for=2s`);
  return withTimes({ kind: 'notify' }, split.value.options);
}

/** `preset:vllm`, `preset:vllm:8001`, and options. */
function parsePreset(text: string): Parse<IdleCheck> {
  const [, name = '', portText, options = ''] = /^preset:([^:,]*)(?::([^,]*))?(,.*)?$/s.exec(text) ?? [];
  const names = Object.keys(IDLE_PRESETS);
  const preset = Object.hasOwn(IDLE_PRESETS, name) ? IDLE_PRESETS[name] : undefined;
  if (preset === undefined) {
    return bad(`unknown preset ${show(name)}; ${didYouMean(nearest(name, names), `write one of ${names.join(', ')}`)}`);
  }
  const port = portText === undefined ? good(preset.port) : parsePort(portText);
  return port.ok ? parseIdleCheck(`http://:${port.value}/metrics,metric=${preset.metric}${options}`) : port;
}

/** `A+B`, `A{label="x"}`; on a command line the quotes around a value may be gone. */
function parseMetrics(text: string): Parse<readonly Metric[]> {
  const metrics: Metric[] = [];
  let from = 0;
  for (const [metric, name = '', inner = ''] of text.matchAll(METRIC)) {
    const pairs = [...inner.matchAll(PAIR)];
    if (pairs.map(([pair]) => pair).join('') !== inner) break;
    const labels = pairs.map(([, label = '', value = '', bare = '']) => {
      return [label, bare + value.replace(/\\(.)/g, '$1')] as const;
    });
    metrics.push({ name, labels });
    from += metric.length;
  }
  const isRead = metrics.length > 0 && from === text.length;
  return isRead ? good(metrics) : bad(`metric=${show(text)}: ${show(text.slice(from))} ${NO_METRIC}`);
}

const METRIC = /([A-Za-z_:][\w:]*)(?:\{((?:"(?:[^"\\]|\\.)*"|[^"}])*)\})?(?:\+(?=.)|$)/gsy;
const PAIR = /([A-Za-z_]\w*)=(?:"((?:[^"\\]|\\.)*)"|([^",{}]*))(?:,(?=.)|$)/gsy;
const NO_METRIC = `is no name of a metric; write names such as running+waiting, or metric='jobs{state="active"}'`;

function metricOption({ metrics }: GaugeAction): readonly Option[] {
  return metrics.length === 0 ? [] : [{ name: 'metric', text: metrics.map(formatMetric).join('+') }];
}

function formatMetric({ name, labels }: Metric): string {
  const pairs = labels.map(([label, value]) => `${label}="${value.replace(/[\\"]/g, '\\$&')}"`);
  return pairs.length === 0 ? name : `${name}{${pairs.join(',')}}`;
}
