/**
 * `sexton install [--remove-old] [--graveyard DIR] DIR`: copies the self-contained directory that this program runs from onto a volume, for an
 * init container whose image has neither cp nor a shell. Whoever mounts the volume at /sexton starts /sexton/sexton. With a graveyard
 * it does what `sexton begin` does, too.
 */
import { join } from 'node:path';
import { beginIn } from './begin.ts';
import { SextonError } from './errors.ts';
import { flagLabel } from './given.ts';
import { inMiB } from './install-target.ts';
import { installTree } from './install-tree.ts';
import { show } from './parse.ts';
import { print } from './print.ts';
import { versionNumber } from './version.ts';

interface InstallArguments {
  readonly target: string;
  readonly removeOld: boolean;
  readonly graveyard: string | undefined;
}

export async function install(args: readonly string[]): Promise<void> {
  // As PID 1 of an init container, a program without a handler would not hear it. What is half done is no harm.
  process.once('SIGTERM', () => process.exit(128 + 15));
  process.once('SIGINT', () => process.exit(128 + 2));
  // Other users run what this one writes.
  process.umask(0o022);
  const startedAt = performance.now();
  const { target, removeOld, graveyard } = readArguments(args);
  const { files, bytes, placed, digest, others } = await installTree({
    // Of the bundle: `app` is in the directory that it is about.
    source: join(import.meta.dirname, '..'),
    target,
    version: versionNumber(),
    removeOld,
  });
  if (graveyard !== undefined) await beginIn('install', graveyard, flagLabel('graveyard', graveyard));
  const what = `sexton ${versionNumber()} (digest ${digest.slice(0, 12)})`;
  const whole = `${files} files, ${inMiB(bytes)}`;
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  const did =
    placed.files === 0
      ? `${what} was in ${target} already: ${whole}, all as they should be`
      : `installed ${what} in ${target}: ${whole}, of which ${placed.files} files, ${inMiB(placed.bytes)} were written, in ${seconds} s`;
  const kept = others.length === 0 ? '' : `; kept ${others.join(', ')}, from which something may still run`;
  await print(`${did}${kept}\n`);
}

function readArguments(args: readonly string[]): InstallArguments {
  const targets: string[] = [];
  let removeOld = false;
  let graveyard: string | undefined;
  for (let at = 0; at < args.length; at++) {
    const word = args[at] ?? '';
    const [, inline] = /^--graveyard(?:=(.*))?$/s.exec(word) ?? [];
    if (word === '--remove-old') removeOld = true;
    else if (word === '--graveyard' || inline !== undefined) graveyard = inline ?? args[++at] ?? '';
    else if (word.startsWith('-')) throw wrong(`${show(word)}: not known to it; it takes --remove-old, --graveyard`);
    else targets.push(word);
  }
  const [target, more] = targets;
  if (graveyard === '') throw wrong('--graveyard: needs a value');
  if (target === undefined || target === '') throw wrong('name the directory: sexton install DIR');
  if (more !== undefined) throw wrong(`${show(more)}: it takes one directory`);
  return { target, removeOld, graveyard };
}

function wrong(problem: string): SextonError {
  return new SextonError('badArguments', { subcommand: 'install', problem });
}
