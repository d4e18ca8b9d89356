/**
 * From the command line, the environment and a configuration file to one frozen configuration, or to all that is wrong
 * with them. Flag beats environment beats file beats default.
 *
 * A container's command waits for this, so nothing heavy is imported. What reads a file is imported only when one is
 * named, and the YAML parser only when that file needs it.
 */
import { dirname } from 'node:path';
import type { MemberConfig } from '../core/config.ts';
import { findProblems, findWarnings, withIdleDrain } from './checks.ts';
import { type DropIn, type Place, takePlace } from './dropin/dropin.ts';
import { readForeign } from './dropin/kubexit.ts';
import { type Env, type Environment, readEnvironment } from './env.ts';
import type { ConfigFile } from './file/file.ts';
import { FLAGS, KEYS, type Key, type Values } from './flags.ts';
import type { Given } from './given.ts';
import { DEFAULT_TERMINATION_LOG } from './notation/actions/observe.ts';
import { show } from './notation/parse.ts';
import { keptConfig, MAX_KEPT_BYTES, type Program, type RunConfig, type TerminationLog } from './run-config.ts';
import { type Settings, settle } from './settle.ts';
import { chooseStop } from './stop-choice.ts';

export interface Source {
  readonly key: string;
  readonly value: string;
  readonly source: string;
}

export type Resolution =
  | {
      readonly ok: true;
      readonly run: RunConfig;
      readonly warnings: readonly string[];
      readonly notes: readonly string[];
      readonly awakeFor: readonly string[];
      readonly sources: readonly Source[];
    }
  | {
      readonly ok: false;
      readonly problems: readonly string[];
      /** These two are given as far as they are known. */
      readonly name: string | undefined;
      readonly terminationLog: TerminationLog;
    };

/** The machine, as far as a configuration depends on it. */
export interface Files {
  /** Throws what `fs.readFileSync` throws. */
  readonly readText: (path: string) => string;
  readonly isDirectory: (path: string) => boolean;
  /** Whether nothing is there; false if that is unknown. */
  readonly isMissing: (path: string) => boolean;
  readonly isTerminal: boolean;
  /** What needs a supervisor from the start, as sexton-init says; undefined: nothing, this is a plain command. */
  readonly whyNode?: string | undefined;
}

/**
 * `argv` is what follows the program's name, with or without a leading `run`. `as` is the program that is replaced; then
 * `argv` has the flags that init gives. The answer is a promise only when a configuration file is read.
 */
export function resolveRun(
  argv: readonly string[],
  env: Env,
  files: Files,
  as?: DropIn,
): Resolution | Promise<Resolution> {
  const environment = readEnvironment(env);
  const place = takePlace(as, argv, environment);
  const { line } = place;
  const inputs = { argv, env, files, place, environment };
  const path = line.config ?? environment.config;
  if (path === undefined) return resolve(inputs, undefined);
  const label = line.config === undefined ? `SEXTON_CONFIG=${path}` : `--config ${path}`;
  let text: string;
  try {
    text = files.readText(path);
  } catch (error) {
    return resolve(inputs, { path, problems: [`${label}: cannot be read: ${whyUnreadable(error)}`] });
  }
  return parseFile(path, text).then((file) => resolve(inputs, file));
}

async function parseFile(path: string, text: string): Promise<ConfigFile> {
  const { parseAsJson, readConfigFile } = await import('./file/file.ts');
  const content = parseAsJson(path, text) ?? (await import('./file/yaml.ts')).parseYaml(text);
  return content.ok ? readConfigFile(path, content.value) : { path, problems: [`${path}: ${content.why}`] };
}

interface Inputs {
  readonly argv: readonly string[];
  readonly env: Env;
  readonly files: Files;
  readonly place: Place;
  readonly environment: Environment;
}

