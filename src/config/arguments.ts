/** The words after a subcommand. `sexton check` reads an `install` in a manifest as the command line does. */
import { parseArgs } from 'node:util';

export interface CommandFlag {
  readonly name: string;
  /** Shows what a value looks like; undefined: the flag takes none. */
  readonly takes?: string;
  readonly help: string;
  /** One letter that stands for the name. */
  readonly short?: string;
  readonly choices?: readonly string[];
  /** The flag may be given several times; the subcommand checks its values. */
  readonly isRepeated?: true;
}

export const INSTALL_FLAGS = [
  { name: 'remove-old', help: 'Remove what an older sexton left there, even if something may still run from it.' },
  { name: 'expect', takes: 'sha256:DIGEST', help: 'Install only the sexton whose inventory has this digest.' },
  {
    name: 'graveyard',
    takes: 'DIR',
    help: 'The shared directory: begin a generation there, as sexton begin does.',
  },
] as const satisfies readonly CommandFlag[];

/** Not `strict`: sexton words its own messages about wrong flags. */
export function tokensOf(flags: readonly CommandFlag[], args: readonly string[]) {
  const options = flags.map(({ name, takes, short }) => {
    const type: 'string' | 'boolean' = takes === undefined ? 'boolean' : 'string';
    return [name, { type, ...(short && { short }) }] as const;
  });
  return parseArgs({ args: [...args], options: Object.fromEntries(options), strict: false, tokens: true }).tokens;
}
