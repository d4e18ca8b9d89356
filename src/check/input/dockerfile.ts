/**
 * The last stage of a Dockerfile: what a container of it starts, and the signal that stops it.
 */
import { DockerfileParser, type Instruction } from 'dockerfile-ast';
import type { Range } from './located.ts';
import type { Source } from './source.ts';

export interface Started extends Range {
  readonly form: 'exec' | 'shell';
  /** Of the exec form. */
  readonly argv: readonly string[];
  /** Of the shell form. */
  readonly script: string;
  /** What stands behind the keyword. */
  readonly arguments: Range;
}

export interface Stage {
  readonly source: Source;
  readonly isDockerfile: true;
  /** The image that it is made from, through the stages before; undefined: it has variables. */
  readonly base: string | undefined;
  readonly entrypoint: Started | undefined;
  readonly cmd: Started | undefined;
  /** Of SHELL: the program that runs the shell form. */
  readonly shell: string;
  readonly stopSignal: (Range & { readonly text: string }) | undefined;
  /** Local files that are copied to where they can be started: target to source. */
  readonly copied: ReadonlyMap<string, string>;
  /** Text of a file beside the Dockerfile; undefined: it cannot be read. */
  readonly readBeside: (path: string) => string | undefined;
}

export function stageOf(source: Source, readBeside: Stage['readBeside']): Stage | undefined {
  const dockerfile = DockerfileParser.parse(source.text);
  const stages: { name: string | undefined; base: string; instructions: Instruction[] }[] = [];
  for (const instruction of dockerfile.getInstructions()) {
    const words = instruction.getArguments().map((argument) => argument.getValue());
    if (instruction.getKeyword() === 'FROM') {
      const [image = ''] = words.filter((word) => !word.startsWith('--'));
      const as = words.findIndex((word) => /^as$/i.test(word));
      stages.push({ name: as < 0 ? undefined : words[as + 1], base: image, instructions: [] });
    } else stages.at(-1)?.instructions.push(instruction);
  }
  const last = stages.at(-1);
  if (last === undefined) return undefined;
  const chain = [last];
  for (let stage = last; ; ) {
    const earlier = stages.slice(0, stages.indexOf(stage));
    const before = earlier.find(({ name }) => name?.toLowerCase() === stage.base.toLowerCase());
    if (before === undefined) break;
    chain.unshift(before);
    stage = before;
  }
  const base = chain[0]?.base ?? '';
  const found: { entrypoint?: Started; cmd?: Started; shell?: string | undefined; stopSignal?: Stage['stopSignal'] } =
    {};
  const copied = new Map<string, string>();
  for (const instruction of chain.flatMap(({ instructions }) => instructions)) {
    const keyword = instruction.getKeyword();
    const started = keyword === 'ENTRYPOINT' || keyword === 'CMD' ? startedOf(source, instruction) : undefined;
    if (keyword === 'CMD' && started !== undefined) found.cmd = started;
    if (keyword === 'ENTRYPOINT' && started !== undefined) {
      // An ENTRYPOINT takes away the CMD of the image that it is made from, not one of its own stage; that one follows
      // mostly.
      found.entrypoint = started;
    }
    if (keyword === 'SHELL') found.shell = wordsOfJson(instruction.getArgumentsContent() ?? '')?.[0];
    if (keyword === 'STOPSIGNAL') {
      const [argument] = instruction.getArguments();
      if (argument !== undefined)
        found.stopSignal = { ...offsets(source, argument.getRange()), text: argument.getValue() };
    }
    if (keyword === 'COPY' || keyword === 'ADD') noteCopies(instruction, copied);
  }
  return {
    source,
    isDockerfile: true,
    base: base.includes('$') ? undefined : base,
    entrypoint: found.entrypoint,
    cmd: found.cmd,
    shell: found.shell ?? (/windows|nanoserver/.test(base) ? 'cmd' : '/bin/sh'),
    stopSignal: found.stopSignal,
    copied,
    readBeside,
  };
}

function startedOf(source: Source, instruction: Instruction): Started | undefined {
  const range = instruction.getArgumentsRange();
  const text = instruction.getArgumentsContent();
  if (range === null || text === null) return undefined;
  const whole = offsets(source, instruction.getRange());
  const place = offsets(source, range);
  const argv = wordsOfJson(source.text.slice(place.start, place.end));
  const form = argv === undefined ? 'shell' : 'exec';
  return { ...whole, form, argv: argv ?? [], script: argv === undefined ? text : '', arguments: place };
}

/** The exec form is a JSON array of texts; what is not quite one is run by the shell. */
function wordsOfJson(text: string): readonly string[] | undefined {
  try {
    const value: unknown = JSON.parse(text.replaceAll(/\\[ \t]*\r?\n/g, ' '));
    return Array.isArray(value) && value.every((word) => typeof word === 'string') ? value : undefined;
  } catch {
    return undefined;
  }
}

function noteCopies(instruction: Instruction, copied: Map<string, string>): void {
  const words = instruction.getArguments().map((argument) => argument.getValue());
  if (words.some((word) => word.startsWith('--from'))) return;
  const paths = words.filter((word) => !word.startsWith('--')).map((word) => word.replace(/^\[?"?|"?,?\]?$/g, ''));
  const target = paths.pop();
  if (target === undefined) return;
  for (const path of paths) {
    const name = path.slice(path.lastIndexOf('/') + 1);
    copied.set(target.endsWith('/') || paths.length > 1 ? `${target.replace(/\/$/, '')}/${name}` : target, path);
    copied.set(`${target.replace(/\/$/, '')}/${name}`, path);
  }
}

interface LspRange {
  readonly start: { readonly line: number; readonly character: number };
  readonly end: { readonly line: number; readonly character: number };
}

function offsets({ lines }: Source, { start, end }: LspRange): Range {
  return { start: (lines[start.line] ?? 0) + start.character, end: (lines[end.line] ?? 0) + end.character };
}
