/** `--stop LADDER|auto|preset:NAME`: what becomes of it once the command is known. */
import type { Rung } from '../core/config.ts';
import { ASSUMED_GRACE_MS } from '../core/pod/deadline.ts';
import { signalNumber } from '../core/signals.ts';
import { beforeRungs } from './checks.ts';
import { type StartedProgram, startedBy } from './notation/program.ts';
import { formatLadder } from './notation/stop/ladder.ts';
import { presetNamed, presetOf, type StopPreset } from './notation/stop/stop-presets.ts';
import type { Settings } from './settle.ts';

/** The configuration with the consequences of a preset. */
interface StopChoice {
  readonly settings: Settings;
  readonly notes: readonly string[];
  readonly warnings: readonly string[];
}

/** Replaces a preset by its rungs. A ladder that the user wrote stays as it is. */
export function chooseStop(settings: Settings, argv: readonly string[] | undefined): StopChoice {
  const stop = settings.stop.value;
  if (stop?.preset === undefined || argv === undefined) return { settings, notes: [], warnings: [] };
  const started = startedBy(argv);
  const name = stop.preset === 'auto' ? presetOf(started.program) : stop.preset;
  if (name === undefined) {
    // `auto` may be used with every image, so an unknown program is only noted.
    const note = `there is no stop preset for ${seen(started)}: it gets the stop signal as it arrives`;
    return { settings, notes: [note], warnings: [] };
  }
  const preset = presetNamed(name);
  const { beforeMs } = beforeRungs(settings.drain, settings.preStop);
  const budgetMs = Math.max(0, (settings.gracePeriod.value ?? ASSUMED_GRACE_MS) - beforeMs);
  const rungs = rungsOf(preset, budgetMs);
  const ladder = rungs.length === 0 ? 'the stop signal as it arrives' : formatLadder(rungs);
  const by = `preset ${name}${stop.preset === 'auto' ? ` for ${seen(started)}` : ''}`;
  const warning = preset.warning?.({ args: started.args, beforeMs, budgetMs });
  return {
    settings: withPreset(settings, preset, name, rungs),
    notes: [`stop ladder ${ladder} by ${by}`],
    warnings: [
      ...(warning === undefined ? [] : [`${settings.stop.label}: ${warning}`]),
      ...(started.isGroupTold ? [tellsAll(name, started)] : []),
      ...(settings.signalTo.value === 'group' ? [reachesAll(name, settings)] : []),
    ],
  };
}

function withPreset(settings: Settings, preset: StopPreset, name: string, rungs: readonly Rung[]): Settings {
  const source = `preset ${name}`;
  const { stop, stopSignals, exitCode } = settings;
  const all = new Set([...(stopSignals.value ?? []), ...rungs.map(({ signal }) => signal)]);
  return {
    ...settings,
    stop: { ...stop, value: { preset: name, ...stop.value, rungs } },
    // Official images declare the graceful signal as their STOPSIGNAL, so the platform sends it as its stop request.
    ...(!stopSignals.isGiven && { stopSignals: { ...stopSignals, value: [...all], source } }),
    ...(!exitCode.isGiven &&
      exitCode.value?.kind === 'keep' &&
      preset.success !== undefined && {
        exitCode: { ...exitCode, value: { kind: 'map', codes: { [preset.success]: 0 } }, source },
      }),
  };
}

/** The first of two rungs gets half of the time that drain and pre-stop leave. */
function rungsOf({ signal, second }: StopPreset, budgetMs: number): readonly Rung[] {
  if (signal === undefined) return [];
  if (second === undefined) return [rung(signal)];
  return [rung(signal, Math.max(1, Math.floor(budgetMs / 2))), rung(second)];
}

function rung(name: string, forMs?: number): Rung {
  const signal = signalNumber(name);
  if (signal === undefined) throw new Error(`internal error: no signal ${name}`);
  return { signal, forMs };
}

function seen({ program, behind }: StartedProgram): string {
  return behind.length === 0 ? program : `${program} behind ${behind.join(' ')}`;
}

/** With `--signal-to group` sexton's own signals reach the workers, too. */
function reachesAll(name: string, { signalTo }: Settings): string {
  return `${signalTo.label}: workers of ${name} would get its signals, too, and may drop their requests; leave it out`;
}

function tellsAll(name: string, { behind }: StartedProgram): string {
  const what = behind.at(-1);
  return `${what} sends signals to all processes of ${name}, and workers may drop their requests; leave ${what} out, sexton does what it does`;
}
