/**
 * `sexton version`.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { print } from './print.ts';
import { refuseRest } from './tool-flags.ts';

export async function version(args: readonly string[]): Promise<void> {
  refuseRest('version', args, []);
  await print(`sexton ${versionNumber()} (${commit()})\n`);
}

/** The build writes these two in; a run from source has neither. */
declare const __SEXTON_VERSION__: string | undefined;
declare const __SEXTON_COMMIT__: string | undefined;

export function versionNumber(): string {
  if (typeof __SEXTON_VERSION__ === 'string') return __SEXTON_VERSION__;
  const text = readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8');
  return (JSON.parse(text) as { readonly version: string }).version;
}

function commit(): string {
  return typeof __SEXTON_COMMIT__ === 'string' ? `commit ${__SEXTON_COMMIT__}` : 'from source';
}