function resolve({ argv, env, files, place, environment }: Inputs, file: ConfigFile | undefined): Resolution {
  const { line } = place;
  const ours: ReadonlySet<Key> = new Set([...line.given, ...environment.given].map(({ key }) => key));
  // The variables of kubexit and its like mean nothing to tini and dumb-init.
  const foreign = readForeign(place.as === undefined || place.as.name === 'kubexit' ? env : {}, ours);
  const given = [line.given, environment.given, foreign.given, file?.given ?? []];
  const isQuiet = place.as === undefined && files.whyNode === undefined;
  const layers = [...given, environment.implied, foreign.implied, place.implied, isQuiet ? [QUIET] : []];
  const isNamed = given.some((layer) => layer.some(({ key }) => key === 'graveyard'));
  const program = chosenProgram(argv, line, file);
  const isDirectory = place.isPlain ? () => false : files.isDirectory;
  const settled = settle(layers, { ...files, isDirectory, command: program?.argv[0] });
  const { settings: chosen, notes, warnings } = chooseStop(withIdleDrain(settled.settings), program?.argv);
  const settings = withStopSignal(chosen, file);
  const all = [
    ...line.problems,
    ...environment.problems,
    ...foreign.problems,
    ...(file?.problems ?? []),
    ...settled.problems,
    ...commandProblems(place, program, file),
    ...findProblems(settings),
  ];
  if (all.length === 0 && isNamed) all.push(...graveyardProblems(settings, files));
  const refused = { ok: false, name: settings.name.value, terminationLog: terminationLogOf(settings) } as const;
  if (all.length > 0 || program === undefined) return { ...refused, problems: all };
  const run = freeze({ ...runConfig(settings, program, place, env), makesGraveyard: isNamed });
  const tooLong = lengthProblems(run);
  if (tooLong.length > 0) return { ...refused, problems: tooLong };
  return {
    ok: true,
    run,
    warnings: [
      ...environment.warnings,
      ...foreign.warnings,
      ...(file?.warnings ?? []),
      ...findWarnings(settings),
      ...warnings,
    ],
    notes,
    awakeFor: awakeFor(settings),
    sources: [...KEYS.map((key) => sourceOf(key, settings)), commandSource(program, file)],
  };
}

/** A plain command logs warnings only: there is no supervisor to log anything else. */
const QUIET: Given = { key: 'logLevel', text: 'warn', label: '--log-level warn', source: 'default: a plain command' };

/** The configuration travels in the memo, whose size init limits. */
function lengthProblems(run: RunConfig): readonly string[] {
  const length = Buffer.byteLength(JSON.stringify(keptConfig(run, '')));
  if (length <= MAX_KEPT_BYTES) return [];
  return [`the settings take more than ${MAX_KEPT_BYTES} bytes; move long commands into scripts`];
}

/** Adds `lifecycle.stopSignal` of the file, which the platform sends to stop the container. */
function withStopSignal(settings: Settings, file: ConfigFile | undefined): Settings {
  const { stopSignals } = settings;
  const { stopSignal, path } = file ?? {};
  if (stopSignal === undefined || stopSignals.value === undefined || stopSignals.value.includes(stopSignal))
    return settings;
  const value = [...stopSignals.value, stopSignal];
  const isElsewhere = stopSignals.isGiven && stopSignals.source !== path;
  const source = isElsewhere ? `${stopSignals.source}, ${path}` : (path ?? '');
  return { ...settings, stopSignals: { ...stopSignals, value, source } };
}

/** Sexton creates a named graveyard, but nothing above it: most likely a volume is not mounted there. */
function graveyardProblems({ graveyard }: Settings, { isMissing }: Files): readonly string[] {
  const parent = graveyard.value === undefined ? undefined : dirname(graveyard.value);
  if (parent === undefined || !isMissing(parent)) return [];
  return [
    `${graveyard.label}: there is no directory ${show(parent)}; mount the shared volume, or name another directory`,
  ];
}

function runConfig(settings: Settings, program: Program, { as }: Place, env: Env): Omit<RunConfig, 'makesGraveyard'> {
  const graveyard = settings.graveyard.value;
  const { rungs = [] } = settings.stop.value ?? {};
  const { from, watchdogMs } = need(settings, 'notify');
  const member: MemberConfig = {
    name: need(settings, 'name'),
    role: need(settings, 'role'),
    restartPolicy: need(settings, 'restartPolicy'),
    restartRules: settings.restartRules.value ?? [],
    mains: settings.mains.value ?? [],
    when: need(settings, 'when'),
    startAfter: settings.startAfter.value?.members ?? [],
    startReady: settings.startAfter.value?.ready ?? [],
    startTimeoutMs: need(settings, 'startTimeout'),
    startTimeoutAction: need(settings, 'startTimeoutAction'),
    signals: settings.signals.value ?? {},
    ladder: rungs.length === 0 ? undefined : rungs,
    stopSignals: need(settings, 'stopSignals'),
    gracePeriodMs: settings.gracePeriod.value,
    graceFloorMs: settings.graceFloor.value,
    platformPreStopMs: settings.platformPreStop.value,
    hold: need(settings, 'hold'),
    drain: settings.drain.value,
    idleWhen: settings.idleWhen.value,
    lingerMs: need(settings, 'linger'),
    probes: {
      startup: settings.startup.value,
      readiness: settings.readiness.value,
      liveness: settings.liveness.value,
    },
    notifies: from !== 'off',
    watchdogMs,
    postStart: settings.postStart.value,
    preStop: settings.preStop.value,
    reload: settings.reload.value ?? [],
    quit: settings.quit.value ?? [],
    restart: need(settings, 'restart'),
    restartPodOn: settings.restartPodOn.value ?? { codes: [], liveness: false, max: undefined },
    exitCode: need(settings, 'exitCode'),
    startFailureCode: as?.name === 'dumb-init' ? 2 : undefined,
    session: settings.session.value,
    solo: graveyard === undefined,
  };
  const notify = { type: 'notify', all: from === 'all', watchdogMs } as const;
  const commands = from === 'off' ? [] : [notify];
  const [address, url] = [settings.http.value, settings.otlp.value];
  return {
    member,
    graveyard,
    program,
    logLevel: need(settings, 'logLevel'),
    logFormat: need(settings, 'logFormat'),
    host: { signalTo: need(settings, 'signalTo'), commands },
    sleepAfterMs: sleepOf(settings),
    http: address && { address, onDrain: need(settings, 'readyzOnDrain') },
    terminationLog: terminationLogOf(settings),
    otlp: url === undefined ? undefined : { url, service: env.OTEL_SERVICE_NAME || 'sexton' },
  };
}

