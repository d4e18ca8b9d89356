/** Probes and hooks, `http://:8080/healthz,period=2s,failures=5`: values and defaults are those of Kubernetes. */
import type { HookAction, Probe, ProbeKind } from '../../../core/config.ts';
import { formatDuration, parseDuration, parseSomeTime } from '../duration.ts';
import type { Option } from '../options.ts';
import { bad, good, type Parse, show } from '../parse.ts';
import { type ActionRules, formatAction, parseActionText } from './action.ts';

export const PROBE_DEFAULTS: Omit<Probe, 'action'> = {
  periodMs: 10_000,
  timeoutMs: 1000,
  failures: 3,
  successes: 1,
  delayMs: 0,
  graceMs: undefined,
};

type Field = Exclude<keyof Probe, 'action'>;
interface ProbeOption {
  readonly field: Field;
  readonly parse: (text: string) => Parse<number>;
  readonly format: (value: number) => string;
}

const OPTIONS: Readonly<Record<string, ProbeOption>> = {
  period: { field: 'periodMs', parse: parseSomeTime, format: formatDuration },
  timeout: { field: 'timeoutMs', parse: parseSomeTime, format: formatDuration },
  failures: { field: 'failures', parse: parseTimes, format: String },
  successes: { field: 'successes', parse: parseTimes, format: String },
  delay: { field: 'delayMs', parse: parseDuration, format: formatDuration },
  grace: { field: 'graceMs', parse: parseSomeTime, format: formatDuration },
};
const PROBE_OPTIONS: readonly string[] = Object.keys(OPTIONS);

/** Kubernetes has an int32 for it. */
export const MAX_TIMES = 2 ** 31 - 1;

export function probeParser(kind: ProbeKind): (text: string) => Parse<Probe> {
  return (text) => {
    const parsed = parseActionText(text, rulesOf(kind));
    if (!parsed.ok) return parsed;
    const { action, options } = parsed.value;
    if (action.kind === 'sleep') return bad('a probe cannot sleep; write delay=5s behind its action');
    const settings: Partial<Record<Field, number>> = {};
    for (const { name, text } of options) {
      const { field, parse } = OPTIONS[name] as ProbeOption;
      const value = parse(text);
      const isOne = field !== 'successes' || kind === 'readiness' || !value.ok || value.value === 1;
      const checked = isOne ? value : bad(`a ${kind} probe takes only 1, as in Kubernetes; leave it out`);
      if (!checked.ok) return bad(`${name}=${show(text)}: ${checked.why}`);
      settings[field] = checked.value;
    }
    return good({ action, ...PROBE_DEFAULTS, ...settings });
  };
}

/** Prints only the options that differ from the defaults. */
export function formatProbe({ action, ...probe }: Probe): string {
  const options = Object.entries(OPTIONS).flatMap(([name, { field, format }]): readonly Option[] => {
    const value = probe[field];
    return value === undefined || value === PROBE_DEFAULTS[field] ? [] : [{ name, text: format(value) }];
  });
  return formatAction(action, options);
}

function parseTimes(text: string): Parse<number> {
  if (/^\d{1,10}$/.test(text) && Number(text) >= 1 && Number(text) <= MAX_TIMES) return good(Number(text));
  return bad(`must be a whole number from 1 to ${MAX_TIMES}; write one such as 3`);
}

function rulesOf(kind: ProbeKind): ActionRules {
  const known = kind === 'readiness' ? PROBE_OPTIONS.filter((name) => name !== 'grace') : PROBE_OPTIONS;
  const refused = kind === 'readiness' ? { ...OF_OTHERS, grace: NO_GRACE } : OF_OTHERS;
  return {
    what: 'a probe',
    schemes: ['exec', 'http', 'https', 'tcp', 'grpc'],
    methods: ['GET'],
    example: 'exec:CMD, http://:8080/healthz, tcp://:5432 or grpc://:50051',
    options: { known, refused },
  };
}

const NO_GRACE = 'a readiness probe stops nothing, so it has no grace period; leave it out';

/** Options by their names in Kubernetes and Docker. */
const OF_OTHERS: Readonly<Record<string, string>> = {
  periodSeconds: 'write period=10s',
  interval: 'write period=10s',
  timeoutSeconds: 'write timeout=1s',
  failureThreshold: 'write failures=3',
  retries: 'write failures=3',
  successThreshold: 'write successes=1',
  initialDelaySeconds: 'write delay=5s',
  terminationGracePeriodSeconds: 'write grace=30s',
};

/** Hooks: `exec:CMD`, `http://..`, `POST http://..`, `tcp://..`, `sleep:5s`. */
export function parseHook(text: string): Parse<HookAction> {
  const parsed = parseActionText(text, HOOK_RULES);
  if (!parsed.ok) return parsed;
  const { action } = parsed.value;
  return action.kind === 'grpc' ? bad('a hook cannot be grpc; write one such as exec:CMD') : good(action);
}

const NO_OPTION = 'a hook has no such option, its time is the grace period; leave it out';

const HOOK_RULES: ActionRules = {
  what: 'a hook',
  schemes: ['exec', 'http', 'https', 'tcp', 'sleep'],
  methods: ['GET', 'POST'],
  example: 'exec:CMD, http://:8080/stop, "POST http://:8080/stop" or sleep:5s',
  options: { known: [], refused: Object.fromEntries(PROBE_OPTIONS.map((name) => [name, NO_OPTION])) },
};
