/** Lays the inventory of the delivered directory, which is the last file of a build. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { formatInventory, INVENTORY, type InventoryFile, inventoryDigest } from '../cli/commands/install/inventory.ts';
import { placeContent } from './place.ts';

/** Returns the digest of the directory. */
export function layInventory(directory: string): string {
  const text = formatInventory(listFiles(directory));
  placeContent(join(directory, INVENTORY), text);
  return inventoryDigest(text);
}

function listFiles(directory: string): InventoryFile[] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .filter((path) => path !== INVENTORY && statSync(join(directory, path)).isFile())
    .map((path) => {
      const { mode, size } = statSync(join(directory, path));
      const sha256 = createHash('sha256')
        .update(readFileSync(join(directory, path)))
        .digest('hex');
      return { path, mode, bytes: size, sha256 };
    });
}
