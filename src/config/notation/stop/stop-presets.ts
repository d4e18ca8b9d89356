/**
 * The presets of `--stop auto` and `--stop preset:NAME`: how programs are stopped gracefully. What each signal does to
 * each program was measured (`docs/servers.md`, `test/servers/`), except for those that the page names as not measured.
 */
import { didYouMean, nearest } from '../nearest.ts';
import { bad, good, type Parse, show } from '../parse.ts';

export interface StopPreset {
  /** undefined: a command line does not tell it. */
  readonly programs?: RegExp;
  /** undefined: the program stops gracefully on whichever stop signal arrives. */
  readonly signal?: string;
  /** Sent after half of the time. */
  readonly second?: string;
  /** Its exit code after a graceful stop, besides 0. */
  readonly success?: number;
  /** What only the operator can change; undefined if this command line has it. */
  readonly warning?: (use: Use) => string | undefined;
}

export interface Use {
  readonly args: readonly string[];
  /** How long the program serves on before the first rung. */
  readonly beforeMs: number;
  /** From the first rung to KILL. */
  readonly budgetMs: number;
}

const PHP_WARNING =
  'php-fpm cuts its requests unless its configuration has process_control_timeout; set it to less than the grace period, e.g. 20s';
const PGBOUNCER_WARNING =
  'which signal is graceful depends on the version of pgbouncer; give --stop preset:pgbouncer@1.22 up to that one, preset:pgbouncer@1.23 from then on';

/** squid always waits for its whole time, with or without clients; nats-server closes one client after the other. */
const SQUID_WARNING = outlasts(30_000, 'squid waits for its whole shutdown_lifetime, 30 s');
const NATS_WARNING = outlasts(120_000, 'nats-server takes up to its lame_duck_duration, 2m');

function outlasts(ms: number, what: string): (use: Use) => string | undefined {
  const warning = `${what} unless its configuration says less; set it to less than the grace period`;
  return ({ budgetMs }) => (budgetMs > ms ? undefined : warning);
}

const PRESETS: Readonly<Record<string, StopPreset>> = {
  nginx: { programs: /^nginx(-debug)?$/, signal: 'QUIT' },
  apache2: { programs: /^(apache2|httpd)(-foreground)?$/, signal: 'WINCH' },
  haproxy: { programs: /^haproxy$/, signal: 'USR1' },
  lighttpd: { programs: /^lighttpd$/, signal: 'INT' },
  nghttpx: { programs: /^nghttpx$/, signal: 'QUIT' },
  unicorn: { programs: /^unicorn(_rails)?$/, signal: 'QUIT' },
  'php-fpm': { programs: /^php-fpm[0-9.]*$/, signal: 'QUIT', warning: () => PHP_WARNING },
  uwsgi: { programs: /^uwsgi([-_][a-z0-9.]+)?$/, signal: 'TERM', warning: warnOfUwsgi },
  gunicorn: { programs: /^gunicorn3?$/, signal: 'TERM' },
  puma: { programs: /^puma$/, signal: 'TERM', success: 143 },
  caddy: { programs: /^caddy$/, signal: 'TERM' },
  squid: { programs: /^squid$/, signal: 'TERM', warning: SQUID_WARNING },
  varnishd: {
    programs: /^varnishd$/,
    warning: ({ beforeMs }) =>
      beforeMs > 0 ? undefined : 'no signal lets varnishd end its requests; drain it first with --drain',
  },
  postgres: { programs: /^(postgres|postmaster)$/, signal: 'TERM', second: 'INT' },
  'redis-server': { programs: /^redis-server$/, signal: 'TERM' },
  mosquitto: { programs: /^mosquitto$/, signal: 'TERM' },
  'nats-server': { programs: /^nats-server$/, signal: 'USR2', warning: NATS_WARNING },
  memcached: { programs: /^memcached$/, signal: 'USR1' },
  pgbouncer: { programs: /^pgbouncer$/, warning: () => PGBOUNCER_WARNING },
  // The meaning of both signals has changed between these two; a command line does not tell the version.
  'pgbouncer@1.22': { signal: 'INT' },
  'pgbouncer@1.23': { signal: 'TERM' },
};

const PRESET_ALIASES: Readonly<Record<string, string>> = {
  apache: 'apache2',
  httpd: 'apache2',
  postgresql: 'postgres',
  redis: 'redis-server',
  nats: 'nats-server',
  varnish: 'varnishd',
};

export const PRESET_NAMES: readonly string[] = [...Object.keys(PRESETS), ...Object.keys(PRESET_ALIASES)];

/** The preset's own name, also for an alias. */
export function parsePresetName(text: string): Parse<string> {
  const name = Object.hasOwn(PRESET_ALIASES, text) ? (PRESET_ALIASES[text] ?? text) : text;
  if (Object.hasOwn(PRESETS, name)) return good(name);
  const near = nearest(text, PRESET_NAMES);
  const remedy = didYouMean(near && `preset:${near}`, `presets are ${Object.keys(PRESETS).join(', ')}`);
  return bad(`unknown preset ${show(text)}; ${remedy}`);
}

/** The patterns of the basenames of all programs, for another engine. */
export const PRESET_PROGRAMS: readonly string[] = Object.values(PRESETS).flatMap(
  ({ programs }) => programs?.source ?? [],
);

export function presetNamed(name: string): StopPreset {
  const preset = PRESETS[name];
  if (preset === undefined) throw new Error(`internal error: no preset ${name}`);
  return preset;
}

export function presetOf(program: string): string | undefined {
  return Object.keys(PRESETS).find((name) => presetNamed(name).programs?.test(program));
}

/** `--hook-master-start "unix_signal:15 gracefully_kill_them_all"`; the equals sign is as good as a blank. */
function warnOfUwsgi({ args }: Use): string | undefined {
  if (args.some((arg) => /unix_signal:15 +gracefully_kill_them_all/.test(arg))) return undefined;
  return 'uwsgi reloads on TERM and does not end unless it is told otherwise; add --hook-master-start "unix_signal:15 gracefully_kill_them_all"';
}
