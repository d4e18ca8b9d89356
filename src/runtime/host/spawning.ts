/** How a host that is not init starts programs: what execa must not do, and the kernel's names of what went wrong. */
import type { Options } from 'execa';

/**
 * execa's defaults would KILL after 5 s, and take signals for itself. `verbose`: else NODE_DEBUG=execa writes to
 * stderr.
 */
export const PLAIN = {
  buffer: false,
  cleanup: false,
  reject: false,
  forceKillAfterDelay: false,
  detached: true,
  extendEnv: false,
  verbose: 'none',
} as const satisfies Options;

/**
 * Node refuses some names before the kernel can (ERR_INVALID_ARG_VALUE for an empty one); execve(2) says ENOENT to
 * that.
 */
export function errnoOf(code: string | undefined): string {
  if (code === 'ERR_INVALID_ARG_VALUE') return 'ENOENT';
  return code !== undefined && /^E[A-Z0-9]+$/.test(code) ? code : 'EINVAL';
}
