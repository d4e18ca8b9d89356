/**
 * What a member runs with, resolved and judged once in the life of its container. It stands in the memo as well, so that
 * no later supervisor looks at the environment, at a file or for a directory, and may then come to another result.
 */
import type { MemberConfig } from '../core/config.ts';
import type { OnDrain } from '../core/lifecycle/readiness.ts';
import type { LogLevel } from '../core/state/events.ts';
import type { HttpAddress } from './notation/address.ts';

export interface RunConfig {
  readonly member: MemberConfig;
  readonly graveyard: string | undefined;
  /** It was named by the user, so it is made if it is missing. */
  readonly makesGraveyard: boolean;
  readonly program: Program;
  readonly logLevel: LogLevel | 'silent';
  readonly logFormat: 'json' | 'text';
  readonly http: HttpOptions | undefined;
  readonly terminationLog: TerminationLog;
  /** Where OTLP's traces are received, and as whose. */
  readonly otlp: { readonly url: string; readonly service: string } | undefined;
  /** After so long without an event the supervisor may sleep; undefined: it never does. */
  readonly sleepAfterMs: number | undefined;
  /** `firstOnly`: signals reach the first process of the command, not its group. */
  readonly host: HostWishes & { readonly firstOnly: boolean };
}

/**
 * The command to start: init's own command line from `fromIndex` on, byte for byte (`process.argv` cannot carry what is
 * not UTF-8), or an argument vector of our own. `argv` is always given, for hosts that have no command line of their
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

/** What is asked of the host beside the lifecycle. */
export interface HostWishes {
  /** Where this is not PID 1 orphans go elsewhere, and that is to be said. */
  readonly missesOrphans: boolean;
  readonly commands: readonly HostSetting[];
}

/** A request of tini's command line; commands of the host of the same names carry it out. */
export type HostSetting = { readonly type: 'parentDeath'; readonly signal: number } | { readonly type: 'tellReaped' };

/** In the memo. What another version has written may lack something. */
export interface KeptConfig extends RunConfig {
  readonly version: string;
}

/** Leaves room in the memo for a state of any size. */
export const MAX_KEPT_BYTES = 32_768;

/** Without the words of the command line, which may be long: init has them. */
export function keptConfig(config: RunConfig, version: string): KeptConfig {
  const { fromIndex, argv } = config.program;
  return { ...config, version, program: { fromIndex, argv: fromIndex === 0 ? argv : [argv[0]] } };
}

/** `words`: the command line behind the name of init. */
export function restoredConfig(kept: KeptConfig, words: readonly string[]): RunConfig {
  const { fromIndex, argv } = kept.program;
  if (fromIndex === 0) return kept;
  return { ...kept, program: { fromIndex, argv: [argv[0], ...words.slice(fromIndex)] } };
}
