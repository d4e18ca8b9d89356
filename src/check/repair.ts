/**
 * `--fix` and `--diff`: repairs until nothing is left to repair. A fix may have to wait for another one that touches it,
 * and may need another one: a longer hook a longer grace period.
 */
import type { Result } from './check.ts';
import { applied, inOrder } from './edits.ts';
import type { Edit, Finding } from './finding.ts';
import { type Fixed, fixed } from './fix.ts';
import type { Source } from './input/source.ts';
import type { Input } from './input/texts.ts';

/** Many more than fixes that need each other. */
const MOST_PASSES = 10;

/**
 * `first` is what the check of the inputs has found, `checkAgain` the same check; `isWanted`: what is repaired of it.
 * Returns for each text that changes all edits as if they were made at once, and the result of the repaired texts.
 */
export async function repaired(
  inputs: readonly Input[],
  first: Result,
  checkAgain: (inputs: readonly Input[]) => Promise<Result>,
  isWanted: (finding: Finding) => boolean = () => true,
) {
  const drafts = new Map<number, Draft>();
  let result = first;
  for (let pass = 0; pass < MOST_PASSES; pass += 1) {
    const changes = fixed(result.findings.filter(isWanted));
    if (changes.length === 0) break;
    for (const { source, edits } of changes) {
      const index = result.sources.indexOf(source);
      drafts.set(index, edited(drafts.get(index) ?? draftOf(source.text), edits));
    }
    result = await checkAgain(
      inputs.map((input, index) => ({ ...input, text: drafts.get(index)?.text ?? input.text })),
    );
  }
  const changes = first.sources.flatMap((source, index): Fixed[] => {
    const draft = drafts.get(index);
    return draft === undefined ? [] : [{ source, text: draft.text, edits: editsOf(source, draft) }];
  });
  return { changes, result };
}

interface Draft {
  readonly text: string;
  /** Where each of its characters stood before all edits; -1: nowhere. */
  readonly origins: readonly number[];
}

function draftOf(text: string): Draft {
  return { text, origins: Array.from({ length: text.length }, (_, index) => index) };
}

function edited({ text, origins }: Draft, edits: readonly Edit[]): Draft {
  const parts: (readonly number[])[] = [];
  let from = 0;
  for (const { start, end, text: inserted } of inOrder(edits)) {
    parts.push(origins.slice(from, start), new Array<number>(inserted.length).fill(-1));
    from = end;
  }
  return { text: applied(text, edits), origins: [...parts, origins.slice(from)].flat() };
}

/** Where the order of origins has a gap, and where there is something new. */
function editsOf(source: Source, { text, origins }: Draft): readonly Edit[] {
  const edits: Edit[] = [];
  let before = 0;
  for (let at = 0; at <= text.length; ) {
    let next = at;
    while (next < text.length && origins[next] === -1) next += 1;
    const end = origins[next] ?? source.text.length;
    if (next > at || end > before) edits.push({ source, start: before, end, text: text.slice(at, next) });
    before = end + 1;
    at = next + 1;
  }
  return edits;
}
