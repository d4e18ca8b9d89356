/**
 * The kernel's boot id, which tells tombstones of this boot from others: CLOCK_MONOTONIC starts again with each boot.
 */
import { readFileSync } from 'node:fs';

/** Without a boot id (not Linux) all tombstones count as written in this boot. */
export function readBootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return 'unknown';
  }
}
