/** Lays the inventory of the delivered directory, which is the last file of a build, and says what the files weigh. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { formatInventory, INVENTORY, inventoryDigest } from '../cli/commands/install/inventory.ts';
import { placeContent } from './place.ts';

/** Returns the digest of the directory. */
export function layInventory(directory: string): string {
  const paths = filesIn(directory).filter((path) => path !== INVENTORY);
  const files = paths.map((path) => {
    const { mode, size } = statSync(join(directory, path));
    const hash = createHash('sha256').update(readFileSync(join(directory, path)));
    return { path, mode, bytes: size, sha256: hash.digest('hex') };
  });
  const text = formatInventory(files);
  placeContent(join(directory, INVENTORY), text);
  return inventoryDigest(text);
}

export function printWeights(directory: string, digest: string, tookMs: number, all: boolean): void {
  const sizes = filesIn(directory).map((name) => [name, statSync(join(directory, name)).size] as const);
  const total = sizes.reduce((sum, [, bytes]) => sum + bytes, 0);
  const lines = all ? sizes.map(([name, bytes]) => weigh(bytes, name)) : [];
  const whole = weigh(total, `${directory}, laid in ${(tookMs / 1000).toFixed(1)} s, digest ${digest}`);
  process.stdout.write(`${[...lines, whole].join('\n')}\n`);
}

export function weigh(bytes: number, name: string): string {
  return `${(bytes / 1024).toFixed(0).padStart(9)} KiB  ${name}`;
}

/** Relative to the directory, sorted. */
export function filesIn(directory: string): string[] {
  const paths = readdirSync(directory, { recursive: true, encoding: 'utf8' }).sort();
  return paths.filter((path) => statSync(join(directory, path)).isFile());
}
