export type HttpAddress =
  /** Without a host: all addresses. */
  | { readonly kind: 'tcp'; readonly host: string | undefined; readonly port: number }
  | { readonly kind: 'unix'; readonly path: string };

export function addressText(address: HttpAddress): string {
  if (address.kind === 'unix') return `unix:${address.path}`;
  const { host = '', port } = address;
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}
