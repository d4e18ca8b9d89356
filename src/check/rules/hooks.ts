/** Hooks that only sleep, for which preStop has a field of its own. */
import { replaceValue } from '../edits.ts';
import type { Edit } from '../finding.ts';
import type { Container, Pod } from '../input/pod.ts';
import { isWhole } from '../stop/interval.ts';
import { timeOfAction } from '../stop/plan.ts';
import { shellCommandOf, sleepMs } from '../stop/shell.ts';

export function hookLine({ preStop }: Container): string | undefined {
  return preStop?.action.kind === 'exec' ? preStop.action.argv.join(' ') : undefined;
}

/** A script without a semicolon and blanks at its end, and blanks at its beginning. */
export function unended(script: string): string {
  const bare = script.trim();
  return bare.endsWith(';') ? bare.slice(0, -1).trimEnd() : bare;
}

/** The seconds that a hook does nothing but sleep; undefined: it does something else. */
export function sleepSeconds({ preStop }: Container): number | undefined {
  if (preStop?.action.kind !== 'exec') return undefined;
  const { argv } = preStop.action;
  const isPlain = sleepMs(argv) !== undefined || /^\S*sleep\s+\S+$/.test(unended(shellCommandOf(argv)?.script ?? ''));
  const time = timeOfAction(preStop);
  return isPlain && isWhole(time) && time.minMs > 0 ? time.minMs / 1_000 : undefined;
}

/** `sleep: {seconds: N}` in place of `exec`. */
export function sleepInstead(pod: Pod, container: Container): readonly Edit[] {
  const seconds = sleepSeconds(container);
  const action = container.preStop?.node;
  const entry = action?.kind === 'map' ? action.entries.get('exec') : undefined;
  if (seconds === undefined || entry === undefined) return [];
  const { source } = pod;
  const quote = source.text[entry.key.start] === '"' ? '"' : '';
  const inner = `{${quote}seconds${quote}: ${seconds}}`;
  // A comment within would be lost.
  if (/(^|\s)#/.test(source.text.slice(entry.value.start, entry.value.end).trimEnd())) return [];
  return [{ source, ...entry.key, text: `${quote}sleep${quote}` }, replaceValue(source, entry.value, inner)];
}
