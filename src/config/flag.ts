/**
 * Types of the flags and of their parsed values.
 */
import type {
  Drain,
  ExitCodePolicy,
  Hold,
  HookAction,
  Probe,
  QuitAction,
  Reload,
  RestartMode,
  RestartPodOn,
  RestartPolicy,
  RestartRule,
  Role,
  SignalMap,
} from '../core/config.ts';
import type { OnDrain } from '../core/lifecycle/readiness.ts';
import type { LogLevel } from '../core/state/events.ts';
import type { HttpAddress } from './notation/address.ts';
import type { Gates } from './notation/gates.ts';
import type { StopSetting } from './notation/ladder.ts';
import type { Parse } from './notation/parse.ts';

/** The parsed value of each flag. Durations are milliseconds. */
export interface Values {
  readonly name: string;
  readonly graveyard: string;
  readonly role: Role;
  readonly restartPolicy: RestartPolicy;
  readonly restartRules: readonly RestartRule[];
  readonly mains: readonly string[];
  readonly when: 'all' | 'any';
  readonly startAfter: Gates;
  readonly startTimeout: number;
  readonly startTimeoutAction: 'fail' | 'continue';
  readonly signals: SignalMap;
  readonly signalTo: 'group' | 'first';
  readonly stop: StopSetting;
  readonly gracePeriod: number;
  readonly graceFloor: number;
  readonly platformPreStop: number;
  readonly stopSignals: readonly number[];
  readonly hold: Hold;
  readonly drain: Drain | undefined;
  readonly linger: number;
  readonly startup: Probe;
  readonly readiness: Probe;
  readonly liveness: Probe;
  readonly postStart: HookAction;
  readonly preStop: HookAction;
  readonly reload: readonly Reload[];
  readonly quit: readonly QuitAction[];
  readonly restart: RestartMode;
  readonly restartPodOn: RestartPodOn;
  readonly exitCode: ExitCodePolicy;
  readonly session: string;
  readonly http: HttpAddress;
  readonly readyzOnDrain: OnDrain;
  readonly terminationLog: string;
  readonly otlp: string;
  readonly sleepAfter: number | 'never';
  readonly logLevel: LogLevel | 'silent';
  readonly logFormat: 'json' | 'text';
}

export type Key = keyof Values;

export interface Flag<T> {
  readonly name: string;
  /** What stands for the value in `help`. */
  readonly takes: string;
  /** The only valid values, if they are few. */
  readonly choices?: readonly string[];
  readonly parse: (text: string) => Parse<T>;
  /** The inverse of `parse`. */
  readonly format: (value: T) => string;
  readonly default?: string | Readonly<Record<Role, string>>;
  readonly defaultNote?: string;
  readonly help: string;
  /** The key in a configuration file, where Kubernetes has another name for it. */
  readonly fileKey?: string;
  /** The key under which a configuration file has it in the shape of a Pod; its own key takes it as a string. */
  readonly podKey?: string;
  /** In a configuration file a number of seconds, as in a Pod. */
  readonly fileSeconds?: true;
  /** May hold a command, in which `$(NAME)` may be meant for a shell. */
  readonly hasCommand?: true;
  /** May be given several times; the values are joined to one list. */
  readonly repeats?: true;
  /** How a map in a configuration file joins its keys and values. */
  readonly pairs?: ':' | '=';
  /** A value in such a map may be a list. */
  readonly pairsOfLists?: true;
}
