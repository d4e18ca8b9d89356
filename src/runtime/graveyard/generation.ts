/**
 * The generation of a pod: a random id in the graveyard, a new one whenever the pod's init containers run. When a rule of
 * Kubernetes restarts all containers, the pod's uid, the boot and the volume stay. Only the generation tells what was
 * written before such a restart.
 */
import { join } from 'node:path';
import { inDirectory, replaceFile } from './directory.ts';
import { readPlainFile } from './read.ts';

const FILE = '.generation';
const MAX_BYTES = 64;
const FORM = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\n$/;

/** Never rejects. `why`: there is a file, and it cannot be understood. */
export async function readGeneration(dir: string): Promise<{ readonly generation?: string; readonly why?: string }> {
  const path = join(dir, FILE);
  const read = await readPlainFile(path, MAX_BYTES);
  if (read.kind === 'missing') return {};
  if (read.kind !== 'bytes') return { why: `${path}: ${read.why}` };
  const text = read.bytes.toString('latin1');
  return FORM.test(text) ? { generation: text.trim() } : { why: `${path}: not what sexton begin writes` };
}

/** Rejects with the error of the file system. */
export function beginGeneration(dir: string): Promise<void> {
  // Only sexton begin needs it, and a supervisor that wakes reads this file.
  const { randomUUID } = process.getBuiltinModule('node:crypto');
  return inDirectory(dir, (here) => replaceFile(here, FILE, `${randomUUID()}\n`));
}
