/** `sexton images lock [-o FILE] [NAME=]FILE|DIR|-...`: what images say, as a file that can be committed, and whether it still holds. */
import { createWriteStream, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { ImageError } from '../../../check/images/blobs.ts';
import { imagesOf, type LockedImage, lockText, movedSince } from '../../../check/images/lock.ts';
import { imagesOf as readLock } from '../../../check/settings.ts';
import { didYouMean, nearest } from '../../../config/notation/nearest.ts';
import { show } from '../../../config/notation/parse.ts';
import { cleanText } from '../../../core/format/tombstone.ts';
import { warn, whyNoFile } from '../../../text/errors.ts';
import { print } from '../../../text/print.ts';
import { readArguments, refusalOf } from '../arguments.ts';
import { settingsFor } from './settings-for.ts';

const refuse = refusalOf('images');

const UNREADABLE = 2;

export async function images(args: readonly string[]): Promise<void> {
  const { flags, words } = readArguments('images', args);
  const [action, ...inputs] = words;
  if (action !== 'lock') throw refuse(unknownAction(action));
  if (inputs.length === 0) throw refuse('nothing to read; name a file, a directory, or - for standard input');
  if (inputs.filter((input) => /^(.*=)?-$/.test(input)).length > 1) throw refuse('-: was given before; give it once');
  const found: LockedImage[] = [];
  for (const input of inputs) {
    try {
      found.push(...(await readInput(input)));
    } catch (error) {
      warn(`images lock: ${show(input)}: ${whyNot(error)}`);
      process.exitCode = UNREADABLE;
    }
  }
  if (flags.check === true) return await compare(flags.output, found);
  // A file that is there already says more than one without any image.
  if (found.length === 0) return;
  if (flags.output === undefined) await print(lockText(found));
  else write(flags.output, lockText(found));
}

const MOVED = 1;

async function compare(file: string | undefined, found: readonly LockedImage[]): Promise<void> {
  if (file === undefined) throw refuse('--check: names no lock; write --output FILE with the one that is committed');
  const lines = movedSince(
    settingsFor('images', () => readLock(file)),
    found,
  );
  if (lines.length > 0) process.exitCode ??= MOVED;
  await print(lines.map((line) => `${cleanText(line)}\n`).join(''));
}

function unknownAction(word: string | undefined): string {
  if (word === undefined) return 'it needs a word; write sexton images lock FILE';
  return `${show(word)}: must be lock; ${didYouMean(nearest(word, ['lock']), 'write sexton images lock FILE')}`;
}

/** `NAME=PATH`, unless there is a file of that whole name. */
async function readInput(input: string): Promise<readonly LockedImage[]> {
  const at = existsSync(input) ? -1 : input.indexOf('=');
  const name = at < 0 ? undefined : input.slice(0, at);
  const path = input.slice(at + 1);
  if (name === '') throw new ImageError('there is no name in front of the =');
  return path === '-' ? readStdin(name) : imagesOf(path, name);
}

/** An archive is read in several passes, so it goes into a file first. */
async function readStdin(name: string | undefined): Promise<readonly LockedImage[]> {
  const directory = mkdtempSync(join(tmpdir(), 'sexton-images-'));
  try {
    const path = join(directory, 'stdin');
    await pipeline(process.stdin, createWriteStream(path));
    return await imagesOf(path, name);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function whyNot(error: unknown): string {
  // It may hold a name out of the image.
  if (error instanceof ImageError) return cleanText(error.message);
  if ((error as NodeJS.ErrnoException).code === undefined) throw error;
  return whyNoFile(error);
}

function write(file: string, text: string): void {
  try {
    writeFileSync(file, text);
  } catch (error) {
    throw refuse(`--output: cannot write ${show(file)}: ${whyNot(error)}; name a file in a directory that exists`);
  }
}
