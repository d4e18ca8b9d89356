/** What containers of a Dockerfile or a Compose service start, where the image below them has a part of it. */
import { startedBy } from '../../config/notation/program.ts';
import { parseWords } from '../../config/notation/words.ts';
import type { ComposeService } from '../input/compose.ts';
import type { Stage } from '../input/dockerfile.ts';
import { at, isTrueAt } from '../input/located.ts';
import { argvOfImage, factsOfImage, type Images, shellOf } from './images.ts';
import { programOfImage } from './plan.ts';
import { fateOf, firstShellOf } from './shell.ts';

/** The words that the Dockerfile itself has, including those that a shell form of ENTRYPOINT ignores. */
export function ownArgvOfStage({ entrypoint, cmd }: Stage): readonly string[] {
  return [...(entrypoint?.argv ?? []), ...(cmd?.argv ?? [])];
}

/** The same with what is known of the image below. */
export function argvOfStage(stage: Stage, images: Images): readonly string[] {
  const { entrypoint, cmd, base } = stage;
  if (entrypoint !== undefined) return ownArgvOfStage(stage);
  const facts = factsOfImage(base, images);
  return [...(facts?.entrypoint ?? []), ...(cmd === undefined ? (facts?.cmd ?? []) : cmd.argv)];
}

/** The shell that is PID 1, and the instruction with its script; undefined: another program, or the image has it. */
export function firstShellOfStage(stage: Stage, images: Images) {
  const { entrypoint, cmd } = stage;
  const script = firstShellOf(argvOfStage(stage, images));
  if (script?.fromEnd === undefined) return undefined;
  const ofCmd = cmd?.argv.length ?? 0;
  const isCmd = script.fromEnd <= ofCmd;
  const started = isCmd ? cmd : entrypoint;
  if (started === undefined) return undefined;
  const list = started.arguments;
  const word = list.kind === 'list' ? list.items.at(-(isCmd ? script.fromEnd : script.fromEnd - ofCmd)) : undefined;
  return { script, started, word };
}

/** The command line of PID 1; empty: a shell that stays, or what is not known. */
export function firstProcessOfStage(stage: Stage, images: Images): readonly string[] {
  const { script, started } = firstShellOfStage(stage, images) ?? {};
  if (script === undefined || started?.form !== 'shell') return argvOfStage(stage, images);
  const words = parseWords(script.script);
  return !fateOf(script, shellOf(stage.base, images)).mayStay && words.ok ? words.value : [];
}

/** The program that a container of this stage runs; empty: unknown. */
export function programOfStage(stage: Stage, images: Images): string {
  const { entrypoint, cmd, base } = stage;
  const isOfImage = entrypoint === undefined && cmd?.form !== 'shell' && factsOfImage(base, images) === undefined;
  return (isOfImage ? programOfImage(base, cmd?.argv) : undefined) ?? startedBy(argvOfStage(stage, images)).program;
}

export function programOfService(service: ComposeService, images: Images): string {
  const argv = argvOfService(service, images);
  const { image, command, node } = service;
  const isOfImage = argv === undefined && at(node, 'entrypoint') === undefined;
  return (isOfImage ? programOfImage(image, command) : undefined) ?? startedBy(argv ?? []).program;
}

/** undefined: neither the service nor what is known of its image has it. */
export function argvOfService(service: ComposeService, images: Images): readonly string[] | undefined {
  const { argv, command, image, node } = service;
  // What is built here may be called like an official image.
  const known = at(node, 'build') === undefined || factsOfImage(image, images) !== undefined;
  return argv ?? (known ? argvOfImage(image, command, images) : undefined);
}

/** The command line of PID 1; empty: not known, or it is the init of Docker, or a process outside of the container. */
export function firstProcessOfService(service: ComposeService, images: Images): readonly string[] {
  const isElsewhere = isTrueAt(service.node, 'init') || at(service.node, 'pid') !== undefined;
  return (isElsewhere ? undefined : argvOfService(service, images)) ?? [];
}

/** npm, npx, yarn or pnpm, where it is PID 1. */
export function packageManagerOf(argv: readonly string[]): string | undefined {
  const { program, hasInit } = startedBy(argv);
  return /^(npm|npx|yarn|pnpm)$/.test(program) && !hasInit ? program : undefined;
}
