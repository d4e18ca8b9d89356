/** `sexton inject` and `sexton uninject`: what they do to pods is src/inject; here are files, and what is printed. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Collected, collect } from '../../check/files.ts';
import { diffOf } from '../../check/fix.ts';
import { isDockerfileName } from '../../check/input/texts.ts';
import { fileSettings, imagesOf } from '../../check/settings.ts';
import { replaceText } from '../../check/write-back.ts';
import { show } from '../../config/notation/parse.ts';
import { cleanText } from '../../core/format/tombstone.ts';
import { DELIVERIES } from '../../inject/delivery.ts';
import { type Injected, inject as injectTexts, type Outcome, uninject as uninjectTexts } from '../../inject/inject.ts';
import { policyText } from '../../inject/policy/policy.ts';
import { Refusal } from '../../inject/refusal.ts';
import { warn, whyNoFile } from '../../text/errors.ts';
import { print, printJson } from '../../text/print.ts';
import { versionNumber } from '../../text/version.ts';
import { badArguments, readArguments } from './arguments.ts';
import { settingsFor } from './check/settings-for.ts';
import { type FlagsWithImage, helmPlugin } from './helm-plugin.ts';

const REFUSED = 1;

export async function inject(args: readonly string[]): Promise<void> {
  const { flags, words } = readArguments('inject', args, 1);
  const { image, deliver = DELIVERIES[0], output, 'print-helm-plugin': plugin } = flags;
  if (image === undefined)
    throw badArguments('inject', 'no image of sexton; write --image with its name in your registry');
  if (flags.strict === true && output !== 'policy')
    throw badArguments('inject', '--strict: is for -o policy alone; leave it out');
  const given = { ...flags, image };
  if (plugin !== undefined) return printHelmPlugin(plugin, words, given);
  if (output === 'policy') return void (await print(policyOf(given, words)));
  const collected = inputsOf('inject', words, flags['in-place']);
  if (output !== undefined && flags['in-place'] === true)
    throw badArguments('inject', `--output ${output}: prints, and --in-place does not; leave one out`);
  const options = { images: lockOf(flags.images).images, image, deliver, version: versionNumber() };
  const result = await injectTexts(collected.inputs, options);
  tellAll(collected, result, flags['skip-unresolved'] === true);
  if (output === 'diff') await print(result.changes.map(diffOf).join(''));
  else if (output === 'json')
    await printJson({ workloads: result.outcomes.map(jsonOf), passedOver: result.passedOver });
  else await hand('inject', collected, result, flags['in-place'] === true);
}

export async function uninject(args: readonly string[]): Promise<void> {
  const { flags, words } = readArguments('uninject', args, 1);
  const collected = inputsOf('uninject', words, flags['in-place']);
  const result = await uninjectTexts(collected.inputs);
  tellAll(collected, result, false);
  await hand('uninject', collected, result, flags['in-place'] === true);
}

function inputsOf(command: 'inject' | 'uninject', [path]: readonly string[], isInPlace: true | undefined): Collected {
  if (path === undefined)
    throw badArguments(command, 'nothing to read; name a file, a directory, or - for standard input');
  if (isInPlace && path === '-') throw badArguments(command, '--in-place: cannot write standard input; leave it out');
  const collected = collect([path], () => readFileSync(0));
  const [missing] = collected.unreadable;
  if (missing?.path === path) throw badArguments(command, `${show(path)}: ${missing.why}`);
  return { ...collected, inputs: collected.inputs.filter((one) => !isDockerfileName(one.path)) };
}

/** `helm plugin install DIR`; what it runs is the sexton of its PATH, with these flags. */
function printHelmPlugin(directory: string, [path]: readonly string[], flags: FlagsWithImage): void {
  const unfit = path ?? (flags['in-place'] ? '--in-place' : flags.output && `--output ${flags.output}`);
  if (unfit !== undefined)
    throw badArguments('inject', `--print-helm-plugin: reads no manifests; leave ${show(unfit)} out`);
  const { file } = lockOf(flags.images);
  try {
    mkdirSync(directory, { recursive: true });
    writeFileSync(join(directory, 'plugin.yaml'), helmPlugin(versionNumber(), file, flags));
  } catch (error) {
    throw badArguments('inject', `--print-helm-plugin: cannot write into ${show(directory)}: ${whyNoFile(error)}`);
  }
}

