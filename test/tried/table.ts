/** The tables of docs/servers.md, and what a reader should know of sexton's column. */
import { type Outcome, RANKS, type Reaction, type Row, rankOf } from './row.ts';
import type { Subject } from './subjects.ts';

/** What became of a row under one init. */
export interface Cell {
  readonly rank: number;
  readonly text: string;
}

export type Column = ReadonlyMap<Subject, readonly Cell[]>;

export function stopCell(row: Row, outcome: Outcome): Cell {
  const { text, isKilled, code, ms } = outcome;
  return {
    rank: RANKS.indexOf(rankOf(row, outcome)),
    text: `${text}, ${isKilled ? 'KILL' : code}, ${(ms / 1_000).toFixed(1)} s`,
  };
}

/** From the worst to the best. */
const REACTIONS: readonly Reaction[] = ['gone', 'ignored', 'heard'];

export function reloadCell(reaction: Reaction): Cell {
  return {
    rank: REACTIONS.indexOf(reaction),
    text: reaction === 'gone' ? '**the container is gone**' : reaction,
  };
}

/** The worst of several rounds, and how often there was a better one. */
export function worstOf(cells: readonly Cell[]): Cell | undefined {
  const [worst] = cells.toSorted((one, other) => one.rank - other.rank);
  if (worst === undefined) return undefined;
  const times = cells.filter((it) => it.rank === worst.rank).length;
  return times === cells.length ? worst : { ...worst, text: `${worst.text} (${times} of ${cells.length} times)` };
}

export function markdownTable(
  rows: readonly { readonly kind: string; readonly title: string }[],
  columns: ReadonlyMap<string, Column>,
  subjects: readonly Subject[],
): string {
  const lines = rows.map(({ title }) => {
    const cells = subjects.map((subject) => worstOf(columns.get(title)?.get(subject) ?? [])?.text ?? '');
    return `| ${[title.replaceAll('|', '\\|'), ...cells].join(' | ')} |`;
  });
  const kinds = new Set(rows.map(({ kind }) => kind)).size;
  return [
    `| ${['what', ...subjects].join(' | ')} |`,
    `|${'---|'.repeat(subjects.length + 1)}`,
    ...lines,
    '',
    `${rows.length} rows, ${kinds} kinds`,
    '',
  ].join('\n');
}

/** The rows in which sexton is worse than without it or than tini, and those in which another is better. */
export function comparisonOf(
  rows: readonly { readonly title: string }[],
  columns: ReadonlyMap<string, Column>,
): readonly string[] {
  return rows.flatMap(({ title }) => {
    const cellOf = (subject: Subject): Cell | undefined => worstOf(columns.get(title)?.get(subject) ?? []);
    const sexton = cellOf('sexton');
    if (sexton === undefined) return [];
    return (['bare', 'tini', 'dumb-init'] as const).flatMap((subject) => {
      const other = cellOf(subject);
      if (other === undefined || other.rank <= sexton.rank) return [];
      const verb = subject === 'dumb-init' ? 'not the best' : 'WORSE';
      return [`${verb}: ${title}: sexton ${sexton.text}; ${subject} ${other.text}`];
    });
  });
}
