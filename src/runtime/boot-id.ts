/**
 * The kernel's boot id, by which tombstones of this boot are told from others: CLOCK_MONOTONIC starts anew with each
 * boot.
 */
import { readFileSync } from 'node:fs';

/** Where there is none (not Linux) all that is in the graveyard counts as of this boot. */
export function readBootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return 'unknown';
  }
}
