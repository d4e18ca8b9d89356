/**
 * Patterns of valid values in a configuration file, for the JSON Schema. The parsers check more (a name occurs only
 * once, a duration fits a timer) and never less: they refuse whatever a form refuses.
 */
import { RTMIN, signalName } from '../../core/signals.ts';
import type { Key } from '../flag.ts';
import { FLAGS } from '../flags.ts';
import { SIDECAR_NAMES } from '../notation/sidecars.ts';
import { PRESET_NAMES } from '../notation/stop-presets.ts';
import type { Schema } from './shape.ts';

export interface Form {
  /** Matches the whole text. */
  readonly pattern: string;
  /** Which plain numbers are right, since YAML knows numbers. */
  readonly numbers?: Schema;
  /** Where the value may be a map: patterns of its keys and values. */
  readonly map?: {
    readonly key: string;
    readonly value: string;
    readonly numbers?: Schema;
    readonly lists?: true;
    /** Other keys, each with a value of its own kind; no key fits two of them. */
    readonly more?: Readonly<Record<string, string>>;
  };
}

const TIME = '(?=[0-9])([0-9]+h)?([0-9]+m(?!s))?([0-9]+s)?([0-9]+ms)?';
const SOME_TIME = `(?=[0-9hms]*[1-9])${TIME}`;
const NAME = '[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?';
const CODE = '0*([0-9]{1,2}|1[0-9]{2}|2[0-4][0-9]|25[0-5])';
const CODES = { minimum: 0, maximum: 255 };
const CONDITION = '(started|healthy|completed)\\??';
const READY = 'ready\\??';

const NAMES = Array.from({ length: 31 }, (_, index) => signalName(index + 1).replace(/^SIG/, ''));
const OFFSET = `(0?[0-9]|[12][0-9]|${64 - RTMIN})`;
const SIGNAL_WORDS = `(${[...NAMES, 'CLD', 'IOT', 'POLL', 'UNUSED', `RTMIN(\\+${OFFSET})?`, `RTMAX(-${OFFSET})?`].join('|')})`;
const SIGNAL = `((SIG)?${SIGNAL_WORDS}|(sig)?${SIGNAL_WORDS.replace(/[A-Z]+/g, (word) => word.toLowerCase())}|0?[1-9]|[1-5][0-9]|6[0-4])`;
const RECEIVABLE = `${without('KILL', 'STOP', 'CHLD', 'CLD', '0?9', '17', '19')}${SIGNAL}`;
const CLIMBABLE = `${without('STOP', 'CHLD', 'CLD', 'CONT', '17', '18', '19')}${SIGNAL}`;
const ALL_SIGNALS = Array.from({ length: 64 }, (_, index) => index + 1);

const HOST = '([A-Za-z0-9]([-A-Za-z0-9._]*[A-Za-z0-9])?\\.?|\\[[0-9A-Fa-f:.]+\\])?';
const PORT = '0*[1-9][0-9]{0,4}';
const EXEC = 'exec:\\s*[^\\s|&;<>()$`][^\\u0000]*';
const HTTP = `https?://${HOST}:${PORT}([/?,].*)?`;
const PROBE = `(${EXEC}|${HTTP}|tcp://${HOST}:${PORT}(,.*)?|grpc://${HOST}:${PORT}([/,].*)?)`;
const SIDECAR = `(${SIDECAR_NAMES.join('|')})`;
const QUIT = `(${HTTP}|${SIDECAR}(:${PORT})?)`;
const NAME_OF_MEMBER = `(?!${SIDECAR}$)${NAME}`;
const HOOK = `(${EXEC}|((GET|POST) +)?${HTTP}|tcp://${HOST}:${PORT}|sleep:(0|${TIME}))`;

/** A part of a drain that stands alone is one more of a list. */
const DRAIN_VALUE = '(0|[0-9][-0-9a-z./:A-F]*|::[-0-9a-z./:A-F]*|[a-fA-F][0-9a-fA-F]*:[-0-9a-zA-F./:]*|true|false)';
const DRAIN_OPTION = `((min|quiet|max|ports|ignore|neighbours|new-only|inflight)=${DRAIN_VALUE}|neighbours|new-only|inflight)`;

const names: Form = { pattern: listed(NAME), numbers: { minimum: 0 } };
const someTime: Form = { pattern: SOME_TIME };
const time: Form = { pattern: `(0|${TIME})`, numbers: { const: 0 } };

