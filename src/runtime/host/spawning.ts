/** How a host that is not init starts programs: what execa must not do, and the kernel's names of what went wrong. */
import type { Options } from 'execa';

/** By default execa sends KILL after 5 s and takes signals for itself. NODE_DEBUG=execa makes it write to stderr. */
export const PLAIN = {
  buffer: false,
  cleanup: false,
  reject: false,
  forceKillAfterDelay: false,
  detached: true,
  extendEnv: false,
  verbose: 'none',
} as const satisfies Options;

/** Node refuses an empty name (ERR_INVALID_ARG_VALUE) before the kernel can; execve(2) answers ENOENT. */
export function errnoOf(code: string | undefined): string {
  if (code === 'ERR_INVALID_ARG_VALUE') return 'ENOENT';
  return code !== undefined && /^E[A-Z0-9]+$/.test(code) ? code : 'EINVAL';
}
