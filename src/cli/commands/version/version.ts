/**
 * `sexton version [--json | --spdx]`. Only the self-contained directory has a bill of materials; elsewhere, as in the
 * npm package, Node is the user's own.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { print, printJson } from '../../../text/print.ts';
import { commitOf, commitText, versionNumber } from '../../../text/version.ts';
import { badArguments, readArguments } from '../arguments.ts';
import { isFile, SBOM, type Sbom } from './sbom.ts';
import { spdxOf } from './spdx.ts';

/** The bundle is in `app` of the directory. */
const PATH = join(import.meta.dirname, '..', SBOM);

export async function version(args: readonly string[]): Promise<void> {
  const { flags } = readArguments('version', args, 0);
  if (flags.json && flags.spdx) throw badArguments('version', '--spdx: --json was given, too; give one of them');
  if (flags.spdx) await printJson(spdxOf(readSbom(), new Date()));
  else if (flags.json) await printJson({ version: versionNumber(), commit: commitOf(), parts: partsOf(readSbom()) });
  else await print(`sexton ${versionNumber()} (${commitText()})\n`);
}

function partsOf({ components }: Sbom): object[] {
  return components.filter((it) => !isFile(it)).map(({ name, version, purl, cpe }) => ({ name, version, purl, cpe }));
}

function readSbom(): Sbom {
  try {
    return JSON.parse(readFileSync(PATH, 'utf8')) as Sbom;
  } catch (error) {
    const why = (error as Error).message;
    throw badArguments('version', `cannot read ${PATH}: ${why}; ask the sexton directory that the build lays`);
  }
}
