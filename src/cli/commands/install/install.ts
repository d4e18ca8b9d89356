/**
 * `sexton install [--remove-old] [--expect DIGEST] [--graveyard DIR] DIR`: copies the self-contained directory that
 * this program runs from onto a volume, for an init container whose image has neither cp nor a shell. A container that
 * mounts the volume at /sexton starts /sexton/sexton. With a graveyard it does what `sexton begin` does, too.
 */
import { join } from 'node:path';
import { flagLabel } from '../../../config/given.ts';
import { show } from '../../../config/notation/parse.ts';
import { print } from '../../../text/print.ts';
import { versionNumber } from '../../../text/version.ts';
import { badArguments, readArguments } from '../arguments.ts';
import { beginIn } from '../begin.ts';
import { inMiB, installTree } from './tree.ts';

export async function install(args: readonly string[]): Promise<void> {
  // The kernel drops these signals for a PID 1 without handlers, as of an init container. Half a copy does no harm.
  process.once('SIGTERM', () => process.exit(128 + 15));
  process.once('SIGINT', () => process.exit(128 + 2));
  // Other users run the installed files.
  process.umask(0o022);
  const startedAt = performance.now();
  const { flags, words } = readArguments('install', args, 1);
  const [target] = words;
  if (!target) throw badArguments('install', 'no directory is named; write sexton install DIR');
  const { files, bytes, isNew, digest, others } = await installTree({
    // The bundle is in `app` of the directory to copy.
    source: join(import.meta.dirname, '..'),
    target,
    version: versionNumber(),
    removeOld: flags['remove-old'] === true,
    expected: flags.expect === undefined ? undefined : digestOf(flags.expect),
  });
  const { graveyard } = flags;
  if (graveyard !== undefined) await beginIn('install', graveyard, flagLabel('graveyard', graveyard));
  const what = `sexton ${versionNumber()} (digest ${digest.slice(0, 12)})`;
  const whole = `${files} files, ${inMiB(bytes)}`;
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  const did = isNew
    ? `installed ${what} in ${target}: ${whole}, in ${seconds} s`
    : `${what} was in ${target} already: ${whole}, checked in ${seconds} s`;
  const kept = others.length === 0 ? '' : `; kept ${others.join(', ')}, from which something may still run`;
  await print(`${did}${kept}\n`);
}

function digestOf(text: string): string {
  const [, digest] = /^sha256:([0-9a-f]{64})$/.exec(text) ?? [];
  if (digest !== undefined) return digest;
  throw badArguments('install', `--expect ${show(text)}: is no digest; write sha256: and 64 hexadecimal digits`);
}
