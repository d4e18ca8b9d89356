/**
 * Optional services, each only where it is configured: watching files, answering HTTP. Each is loaded when
 * it is begun, and none is waited for.
 */

import type { HttpOptions } from '../config/run-config.ts';
import type { MemberConfig } from '../core/config.ts';
import type { State } from '../core/state/state.ts';
import { openHttp } from './http.ts';
import type { Log } from './log.ts';
import type { Digests } from './memo.ts';

export interface OptionalServicesOptions {
  readonly member: MemberConfig;
  readonly http: HttpOptions | undefined;
  readonly log: Log;
  /** What is known in this moment. */
  readonly stateNow: () => State | undefined;
}

export interface FileWatch {
  /** The contents that were seen before. */
  readonly known: Digests;
  readonly onContent: (index: number, digest: string, isChange: boolean) => void;
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
      // The command runs by now, and is worth more than this.
      log.say('error', 'cannot answer HTTP', { error: String(error) });
    }
  }

  async watchFiles({ known, onContent }: FileWatch): Promise<void> {
    const { member, log } = this.#options;
    if (member.reload.length === 0 || this.#isClosed) return;
    const { ReloadWatch } = await import('./reload.ts');
    const onTrouble = (message: string): void => log.say('warn', message);
    const watch = new ReloadWatch({ reloads: member.reload, known, onContent, onTrouble });
    this.#keep(watch);
    if (!this.#isClosed) watch.start();
  }

  close(): void {
    this.#isClosed = true;
    for (const side of this.#open) side.close();
  }

  /** It may be over by the time that one was loaded. */
  #keep(side: { close(): void }): void {
    this.#open.add(side);
    if (this.#isClosed) side.close();
  }
}
