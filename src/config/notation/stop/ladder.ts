/** `--stop LADDER|auto|preset:NAME`. A ladder is `TERM:20s,INT:5s,KILL`: signals, and the waits between them. */
import type { Rung } from '../../../core/config.ts';
import { formatDuration, parseSomeTime } from '../duration.ts';
import { nearest } from '../nearest.ts';
import { bad, eachOf, good, type Parse, show } from '../parse.ts';
import { formatSignal, parseSignal } from './signals.ts';
import { parsePresetName } from './stop-presets.ts';

export interface StopSetting {
  /** None: the stop signal goes on as it arrives. Those of a preset are not there before the command is known. */
  readonly rungs: readonly Rung[];
  /** The name of a preset, or `auto`; undefined: the user has written the rungs. */
  readonly preset: string | undefined;
}

export function parseStop(text: string): Parse<StopSetting> {
  if (text === 'auto') return good({ rungs: [], preset: text });
  if (!text.startsWith('preset:')) {
    const ladder = parseLadder(text);
    if (ladder.ok) return good({ rungs: ladder.value, preset: undefined });
    return nearest(text, ['auto']) ? bad(`${show(text)} is not a signal; did you mean auto?`) : ladder;
  }
  const name = parsePresetName(text.slice('preset:'.length));
  return name.ok ? good({ rungs: [], preset: name.value }) : name;
}

export function formatStop({ rungs, preset }: StopSetting): string {
  if (preset === undefined) return formatLadder(rungs);
  return preset === 'auto' ? preset : `preset:${preset}`;
}

export function parseLadder(text: string): Parse<readonly Rung[]> {
  const rungs = eachOf(text, parseRung);
  if (!rungs.ok) return rungs;
  const last = rungs.value.length - 1;
  for (const [index, rung] of rungs.value.entries()) {
    const name = formatSignal(rung.signal);
    if (name === 'KILL' && index < last) return bad('KILL ends the ladder; put it last');
    if (name !== 'KILL' && index < last && rung.forMs === undefined) {
      return bad(`${name} has no time, so what follows it never comes; write ${name}:20s`);
    }
  }
  return rungs;
}

export function formatLadder(rungs: readonly Rung[]): string {
  return rungs
    .map(({ signal, forMs }) => `${formatSignal(signal)}${forMs === undefined ? '' : `:${formatDuration(forMs)}`}`)
    .join(',');
}

function parseRung(text: string): Parse<Rung> {
  const [signalText = '', timeText, ...more] = text.split(':');
  if (more.length > 0) return bad(`${show(text)} is not a rung; write one such as TERM:20s`);
  const signal = parseSignal(signalText);
  if (!signal.ok)
    return text.includes('=') ? bad(`${show(text)} is not a rung; write ${show(text.replace('=', ':'))}`) : signal;
  const name = formatSignal(signal.value);
  if (name === 'STOP' || name === 'CHLD' || name === 'CONT') return bad(`${name} ends no process; leave it out`);
  if (timeText === undefined) return good({ signal: signal.value, forMs: undefined });
  if (name === 'KILL') return bad('KILL takes no time, nothing can follow it; write KILL');
  const time = parseSomeTime(timeText);
  return time.ok ? good({ signal: signal.value, forMs: time.value }) : bad(`${show(text)}: ${time.why}`);
}
