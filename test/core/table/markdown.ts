/** The generated parts of `docs/internals/states.md`: the tables and the picture, all from the same cells. */
import { type Cell, cellOf } from './cells.ts';
import { type Column, GROUPS, type Group } from './columns.ts';
import { type Row, rows } from './rows.ts';

export function regenerate(document: string): string {
  const parts = { picture: picture(), tables: GROUPS.map(table).join('\n\n') };
  let text = document;
  for (const [name, part] of Object.entries(parts)) {
    const [begin, end] = [`<!-- generated: ${name} -->`, `<!-- end of ${name} -->`];
    const [from, to] = [text.indexOf(begin), text.indexOf(end)];
    if (from < 0 || to < from) throw new Error(`cannot regenerate ${name}: the document lacks "${begin}" or "${end}"`);
    text = `${text.slice(0, from + begin.length)}\n\n${part}\n\n${text.slice(to)}`;
  }
  return text;
}

function table({ title, columns }: Group): string {
  const head = ['', ...columns.map((column) => column.title)];
  const body = rows().map((row) => [row.title, ...columns.map((column) => cellOf(row, column)?.text ?? '')]);
  const lines = [head, head.map(() => '---'), ...body].map((cells) => `| ${cells.join(' | ')} |`);
  return `### ${title}\n\n${lines.join('\n')}`;
}

function picture(): string {
  const labels = new Map<string, Set<string>>();
  for (const { cell, column } of allCells()) {
    if (cell.from === cell.to) continue;
    const arrow = `${cell.from} --> ${cell.to}`;
    labels.set(arrow, (labels.get(arrow) ?? new Set()).add(column.short));
  }
  const arrows = [...labels].map(([arrow, label]) => `  ${arrow}: ${[...label].join(', ')}`);
  return ['```mermaid', 'stateDiagram-v2', '  [*] --> waiting', ...arrows, '  dead --> [*]', '```'].join('\n');
}

/** Every cell that can be. */
export function allCells(): readonly { readonly row: Row; readonly column: Column; readonly cell: Cell }[] {
  const columns = GROUPS.flatMap((group) => group.columns);
  return rows().flatMap((row) =>
    columns.flatMap((column) => {
      const cell = cellOf(row, column);
      return cell === undefined ? [] : [{ row, column, cell }];
    }),
  );
}
