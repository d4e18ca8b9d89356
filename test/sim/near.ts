/** The members that matter to one member: its graveyard reports, connects to and rereads them. The others are far. */
import type { MemberConfig } from '../../src/core/config.ts';
import type { Tombstone } from '../../src/core/format/tombstone.ts';
import { type Business, isQuiet, mattersTo } from '../../src/core/pod/interest.ts';

export class Near {
  business: Business = 'own';
  readonly #config: MemberConfig;
  readonly #bootId: string;
  readonly #names = new Set<string>();

  constructor(config: MemberConfig, bootId: string) {
    this.#config = config;
    this.#bootId = bootId;
  }

  /** Now, or once before. */
  has(tombstone: Tombstone): boolean {
    if (mattersTo(this.#config, this.business, tombstone)) this.#names.add(tombstone.Name);
    return this.#names.has(tombstone.Name);
  }

  /** Nothing that it may say in this life matters. */
  isQuiet(tombstone: Tombstone): boolean {
    return this.isFar(tombstone) && isQuiet(this.#config, tombstone);
  }

  /** Its next change is left to a rescan, unless it announces a new life. */
  isFar({ Name, Boot, Died }: Tombstone): boolean {
    return this.business === 'own' && !this.#names.has(Name) && Boot === this.#bootId && Died === undefined;
  }
}
