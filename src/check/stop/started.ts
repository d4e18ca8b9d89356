/** What containers of a Dockerfile or a Compose service start, where the image below them has a part of it. */
import { startedBy } from '../../config/notation/program.ts';
import { parseWords } from '../../config/notation/words.ts';
import type { ComposeService } from '../input/compose.ts';
import type { Stage } from '../input/dockerfile.ts';
import { at, isTrueAt } from '../input/located.ts';
import { argvOfImage, factsOfImage, type Images, shellOf } from './images.ts';
import { programOfImage } from './plan.ts';
import { fateOf, type ShellCommand, shellCommandOf } from './shell.ts';

/** What the Dockerfile itself has of it, in the exec form; empty: the shell form, or nothing. */
export function ownArgvOfStage({ entrypoint, cmd }: Stage): readonly string[] {
  return entrypoint?.form === 'shell' ? [] : [...(entrypoint?.argv ?? []), ...(cmd?.argv ?? [])];
}

/** The same with what is known of the image below. */
export function argvOfStage(stage: Stage, images: Images): readonly string[] {
  const { entrypoint, cmd, base } = stage;
  if (entrypoint !== undefined) return ownArgvOfStage(stage);
  const facts = factsOfImage(base, images);
  return [...(facts?.entrypoint ?? []), ...(cmd === undefined ? (facts?.cmd ?? []) : cmd.argv)];
}

/** What runs the shell form of what the stage starts. */
export function shellFormOf({ started, shell }: Stage): ShellCommand | undefined {
  return started?.form === 'shell' ? shellCommandOf([shell, '-c', started.script]) : undefined;
}

/** The command line of PID 1; empty: a shell that stays, or what is not known. */
export function firstProcessOfStage(stage: Stage, images: Images): readonly string[] {
  const { started, base } = stage;
  if (started?.form !== 'shell') return argvOfStage(stage, images);
  const command = shellFormOf(stage);
  const words = parseWords(started.script);
  const becomes = command !== undefined && !fateOf(command, shellOf(base, images)).mayStay;
  return becomes && words.ok && !isBehindEntrypoint(stage, images) ? words.value : [];
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

/** The image has an entrypoint that stays in front of CMD, or of which nothing is known; CMD is then not PID 1. */
export function isBehindEntrypoint({ entrypoint, base }: Stage, images: Images): boolean {
  const inherited = entrypoint === undefined ? (factsOfImage(base, images)?.entrypoint ?? []) : [];
  if (inherited.length === 0) return false;
  const { program, hasInit } = startedBy([...inherited, MARK]);
  return program !== MARK || hasInit;
}

const MARK = 'cmd';