function sleepOf(settings: Settings): number | undefined {
  const after = need(settings, 'sleepAfter');
  return after === 'never' || awakeFor(settings).length > 0 ? undefined : after;
}

function awakeFor(settings: Settings): readonly string[] {
  const keys = ['readiness', 'liveness', 'reload', 'http'] as const;
  return keys.filter((key) => settings[key].value !== undefined).map((key) => `--${key}`);
}

function terminationLogOf({ terminationLog: { value: path } }: Settings): TerminationLog {
  return { path: path ?? DEFAULT_TERMINATION_LOG, isNamed: path !== undefined };
}

/** The command of the command line replaces `command` and `args` of the file. */
function chosenProgram(
  argv: readonly string[],
  line: Place['line'],
  file: ConfigFile | undefined,
): Program | undefined {
  if (line.commandAt === undefined) return file?.command && { fromIndex: 0, argv: file.command };
  const [command = '', ...args] = argv.slice(line.commandAt);
  // init counts its own name, which is not part of our argv.
  return { fromIndex: line.commandAt + 1, argv: [command, ...args] };
}

function commandProblems(
  { line, isPlain }: Place,
  program: Program | undefined,
  file: ConfigFile | undefined,
): readonly string[] {
  if (file?.hasArgsOnly) return [`args in ${file.path}: command is missing; write it in the same file`];
  // In another program's place the kernel says that it is not found.
  if (program?.argv[0] === '' && !isPlain) return ['empty command; write sexton [flags] -- COMMAND'];
  // With an unknown flag, or a file that cannot be used, it is not known where the command begins.
  const isUnsure = line.problems.length > 0 || (file?.problems.length ?? 0) > 0;
  if (program !== undefined || isUnsure) return [];
  return ['no command is given; write sexton [flags] -- COMMAND'];
}

function sourceOf<K extends Key>(key: K, settings: Settings): Source {
  const { value, source } = settings[key];
  const { name, format, defaultNote = 'none' } = FLAGS[key];
  const none = key === 'graveyard' || key === 'session' ? 'none' : defaultNote;
  return { key: name, value: value === undefined ? none : format(value as Values[K]), source };
}

function commandSource(program: Program, file: ConfigFile | undefined): Source {
  const source = (program.fromIndex === 0 && file?.path) || 'command line';
  return { key: 'command', value: JSON.stringify(program.argv), source };
}

function whyUnreadable(error: unknown): string {
  const code = (error as NodeJS.ErrnoException).code;
  if (code === 'ENOENT') return 'no such file; check that its volume is mounted';
  if (code === 'EISDIR') return 'it is a directory; name the file in it';
  if (code === 'EACCES') return `permission denied to uid ${process.getuid?.()}; make it readable`;
  const remedy = code === 'EILSEQ' ? 'save it as such' : 'name a file that can be read';
  return `${error instanceof Error ? error.message : String(error)}; ${remedy}`;
}

function need<K extends Key>(settings: Settings, key: K): Values[K] {
  const { value } = settings[key];
  if (value === undefined) throw new Error(`internal error: --${FLAGS[key].name} has no value`);
  return value;
}

function freeze<T extends object>(value: T): T {
  for (const part of Object.values(value)) if (typeof part === 'object' && part !== null) freeze(part);
  return Object.freeze(value);
}
