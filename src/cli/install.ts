/**
 * `sexton install [--remove-old] DIR`: copies the self-contained directory that this program runs from onto a volume, for an
 * init container whose image has neither cp nor a shell. Whoever mounts the volume at /sexton starts /sexton/sexton.
 */
import { join } from 'node:path';
import { SextonError } from './errors.ts';
import { inMiB } from './install-target.ts';
import { installTree } from './install-tree.ts';
import { show } from './parse.ts';
import { print } from './print.ts';
import { versionNumber } from './version.ts';

const REMOVE_OLD = '--remove-old';

export async function install(args: readonly string[]): Promise<void> {
  // As PID 1 of an init container, a program without a handler would not hear it. What is half done is no harm.
  process.once('SIGTERM', () => process.exit(128 + 15));
  process.once('SIGINT', () => process.exit(128 + 2));
  // Other users run what this one writes.
  process.umask(0o022);
  const startedAt = performance.now();
  const target = targetOf(args.filter((word) => word !== REMOVE_OLD));
  const { files, bytes, placed, digest, others } = await installTree({
    // Of the bundle: `app` is in the directory that it is about.
    source: join(import.meta.dirname, '..'),
    target,
    version: versionNumber(),
    removeOld: args.includes(REMOVE_OLD),
  });
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

function targetOf(words: readonly string[]): string {
  const [target, more] = words;
  const refuse = (problem: string): never => {
    throw new SextonError('badArguments', { subcommand: 'install', problem });
  };
  if (target === undefined || target === '') return refuse('name the directory: sexton install DIR');
  if (target.startsWith('-')) return refuse(`${show(target)}: not known to it; it takes only ${REMOVE_OLD}`);
  if (more !== undefined) return refuse(`${show(more)}: it takes one directory`);
  return target;
}
