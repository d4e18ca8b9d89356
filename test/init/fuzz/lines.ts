/** Which lines of a source V8 has executed, from its precise coverage. Node strips types in place: offsets hold. */
import type { Profiler } from 'node:inspector';

/** Lines with nothing but blanks, comments or closing brackets do not count. */
export function coveredLines(source: string, functions: readonly Profiler.FunctionCoverage[]) {
  const counts = new Int32Array(source.length).fill(1);
  // An inner range follows its outer one, and says more.
  for (const { ranges } of functions)
    for (const { startOffset, endOffset, count } of ranges) counts.fill(count, startOffset, endOffset);
  let lines = 0;
  let covered = 0;
  for (const { 0: line, index } of source.matchAll(/^.+$/gm)) {
    const text = line.trim();
    if (/^(?:\/\/|\/\*|\*|[)\]};,]*$)/.test(text)) continue;
    lines++;
    if (counts[index + line.length - text.length]) covered++;
  }
  return { lines, covered };
}
