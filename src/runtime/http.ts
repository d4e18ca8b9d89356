/**
 * HTTP: what platforms, scrapers and people may ask a member over the network or a unix socket. Off by default; whoever does not
 * ask for it pays nothing, since all but these lines is loaded when it is opened.
 */
import type { MemberConfig } from '../core/config.ts';
import type { OnDrain } from '../core/readiness.ts';
import type { State } from '../core/state.ts';
import type { Listener } from './http/listener.ts';
import type { Log } from './log.ts';

export interface HttpOptions {
  readonly address: HttpAddress;
  readonly onDrain: OnDrain;
}

export type HttpAddress =
  /** Without a host: all addresses. */
  | { readonly kind: 'tcp'; readonly host: string | undefined; readonly port: number }
  | { readonly kind: 'unix'; readonly path: string };

/** As the user writes it. */
export function addressText(address: HttpAddress): string {
  if (address.kind === 'unix') return `unix:${address.path}`;
  const { host = '', port } = address;
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** The ports of this container's network that are ours and not the application's: nobody who connects to them needs a drain. */
export function ownPorts(http: HttpOptions | undefined): readonly number[] {
  return http?.address.kind === 'tcp' ? [http.address.port] : [];
}

/** `stateNow`: what is known at the moment of asking; undefined: nothing yet. */
export async function openHttp(
  { address, onDrain }: HttpOptions,
  member: MemberConfig,
  stateNow: () => State | undefined,
  log: Log,
): Promise<Listener> {
  const [{ Listener }, { answerTo }] = await Promise.all([import('./http/listener.ts'), import('./http/answers.ts')]);
  return new Listener({ address, log, answer: (path) => answerTo(path, { member, onDrain, state: stateNow() }) });
}
