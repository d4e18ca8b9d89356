/**
 * The liveness handle: a unix socket beside the tombstone, which the member's host holds as long as it lives.
 */

/** Its file name in the graveyard; a dotfile, so it is never taken for a tombstone. */
export function handleOf(name: string): string {
  return `.${name}.sock`;
}

/** sun_path of sockaddr_un has 108 bytes, the last of them NUL: unix(7). */
export const MAX_SOCKET_PATH_BYTES = 107;
