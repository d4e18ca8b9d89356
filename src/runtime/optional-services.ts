/**
 * Optional services: watching files and answering HTTP, each only where it is configured. Each is loaded when it
 * starts, and the supervisor waits for none of them.
 */
import type { HttpOptions } from '../config/run-config.ts';
import type { MemberConfig } from '../core/config.ts';
import type { State } from '../core/state/state.ts';
import { openHttp } from './http/http.ts';
import type { Log } from './log/log.ts';
import type { Digests } from './memo.ts';
import type { ReloadWatchOptions } from './reload/reload.ts';

export interface OptionalServicesOptions {
  readonly member: MemberConfig;
  readonly http: HttpOptions | undefined;
  readonly log: Log;
  /** The state as of this moment. */
  readonly stateNow: () => State | undefined;
}

export class OptionalServices {
  readonly #options: OptionalServicesOptions;
  readonly #open = new Set<{ close(): void }>();
  #isClosed = false;

  constructor(options: OptionalServicesOptions) {
    this.#options = options;
  }

  async answerHttp(): Promise<void> {
    const { member, http, log, stateNow } = this.#options;
    if (http === undefined) return;
    try {
      this.#keep(await openHttp(http, member, stateNow, log));
    } catch (error) {
      // The command already runs, and must not end for want of HTTP.
      log.say('error', 'cannot answer HTTP', { error: String(error) });
    }
  }

  /** `known`: the digests of the contents that earlier supervisors saw. */
  async watchFiles(known: Digests, onContent: ReloadWatchOptions['onContent']): Promise<void> {
    const { member, log } = this.#options;
    if (member.reload.length === 0 || this.#isClosed) return;
    const { ReloadWatch } = await import('./reload/reload.ts');
    const onTrouble = (message: string): void => log.say('warn', message);
    const mayTell = (): boolean => isUp(this.#options.stateNow());
    const watch = new ReloadWatch({ reloads: member.reload, known, onContent, onTrouble, mayTell });
    this.#keep(watch);
    if (!this.#isClosed) watch.start();
  }

  close(): void {
    this.#isClosed = true;
    for (const service of this.#open) service.close();
  }

  /** Closes a service at once that was still being loaded when all were closed. */
  #keep(service: { close(): void }): void {
    this.#open.add(service);
    if (this.#isClosed) service.close();
  }
}

/** Before that, an entrypoint may edit the watched files, and the signal would end it. */
function isUp(state: State | undefined): boolean {
  if (state?.child.is !== 'alive') return true;
  return state.chronicle.started !== undefined && state.now.mono - state.child.sinceMs >= ENTRYPOINT_MS;
}

const ENTRYPOINT_MS = 2_000;
