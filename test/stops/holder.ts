/**
 * Whether a program can be kept from being executed here: `test/fixtures/holder.c`.
 */
import { readFileSync } from 'node:fs';

/** Why not; undefined: it can. */
export function whyNoHolder(): string | undefined {
  if (process.getuid?.() !== 0) return 'needs root';
  // Only a kernel that has fanotify has its limits; one with fanotify but without permission events is not known here.
  try {
    readFileSync('/proc/sys/fs/fanotify/max_user_groups');
    return undefined;
  } catch {
    return 'needs fanotify';
  }
}
