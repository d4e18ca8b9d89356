/**
 * HTTP: what platforms, scrapers and people may ask a member over the network or a unix socket. It is off by default,
 * and all but these lines is loaded when it is opened.
 */
import type { HttpOptions } from '../../config/run-config.ts';
import type { MemberConfig } from '../../core/config.ts';
import type { State } from '../../core/state/state.ts';
import type { Log } from '../log/log.ts';
import type { Listener } from './listener.ts';

/** The ports of this container's network that are ours and not the application's: connections to them need no drain. */
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
  const [{ Listener }, { answerTo }] = await Promise.all([import('./listener.ts'), import('./answers.ts')]);
  return new Listener({ address, log, answer: (path) => answerTo(path, { member, onDrain, state: stateNow() }) });
}
