import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The build defines these two; a run from source has neither. */
declare const __SEXTON_VERSION__: string | undefined;
declare const __SEXTON_COMMIT__: string | undefined;

export function versionNumber(): string {
  if (typeof __SEXTON_VERSION__ === 'string') return __SEXTON_VERSION__;
  const text = readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8');
  return (JSON.parse(text) as { readonly version: string }).version;
}

/** undefined: it runs from source. */
export function commitOf(): string | undefined {
  return typeof __SEXTON_COMMIT__ === 'string' ? __SEXTON_COMMIT__ : undefined;
}

export function commitText(): string {
  const commit = commitOf();
  return commit === undefined ? 'from source' : `commit ${commit}`;
}
