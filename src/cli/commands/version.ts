import { print } from '../../text/print.ts';
import { commitText, versionNumber } from '../../text/version.ts';
import { readArguments } from './arguments.ts';

export async function version(args: readonly string[]): Promise<void> {
  readArguments('version', args, 0);
  await print(`sexton ${versionNumber()} (${commitText()})\n`);
}
