/**
 * `sexton report [-o FORMAT] [--fail-on forced,late] [--graveyard DIR] [SOURCE...]`: how the pod, or many pods, stopped. A source is a
 * graveyard, a file, or `-` for standard input.
 */
import { createReadStream, statSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { htmlPage } from '../report/html.ts';
import { type Read, readText } from '../report/input.ts';
import { podMarkdown, podMermaid, podsJson, podsPerfetto } from '../report/plain.ts';
import { forcedOf, lateOf, type MemberStop, type PodStop, podsOf } from '../report/stop.ts';
import { podSvg } from '../report/svg.ts';
import { fleetText, podText, type TextStyle } from '../report/text.ts';
import { stopOfTombstone } from '../report/tombstones.ts';
import { REPORT_FORMATS } from './commands.ts';
import type { Env } from './env.ts';
import { SextonError } from './errors.ts';
import { findHere, type Here, readHere } from './here.ts';
import { nearest } from './nearest.ts';
import { show } from './parse.ts';
import { outputWidth, print } from './print.ts';
import { parseYaml } from './yaml.ts';

type Format = (typeof REPORT_FORMATS)[number];
const FAILURES = ['forced', 'late'] as const;
type Failure = (typeof FAILURES)[number];

/** A log of tens of thousands of pods; more is better filtered to the lines of sexton first. */
export const MAX_SOURCE_BYTES = 256 * 1024 * 1024;

export async function report(args: readonly string[], env: Env): Promise<void> {
  const { format, failOn, graveyard, sources } = argumentsOf(args);
  const nowMs = Date.now();
  const members: MemberStop[] = [];
  if (sources.length === 0 || graveyard !== undefined)
    members.push(...(await membersOfGraveyard(await findHere('report', graveyard, env), nowMs)));
  for (const source of sources) members.push(...(await membersOfSource(source, nowMs)));
  if (members.length === 0)
    throw refuse(`${sources.map(show).join(', ') || 'the graveyard'}: nothing that sexton wrote was found there`);
  const pods = podsOf(members, nowMs);
  await print(formatted(pods, format, env));
  if (failOn.some((failure) => pods.some((pod) => hasFailed(pod, failure)))) process.exitCode = 1;
}

interface Arguments {
  readonly format: Format;
  readonly failOn: readonly Failure[];
  readonly graveyard: string | undefined;
  readonly sources: readonly string[];
}

function argumentsOf(args: readonly string[]): Arguments {
  const { values, positionals } = parsed(args);
  const { output = 'text', 'fail-on': failOn, graveyard } = values;
  return {
    format: wordOf('--output', output, REPORT_FORMATS),
    failOn: failOn === undefined ? [] : failOn.split(',').map((word) => wordOf('--fail-on', word, FAILURES)),
    graveyard,
    sources: positionals,
  };
}

function parsed(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        output: { type: 'string', short: 'o' },
        'fail-on': { type: 'string' },
        graveyard: { type: 'string' },
      },
    });
  } catch (error) {
    // Its message names the flag and what is wrong with it; the second sentence is about positionals.
    throw refuse(
      `${(error as Error).message.split('. ')[0]}; it takes --output FORMAT, --fail-on forced,late, --graveyard DIR and sources`,
    );
  }
}

function wordOf<const Word extends string>(flag: string, text: string, words: readonly Word[]): Word {
  const word = words.find((candidate) => candidate === text);
  if (word !== undefined) return word;
  const near = nearest(text, words);
  throw refuse(
    `${flag} ${show(text)}: not one of ${words.join(', ')}${near === undefined ? '' : `; did you mean ${near}?`}`,
  );
}

function refuse(problem: string): SextonError {
  return new SextonError('badArguments', { subcommand: 'report', problem });
}

async function membersOfGraveyard(here: Here, nowMs: number): Promise<readonly MemberStop[]> {
  const { members } = await readHere(here);
  return members.map((member) => stopOfTombstone(member, '', nowMs));
}

async function membersOfSource(source: string, nowMs: number): Promise<readonly MemberStop[]> {
  if (source !== '-' && isDirectory(source))
    return membersOfGraveyard({ dir: source, source: '--graveyard', member: undefined }, nowMs);
  const text = await textOf(source);
  const { members }: Read = readText(text, nowMs, (yaml) => {
    const value = parseYaml(yaml);
    return value.ok ? value.value : undefined;
  });
  return members;
}

function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch (error) {
    throw refuse(`${show(path)}: ${whyNot(error)}`);
  }
}

async function textOf(source: string): Promise<string> {
  const stream = source === '-' ? process.stdin : createReadStream(source);
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of stream) {
      bytes += (chunk as Buffer).length;
      if (bytes > MAX_SOURCE_BYTES)
        throw refuse(
          `${show(source)}: larger than ${MAX_SOURCE_BYTES} bytes; keep only the lines that contain "Summary"`,
        );
      chunks.push(chunk as Buffer);
    }
  } catch (error) {
    throw error instanceof SextonError ? error : refuse(`${show(source)}: ${whyNot(error)}`);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function whyNot(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT') return 'no such file or directory';
  return code === 'EACCES' ? 'permission denied' : message;
}

function formatted(pods: readonly PodStop[], format: Format, env: Env): string {
  switch (format) {
    case 'text':
      return textOfPods(pods, styleOf(env));
    case 'html':
      return htmlPage(pods);
    case 'svg':
      return podSvg(onlyOf(pods, format));
    case 'json':
      return podsJson(pods);
    case 'mermaid':
      return podMermaid(onlyOf(pods, format));
    case 'markdown':
      return pods.map(podMarkdown).join('\n');
    case 'perfetto':
      return podsPerfetto(pods);
    default:
      return format satisfies never;
  }
}

/** More pods than this are told as figures by workload only, unless a format is for machines. */
const MAX_CHARTS = 5;

function textOfPods(pods: readonly PodStop[], style: TextStyle): string {
  const charts = pods.slice(0, pods.length > MAX_CHARTS ? 0 : pods.length).map((pod) => podText(pod, style));
  return [...charts, ...(pods.length > 1 ? [fleetText(pods, style.width)] : [])].join('\n');
}

function onlyOf(pods: readonly PodStop[], format: Format): PodStop {
  const [pod, ...more] = pods;
  if (pod !== undefined && more.length === 0) return pod;
  throw refuse(`--output ${format}: draws one pod, and there are ${pods.length}; name one, or take html`);
}

function hasFailed(pod: PodStop, failure: Failure): boolean {
  return (failure === 'forced' ? forcedOf(pod) : lateOf(pod)).length > 0;
}

/** no-color.org: any value that is not empty. ASCII where the locale says that it is not UTF-8; none set is a container's. */
function styleOf(env: Env): TextStyle {
  const locale = env.LC_ALL || env.LC_CTYPE || env.LANG;
  const ascii = locale !== undefined && locale !== '' && !/utf-?8/i.test(locale);
  return { width: outputWidth(), colours: process.stdout.isTTY === true && !env.NO_COLOR, ascii };
}
