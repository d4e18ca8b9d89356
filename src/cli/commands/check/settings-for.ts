/** Reads settings of `sexton check` for a subcommand, which refuses those that are wrong. */
import { SettingError } from '../../../check/settings.ts';
import { badArguments } from '../arguments.ts';

export function settingsFor<T>(subcommand: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw error instanceof SettingError ? badArguments(subcommand, error.message) : error;
  }
}
