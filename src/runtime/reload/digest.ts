/** The content of a survey's files as one short text: the same text, the same content. */
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import type { SeenFile } from './survey.ts';

/** undefined: a file was removed while it was read. */
export async function digest(files: readonly SeenFile[]): Promise<string | undefined> {
  const { hash } = process.getBuiltinModule('node:crypto');
  const parts: string[] = [];
  for (const file of files) {
    const content = await contentOf(file, (bytes) => hash('sha256', bytes));
    if (content === undefined) return undefined;
    parts.push(file.name, content);
  }
  return hash('sha256', parts.join('\0'));
}

const MAX_BYTES = 1_048_576n;

/** A file that is larger, or that only the application may read, is known by its size, time and inode. */
async function contentOf({ path, stats }: SeenFile, hashOf: (bytes: Buffer) => string): Promise<string | undefined> {
  const marks = `${stats.size}:${stats.mtimeNs}:${stats.ino}`;
  if (stats.size > MAX_BYTES) return marks;
  try {
    // Should a pipe have taken its place, this does not wait for its writer.
    const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    return hashOf(await handle.readFile().finally(() => handle.close()));
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? undefined : marks;
  }
}
