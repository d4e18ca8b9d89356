/**
 * What a member runs with. The first supervisor of a container resolves it once, and the memo keeps it. Later
 * supervisors read neither the environment nor a file, which may have changed.
 */
import type { MemberConfig } from '../core/config.ts';
import type { OnDrain } from '../core/lifecycle/ready/readiness.ts';
import type { LogLevel } from '../core/state/events.ts';
import type { HttpAddress } from './notation/address.ts';

export interface RunConfig {
  readonly member: MemberConfig;
  readonly graveyard: string | undefined;
  /** The user named the graveyard, so sexton creates it if it is missing. */
  readonly makesGraveyard: boolean;
  readonly program: Program;
  readonly logLevel: LogLevel | 'silent';
  readonly logFormat: 'json' | 'text';
  readonly http: HttpOptions | undefined;
  readonly terminationLog: TerminationLog;
  /** The collector of traces, and the service name to report. */
  readonly otlp: { readonly url: string; readonly service: string } | undefined;
  /** The supervisor may sleep after this time without an event; undefined: it never sleeps. */
  readonly sleepAfterMs: number | undefined;
  readonly host: HostSettings;
}

/**
 * The command to start: init's own command line from `fromIndex` on, byte for byte, or an argument vector of our own.
 * `process.argv` cannot carry what is not UTF-8. `argv` is always given, for hosts that have no command line of their
 * own and for messages.
 */
export interface Program {
  /** Index into init's argv, where argv[0] is init itself; 0: use `argv`. */
  readonly fromIndex: number;
  readonly argv: readonly [string, ...string[]];
}

export interface HttpOptions {
  readonly address: HttpAddress;
  readonly onDrain: OnDrain;
}

export interface TerminationLog {
  readonly path: string;
  /** The user named the file: sexton creates it if it is missing, and reports a failure to write it. */
  readonly isNamed: boolean;
}

/** The processes that get signals: parents before their children, the process group, or the first process. */
export type SignalTo = 'tree' | 'group' | 'first';

/** Settings of the host that do not concern the lifecycle. */
export interface HostSettings {
  readonly signalTo: SignalTo;
  /** `--notify`, which the host's command of that name carries out. */
  readonly commands: readonly {
    readonly type: 'notify';
    readonly all: boolean;
    readonly watchdogMs: number | undefined;
  }[];
}

/** The configuration in the memo. One of another version is not used. */
export interface KeptConfig extends RunConfig {
  readonly version: string;
}

/** The rest of the memo is for the state. */
export const MAX_KEPT_BYTES = 32_768;

/** Leaves out the words of the command line, which may be long: init has them. */
export function keptConfig(config: RunConfig, version: string): KeptConfig {
  const { fromIndex, argv } = config.program;
  return { ...config, version, program: { fromIndex, argv: fromIndex === 0 ? argv : [argv[0]] } };
}

/** `words` is the command line without the name of init. */
export function restoredConfig(kept: KeptConfig, words: readonly string[]): RunConfig {
  const { fromIndex, argv } = kept.program;
  if (fromIndex === 0) return kept;
  return { ...kept, program: { fromIndex, argv: [argv[0], ...words.slice(fromIndex)] } };
}
