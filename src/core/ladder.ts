import type { MemberConfig, Rung } from './config.ts';
import { MAX, SIGCHLD, SIGKILL, SIGSTOP } from './signals.ts';

/** The declared ladder; else one rung, the signal that asked, translated. */
export function ladderOf(config: MemberConfig, signal: number): readonly [Rung, ...Rung[]] {
  const [first, ...rest] = config.ladder ?? [];
  if (first !== undefined) return [first, ...rest];
  const translated = translate(config, signal);
  return [{ signal: translated === 'drop' ? signal : translated, forMs: undefined }];
}

export function translate(config: MemberConfig, signal: number): number | 'drop' {
  return config.signals[signal] ?? signal;
}

/** A dropped stop signal is no request, unless a declared ladder replaces it. */
export function isStopRequest(config: MemberConfig, signal: number): boolean {
  return config.stopSignals.includes(signal) && (translate(config, signal) !== 'drop' || config.ladder !== undefined);
}

/** What the host forwards on its own: no dropped signals, and no stop requests where sexton does more. */
export function forwardTable(config: MemberConfig): Readonly<Record<number, number>> {
  const table: Record<number, number> = {};
  for (let signal = 1; signal <= MAX; signal += 1) {
    if (isNeverPassedOn(signal)) continue;
    if (config.stopSignals.includes(signal) && !takesEachRequest(config)) continue;
    const translated = translate(config, signal);
    if (translated !== 'drop') table[signal] = translated;
  }
  return table;
}

/** A plain init forwards every request: some programs take the second one for "now". */
function takesEachRequest({ solo, role, drain, preStop, ladder }: MemberConfig): boolean {
  const drains = drain !== undefined && !(drain.kind === 'fixed' && drain.ms === 0);
  return solo && role === 'main' && !drains && preStop === undefined && ladder === undefined;
}

/** The first rung for each stop signal, where a child can handle it. */
export function stopTable(config: MemberConfig): Readonly<Record<number, number>> {
  const table: Record<number, number> = {};
  for (const signal of config.stopSignals) {
    const first = ladderOf(config, signal)[0].signal;
    if (isStopRequest(config, signal) && !isNeverPassedOn(first)) table[signal] = first;
  }
  return table;
}

/** No program can catch the first two, and the last is init's own. */
export function isNeverPassedOn(signal: number): boolean {
  return signal === SIGKILL || signal === SIGSTOP || signal === SIGCHLD;
}
