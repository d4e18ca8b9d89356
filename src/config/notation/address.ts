/** Addresses of HTTP, and the paths there. */

export type HttpAddress =
  /** Without a host: all addresses. */
  | { readonly kind: 'tcp'; readonly host: string | undefined; readonly port: number }
  | { readonly kind: 'unix'; readonly path: string };

export function addressText(address: HttpAddress): string {
  if (address.kind === 'unix') return `unix:${address.path}`;
  const { host = '', port } = address;
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** Escapes what may not stand in a request line, as the kubelet does. What is escaped already stays as it is. */
export function encodePath(path: string): string {
  const encoded = path.replace(/[^\x21-\x7e]+/g, (text) => encodeURIComponent(text.toWellFormed()));
  return encoded.startsWith('/') ? encoded : `/${encoded}`;
}
