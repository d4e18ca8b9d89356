/** One attempt of a probe or a quit call over the network. */

/** How an attempt tells its one result. The receiver closes it. */
export type Tell = (ok: boolean, detail: string) => void;

/** A connection under way. `close` leaves nothing behind, and tells nothing. */
export interface Attempt {
  close(): void;
  /** What it has come to so far, for when its time is over. */
  readonly sofar?: { readonly ok: boolean; readonly detail: string } | undefined;
}
