/**
 * The inventory of the self-contained directory: one line per file, sorted, `MODE BYTES SHA256 PATH`. The build writes
 * it beside the program; `sexton install` copies and verifies by it. Its digest identifies the whole directory.
 */
import { createHash } from 'node:crypto';

export interface InventoryFile {
  /** Relative to the directory, with `/`. */
  readonly path: string;
  readonly mode: number;
  readonly bytes: number;
  /** The digest of the content, in hex. */
  readonly sha256: string;
}

/** The name that it has in the directory that it lists; it does not list itself. */
export const INVENTORY = 'inventory';

export function formatInventory(files: readonly InventoryFile[]): string {
  // By code units, the same on every machine.
  const sorted = files.toSorted((a, b) => (a.path < b.path ? -1 : 1));
  const modeOf = ({ mode }: InventoryFile): string => `0${(mode & 0o777).toString(8).padStart(3, '0')}`;
  return sorted.map((file) => `${modeOf(file)} ${file.bytes} ${file.sha256} ${file.path}\n`).join('');
}

/** Throws on anything that the build does not write, such as a path that leads out of the directory. */
export function parseInventory(text: string): InventoryFile[] {
  const lines = text.split('\n');
  if (lines.pop() !== '' || lines.length === 0) throw new Error('its last line is cut off');
  return lines.map((line) => {
    const [, mode = '', bytes = '', sha256 = '', path = ''] = LINE.exec(line) ?? [];
    if (path === '' || path.split('/').some((name) => name === '' || name === '.' || name === '..'))
      throw new Error(`it has the line ${JSON.stringify(line)}`);
    return { path, mode: Number.parseInt(mode, 8), bytes: Number(bytes), sha256 };
  });
}

export function inventoryDigest(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

const LINE = /^(0[0-7]{3}) (\d{1,12}) ([0-9a-f]{64}) ([\w.+/-]+)$/;
