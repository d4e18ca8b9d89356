/** `sexton inject` and `sexton uninject`: what they do to pods is src/inject; here are files, and what is printed. */
import { readFileSync } from 'node:fs';
import { type Collected, collect } from '../../check/files.ts';
import { diffOf } from '../../check/fix.ts';
import type { Unreadable } from '../../check/input/texts.ts';
import { fileSettings, imagesOf, SettingError } from '../../check/settings.ts';
import { replaceText } from '../../check/write-back.ts';
import { show } from '../../config/notation/parse.ts';
import { cleanText } from '../../core/format/tombstone.ts';
import { type Injected, inject as injectTexts, type Outcome, uninject as uninjectTexts } from '../../inject/inject.ts';
import { warn } from '../../text/errors.ts';
import { print } from '../../text/print.ts';
import { versionNumber } from '../../text/version.ts';
import { badArguments, readArguments } from './arguments.ts';

const REFUSED = 1;

export async function inject(args: readonly string[]): Promise<void> {
  const { flags, words } = readArguments('inject', args, 1);
  const { image, deliver = 'image-volume', output } = flags;
  const collected = inputsOf('inject', words, flags['in-place']);
  if (image === undefined)
    throw badArguments('inject', 'no image of sexton; write --image with its name in your registry');
  if (output !== undefined && flags['in-place'] === true)
    throw badArguments('inject', `--output ${output}: prints, and --in-place does not; leave one out`);
  const options = { images: lockOf(flags.images), image, deliver, version: versionNumber() };
  const result = await injectTexts(collected.inputs, options);
  for (const outcome of result.outcomes) tell(outcome, flags['skip-unresolved'] === true);
  tellUnreadable([...collected.unreadable, ...result.unreadable]);
  if (output === 'diff') await print(result.changes.map(diffOf).join(''));
  else if (output === 'json') await print(`${JSON.stringify({ workloads: result.outcomes.map(jsonOf) }, null, 2)}\n`);
  else await hand('inject', collected, result, flags['in-place'] === true);
}

export async function uninject(args: readonly string[]): Promise<void> {
  const { flags, words } = readArguments('uninject', args, 1);
  const collected = inputsOf('uninject', words, flags['in-place']);
  const result = await uninjectTexts(collected.inputs);
  for (const outcome of result.outcomes) tell(outcome, false);
  tellUnreadable([...collected.unreadable, ...result.unreadable]);
  await hand('uninject', collected, result, flags['in-place'] === true);
}

function inputsOf(command: 'inject' | 'uninject', [path]: readonly string[], isInPlace: true | undefined): Collected {
  if (path === undefined)
    throw badArguments(command, 'nothing to read; name a file, a directory, or - for standard input');
  if (isInPlace && path === '-') throw badArguments(command, '--in-place: cannot write standard input; leave it out');
  return collect([path], () => readFileSync(0));
}

/** Without the flag that of sexton check. */
function lockOf(path: string | undefined) {
  try {
    const file = path ?? fileSettings().images;
    return file === undefined ? new Map() : imagesOf(file);
  } catch (error) {
    throw error instanceof SettingError ? badArguments('inject', error.message) : error;
  }
}

/** One line for each container, or for a pod that is left as it is. */
function tell({ path, line, subject, refusal, members, skipped }: Outcome, skipsUnresolved: boolean): void {
  const say = (text: string): void => warn(cleanText(`${path}:${line} ${subject} ${text}`));
  if (refusal !== undefined) {
    const isPassedOver = refusal.isUnresolved && skipsUnresolved;
    say(`${isPassedOver ? 'passed over' : 'refused'}: ${refusal.message}`);
    if (!isPassedOver) process.exitCode = REFUSED;
    return;
  }
  for (const { container, role, wrapped, from } of members)
    say(`${container.name}: wrapped as ${role}: ${JSON.stringify(wrapped)} of ${from}`);
  for (const { container, why } of skipped) say(`${container.name}: left as it is: ${why}`);
}

function tellUnreadable(unreadable: readonly Unreadable[]): void {
  for (const { path, line, why } of unreadable) {
    warn(cleanText(`${line === undefined ? path : `${path}:${line}`} refused: ${why}`));
    process.exitCode = REFUSED;
  }
}

function jsonOf({ refusal, members, skipped, ...where }: Outcome) {
  const containers = [
    ...members.map(({ container, role, wrapped, from }) => ({ name: container.name, role, wrapped, from })),
    ...skipped.map(({ container, why }) => ({ name: container.name, skipped: why })),
  ];
  return { ...where, ...(refusal === undefined ? { containers } : { refused: refusal.message }) };
}

async function hand(
  command: 'inject' | 'uninject',
  { inputs }: Collected,
  { changes }: Injected,
  isInPlace: boolean,
): Promise<void> {
  if (!isInPlace) {
    const texts = inputs.map(({ path, text }) => changes.find(({ source }) => source.path === path)?.text ?? text);
    const ended = texts.map((text, at) => (at + 1 === texts.length || text.endsWith('\n') ? text : `${text}\n`));
    await print(ended.join('---\n'));
    return;
  }
  for (const { source, text } of changes)
    try {
      replaceText(source.path, source.text, text);
    } catch (error) {
      throw badArguments(command, `--in-place: cannot write ${show(source.path)}: ${(error as Error).message}`);
    }
}
