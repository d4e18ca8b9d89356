/** Aligned columns, plain text. A table that is too wide loses the ends of its widest cells. */
export function formatTable(header: readonly string[], rows: readonly (readonly string[])[], width: number): string {
  const cells = [header, ...rows.map((row) => row.map(plain))];
  const widths = header.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  const available = width - GAP.length * (widths.length - 1);
  while (sum(widths) > available) {
    const widest = widths.indexOf(Math.max(...widths));
    const now = widths[widest] ?? 0;
    if (now <= NARROWEST) break;
    widths[widest] = now - 1;
  }
  return cells.map((row) => `${formatRow(row, widths)}\n`).join('');
}

const GAP = '  ';
/** No column becomes narrower: a line that is too long is better than one without content. */
const NARROWEST = 7;

function formatRow(row: readonly string[], widths: readonly number[]): string {
  const cells = widths.map((width, column) => {
    const cell = row[column] ?? '';
    return (cell.length > width ? `${cell.slice(0, width - 1)}~` : cell).padEnd(width);
  });
  return cells.join(GAP).trimEnd();
}

/** Removes control characters, by which text from elsewhere could move a terminal's cursor. */
function plain(text: string): string {
  return text.replace(/\p{Cc}/gu, '?');
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
