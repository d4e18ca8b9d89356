/** The last stage of a Dockerfile: what a container of it starts, and the signal that stops it. */
import { DockerfileParser, type Instruction } from 'dockerfile-ast';
import { type Located, parseLocated, type Range } from './located.ts';
import type { Source } from './source.ts';

export interface Started extends Range {
  readonly form: 'exec' | 'shell';
  /** With the shell of the shell form. */
  readonly argv: readonly string[];
  /** The list of the exec form, all of the shell form. */
  readonly arguments: Located;
}

export interface Stage {
  readonly source: Source;
  /** The image that it is made from, through the stages before; undefined: it has variables. */
  readonly base: string | undefined;
  readonly entrypoint: Started | undefined;
  readonly cmd: Started | undefined;
  /** The one of them that says what is PID 1. */
  readonly started: Started | undefined;
  readonly stopSignal: (Range & { readonly text: string }) | undefined;
  /** Local files that are copied to where they can be started: target to source. */
  readonly copied: ReadonlyMap<string, string>;
  readonly readBeside: (path: string) => string | undefined;
}

export function stageOf(source: Source, readBeside: Stage['readBeside']): Stage | undefined {
  const chain = lastStageOf(source.text);
  if (chain === undefined) return undefined;
  const { base, instructions } = chain;
  const copied = new Map<string, string>();
  const shell =
    lastOf('SHELL', (one) => wordsOfJson(one.getArgumentsContent() ?? '')) ??
    (/windows|nanoserver/.test(base) ? ['cmd', '/S', '/C'] : ['/bin/sh', '-c']);
  // An ENTRYPOINT takes away the CMD of the image below, and not one of its own stage, which mostly follows it.
  const entrypoint = lastOf('ENTRYPOINT', (one) => startedOf(source, one, shell));
  const cmd = lastOf('CMD', (one) => startedOf(source, one, shell));
  for (const one of instructions) if (/^(COPY|ADD)$/.test(one.getKeyword())) noteCopies(one, copied);
  return {
    source,
    base: base.includes('$') ? undefined : base,
    entrypoint,
    cmd,
    started: entrypoint ?? cmd,
    stopSignal: lastOf('STOPSIGNAL', (one) => {
      const [argument] = one.getArguments();
      return argument && { ...offsets(source, argument.getRange()), text: argument.getValue() };
    }),
    copied,
    readBeside,
  };

  function lastOf<T>(keyword: string, read: (instruction: Instruction) => T | undefined): T | undefined {
    return instructions
      .filter((one) => one.getKeyword() === keyword)
      .map(read)
      .findLast((one) => one !== undefined);
  }
}

/** The last stage with the instructions of those that it is made from, and the image below them. */
function lastStageOf(text: string) {
  const stages: { readonly name: string | undefined; readonly base: string; instructions: Instruction[] }[] = [];
  for (const instruction of DockerfileParser.parse(text).getInstructions()) {
    const words = argumentsOf(instruction);
    if (instruction.getKeyword() === 'FROM') {
      const [image = ''] = words.filter((word) => !word.startsWith('--'));
      const as = words.findIndex((word) => /^as$/i.test(word));
      const below = stages.find(({ name }) => name !== undefined && name.toLowerCase() === image.toLowerCase());
      const { base, instructions } = below ?? { base: image, instructions: [] };
      stages.push({ name: as < 0 ? undefined : words[as + 1], base, instructions: [...instructions] });
    } else stages.at(-1)?.instructions.push(instruction);
  }
  return stages.at(-1);
}

function startedOf(source: Source, instruction: Instruction, shell: readonly string[]): Started | undefined {
  const range = instruction.getArgumentsRange();
  const text = instruction.getArgumentsContent();
  if (range === null || text === null) return undefined;
  const whole = offsets(source, instruction.getRange());
  const place = offsets(source, range);
  const json = source.text.slice(place.start, place.end).replaceAll(/\\[ \t]*\r?\n/g, (end) => ' '.repeat(end.length));
  const argv = wordsOfJson(json);
  const all = { kind: 'scalar', ...place, value: text, text } as const;
  if (argv === undefined) return { ...whole, form: 'shell', argv: [...shell, text], arguments: all };
  const [list = all] = parseLocated(' '.repeat(place.start) + json).roots;
  return { ...whole, form: 'exec', argv, arguments: list };
}

/** The exec form is a JSON array of texts; what is not quite one is run by the shell. */
function wordsOfJson(text: string): readonly string[] | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) && value.every((word) => typeof word === 'string') ? value : undefined;
  } catch {
    return undefined;
  }
}

function noteCopies(instruction: Instruction, copied: Map<string, string>): void {
  const words = argumentsOf(instruction);
  if (words.some((word) => word.startsWith('--from'))) return;
  const paths = words.filter((word) => !word.startsWith('--')).map((word) => word.replace(/^\[?"?|"?,?\]?$/g, ''));
  const target = paths.pop();
  if (target === undefined) return;
  for (const path of paths) {
    const name = path.slice(path.lastIndexOf('/') + 1);
    if (!target.endsWith('/') && paths.length === 1) copied.set(target, path);
    copied.set(`${target.replace(/\/$/, '')}/${name}`, path);
  }
}

function argumentsOf(instruction: Instruction): readonly string[] {
  return instruction.getArguments().map((argument) => argument.getValue());
}

function offsets({ lines }: Source, { start, end }: ReturnType<Instruction['getRange']>): Range {
  return { start: (lines[start.line] ?? 0) + start.character, end: (lines[end.line] ?? 0) + end.character };
}