/** The pods that it is for do not exist yet. */
function policyOf(flags: FlagsWithImage, [path]: readonly string[]): string {
  const { image, deliver = DELIVERIES[0], strict = false } = flags;
  const unread = path ?? (['in-place', 'skip-unresolved'] as const).find((name) => flags[name]);
  if (unread !== undefined)
    throw badArguments('inject', `-o policy: reads no manifests; leave out ${path ?? `--${unread}`}`);
  const { images } = lockOf(flags.images);
  if (images.size === 0) throw badArguments('inject', '-o policy: knows no image; write --images with an image lock');
  try {
    return policyText({ images, image, deliver, isStrict: strict });
  } catch (error) {
    throw error instanceof Refusal ? badArguments('inject', `--images: ${error.message}`) : error;
  }
}

/** Without the flag that of sexton check. */
function lockOf(path: string | undefined) {
  return settingsFor('inject', () => {
    const file = path ?? fileSettings().images;
    return { file, images: file === undefined ? new Map() : imagesOf(file) };
  });
}

function tellAll(collected: Collected, result: Injected, skipsUnresolved: boolean): void {
  for (const outcome of result.outcomes) tell(outcome, skipsUnresolved);
  for (const { path, line, subject, why } of result.passedOver)
    warn(cleanText(`${path}:${line} ${subject === undefined ? '' : `${subject} `}skipped: ${why}`));
  for (const { path, line, why } of [...collected.unreadable, ...result.unreadable]) {
    warn(cleanText(`${line === undefined ? path : `${path}:${line}`} refused: ${why}`));
    process.exitCode = REFUSED;
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

function jsonOf({ refusal, members, skipped, ...where }: Outcome) {
  const containers = [
    ...members.map(({ container, role, wrapped, from }) => ({ name: container.name, role, wrapped, from })),
    ...skipped.map(({ container, why }) => ({ name: container.name, skipped: why })),
  ];
  return { ...where, ...(refusal === undefined ? { containers } : { refused: refusal.message }) };
}

async function hand(
  command: 'inject' | 'uninject',
  collected: Collected,
  result: Injected,
  isInPlace: boolean,
): Promise<void> {
  if (!isInPlace) return void (await print(streamOf(collected, result)));
  const failures = result.changes.flatMap(({ source, text }) => {
    try {
      replaceText(source.path, source.text, text);
      return [];
    } catch (error) {
      return [`--in-place: cannot write ${show(source.path)}: ${whyNoFile(error)}`];
    }
  });
  const last = failures.pop();
  for (const failure of failures) warn(`${command}: ${failure}`);
  if (last !== undefined) throw badArguments(command, last);
}

/** A named file comes out as a whole. A directory gives only what is a manifest, and can be read. */
function streamOf({ inputs, named, unreadable }: Collected, { changes, ...result }: Injected): string {
  const left = new Set([...result.objectless, ...[...unreadable, ...result.unreadable].map(({ path }) => path)]);
  const isNamed = (path: string): boolean => named.some((one) => one.path === path);
  const [first = '', ...rest] = inputs
    .filter(({ path }) => isNamed(path) || !left.has(path))
    .map(({ path, text }) => changes.find(({ source }) => source.path === path)?.text ?? text);
  return rest.reduce((all, text) => `${all}${all.endsWith('\n') ? '' : '\n'}${separatorOf(text)}${text}`, first);
}

/** Directives are those of a document only behind the end of the one before it (YAML 1.2.2, 9.1.2). */
function separatorOf(text: string): string {
  const line = text.split('\n').find((one) => !/^\s*(#|$)/.test(one)) ?? '';
  const [first] = /^(%|---(?!\S))/.exec(line) ?? [];
  if (first === undefined) return '---\n';
  return first === '%' ? '...\n' : '';
}
