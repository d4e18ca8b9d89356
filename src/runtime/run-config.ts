/**
 * The configuration of a member, resolved and validated once in the life of its container. The memo carries it to later
 * supervisors, which would read another environment, file or directory and might come to another result.
 */
import type { MemberConfig } from '../core/config.ts';
import type { HostCommand, Program } from './host/host.ts';
import type { HttpOptions } from './http.ts';
import type { LogOptions } from './log.ts';
import type { TerminationLog } from './termination-log.ts';

export interface RunConfig {
  readonly member: MemberConfig;
  readonly graveyard: string | undefined;
  /** The user named the graveyard, so the supervisor creates it if it is missing. */
  readonly makesGraveyard: boolean;
  readonly program: Program;
  readonly logLevel: LogOptions['level'];
  readonly logFormat: LogOptions['format'];
  readonly http: HttpOptions | undefined;
  readonly terminationLog: TerminationLog;
  /** The URL of the OTLP collector, and the service name of the traces. */
  readonly otlp: { readonly url: string; readonly service: string } | undefined;
  /** How long without an event the supervisor stays awake; undefined: it never sleeps. */
  readonly sleepAfterMs: number | undefined;
  /** `firstOnly`: signals reach the first process of the command, not its group. */
  readonly host: HostWishes & { readonly firstOnly: boolean };
}

/** Settings of the host beside the lifecycle. */
export interface HostWishes {
  /** This process is not PID 1, so orphans go elsewhere, which is worth a warning. */
  readonly missesOrphans: boolean;
  readonly commands: readonly HostCommand[];
}

/** The form in the memo. One of another version may lack fields. */
export interface KeptConfig extends RunConfig {
  readonly version: string;
}

/** Bounds the configuration so that the memo has room for a state of any size. */
export const MAX_KEPT_BYTES = 32_768;

/** Leaves out the words of the command line, which may be long and which init has. */
export function keptConfig(config: RunConfig, version: string): KeptConfig {
  const { fromIndex, argv } = config.program;
  return { ...config, version, program: { fromIndex, argv: fromIndex === 0 ? argv : [argv[0]] } };
}

/** Adds the words of the command line again; `words` is what follows the name of init. */
export function restoredConfig(kept: KeptConfig, words: readonly string[]): RunConfig {
  const { fromIndex, argv } = kept.program;
  if (fromIndex === 0) return kept;
  return { ...kept, program: { fromIndex, argv: [argv[0], ...words.slice(fromIndex)] } };
}
