/**
 * One wrong input, and what several of them share.
 */

export interface WrongInput {
  readonly title: string;
  /** Flags; the command is added behind them unless `whole` is set. */
  readonly argv: readonly string[];
  readonly whole?: true;
  readonly env?: Readonly<Record<string, string>>;
  readonly files?: Readonly<Record<string, string>>;
  readonly message: string;
}

/** Stands for a directory that exists. */
export const DIR = '{dir}';

export const NAME_RULE = 'a name has only lowercase letters, digits and inner dashes, at most 63';