export const FORMS: Readonly<Record<Key, Form>> = {
  name: { pattern: NAME, numbers: { minimum: 0 } },
  graveyard: { pattern: '(?!.*\\$\\([A-Za-z_])(?=.*[^/])/[^\\u0000]*' },
  role: choices('role'),
  restartPolicy: choices('restartPolicy'),
  restartRules: { pattern: listed(`!?${CODE}(\\|${CODE})*=(restart|restart-all)`) },
  mains: names,
  when: choices('when'),
  startAfter: {
    pattern: listed(`(${NAME}\\??=${CONDITION}|${QUIT}=${READY})`),
    map: {
      key: NAME_OF_MEMBER,
      value: CONDITION,
      more: { [SIDECAR]: `(${CONDITION}|${READY})`, [`(${HTTP}|${SIDECAR}:${PORT})`]: READY },
    },
  },
  startTimeout: someTime,
  startTimeoutAction: choices('startTimeoutAction'),
  signals: {
    pattern: listed(`${RECEIVABLE}:(${SIGNAL}|-|0)`),
    map: { key: RECEIVABLE, value: `(${SIGNAL}|-|0)`, numbers: { minimum: 0, maximum: 64 } },
  },
  signalTo: choices('signalTo'),
  stop: {
    pattern: `(${CLIMBABLE}:${SOME_TIME},)*${CLIMBABLE}(:${SOME_TIME})?|auto|preset:(${PRESET_NAMES.join('|')})`,
    numbers: { enum: ALL_SIGNALS.filter((signal) => ![17, 18, 19].includes(signal)) },
    map: { key: CLIMBABLE, value: SOME_TIME },
  },
  gracePeriod: { pattern: '0*[1-9][0-9]*', numbers: { minimum: 1 } },
  graceFloor: someTime,
  platformPreStop: { pattern: `(none|${SOME_TIME})` },
  stopSignals: {
    pattern: `(none|${listed(RECEIVABLE)})`,
    numbers: { enum: ALL_SIGNALS.filter((signal) => ![9, 17, 19].includes(signal)) },
  },
  hold: { pattern: `(always|never|${SOME_TIME})` },
  drain: {
    pattern: `(0|${TIME}|${DRAIN_OPTION}(,(${DRAIN_OPTION}|${DRAIN_VALUE}))*)`,
    numbers: { const: 0 },
    map: {
      key: '(min|quiet|max|ports|ignore|neighbours|new-only|inflight)',
      value: DRAIN_VALUE,
      numbers: { minimum: 0, maximum: 65_535 },
      lists: true,
    },
  },
  linger: time,
  startup: { pattern: PROBE },
  readiness: { pattern: PROBE },
  liveness: { pattern: PROBE },
  postStart: { pattern: HOOK },
  preStop: { pattern: HOOK },
  // It has a shape of its own.
  reload: { pattern: '' },
  quit: { pattern: listed(QUIT) },
  restart: choices('restart'),
  restartPodOn: { pattern: `${listed(`(exit:${CODE}|liveness)`)}(,max=[1-9][0-9]{0,8})?` },
  exitCode: {
    pattern: `(keep|zero-when-stopped|${listed(`${CODE}=${CODE}`)})`,
    map: { key: CODE, value: CODE, numbers: CODES },
  },
  session: { pattern: '[-A-Za-z0-9_.]{1,128}', numbers: {} },
  http: { pattern: `(unix:/[^\\u0000]*[^\\u0000/]|${HOST}:${PORT})` },
  readyzOnDrain: choices('readyzOnDrain'),
  otlp: { pattern: 'https?://[^\\u0000-\\u0020@#]+' },
  sleepAfter: { pattern: `(never|${SOME_TIME})` },
  terminationLog: { pattern: '/[^\\u0000]*[^\\u0000/]' },
  logLevel: choices('logLevel'),
  logFormat: choices('logFormat'),
};

function choices(key: Key): Form {
  return { pattern: (FLAGS[key].choices ?? []).join('|') };
}

function listed(item: string): string {
  return `${item}(,${item})*`;
}

/** None of these words, in upper or lower case, with or without SIG. */
function without(...words: readonly string[]): string {
  return `(?!(SIG|sig)?(${words.flatMap((word) => [word, word.toLowerCase()]).join('|')})(?![0-9A-Za-z]))`;
}
