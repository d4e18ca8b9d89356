/**
 * `sexton report [-o FORMAT] [--against FILE] [--fail-on forced,late] [--watch] [--graveyard DIR] [SOURCE...]`: how the
 * pod, or many pods, stopped. A source is a graveyard, a file, or `-` for standard input.
 */
import { createReadStream, statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Env } from '../../config/env.ts';
import { parseYaml } from '../../config/file/yaml.ts';
import { flagLabel } from '../../config/given.ts';
import { choice, show } from '../../config/notation/parse.ts';
import { htmlPage } from '../../report/html.ts';
import { type Read, readText } from '../../report/input.ts';
import { podsJson, podsPerfetto } from '../../report/plain.ts';
import { forcedOf, lateOf, type MemberStop, type PodStop, podsOf } from '../../report/stop.ts';
import { podSvg } from '../../report/svg.ts';
import { fleetText, podText, type TextStyle } from '../../report/text.ts';
import { type Now, stopOfTombstone } from '../../report/tombstones.ts';
import { SextonError, whyNoFile } from '../../text/errors.ts';
import { clearing, outputWidth, print, WATCH_MS } from '../../text/print.ts';
import { accepted, readArguments, refusalOf } from './arguments.ts';
import type { REPORT_FORMATS } from './commands.ts';
import { findHere, type Here, momentHere, readHere } from './here.ts';
import { textStyle } from './text-style.ts';

const refuse = refusalOf('report');

type Format = (typeof REPORT_FORMATS)[number];
type Failure = (pod: PodStop) => readonly MemberStop[];
const FAILURES = { forced: forcedOf, late: lateOf } as const satisfies Readonly<Record<string, Failure>>;

/** A log of tens of thousands of pods; more is better filtered to the lines of sexton first. */
export const MAX_SOURCE_BYTES = 256 * 1024 * 1024;

export async function report(args: readonly string[], env: Env): Promise<void> {
  const given = argumentsOf(args);
  const pods = given.watch ? await watch(given, env) : await podsCompared(given, env);
  if (!given.watch) await print(formatted(pods, given.format, env));
  if (given.failures.some((failure) => pods.some((pod) => failure(pod).length > 0))) process.exitCode = 1;
}

/** Every second, until all have ended or no one reads on. */
async function watch(given: Arguments, env: Env): Promise<readonly PodStop[]> {
  const clear = clearing();
  for (;;) {
    const pods = await podsNow(given, env);
    const text = pods.length === 0 ? 'no tombstone yet\n' : textOfPods(pods, textStyle(env, PIPE_COLUMNS));
    if (!(await print(`${clear}${text}`))) return pods;
    const members = pods.flatMap((pod) => pod.members);
    if (members.length > 0 && members.every(({ diedMs, reason }) => diedMs !== undefined || reason === 'lost'))
      return pods;
    await sleep(WATCH_MS);
  }
}

/** With what --against lets expect of them. The check is loaded only for that. */
async function podsCompared(given: Arguments, env: Env): Promise<readonly PodStop[]> {
  const pods = await podsNow(given, env);
  if (given.against === undefined) return pods;
  return (await import('./check/against.ts')).withPredictions(pods, given.against);
}

async function podsNow({ graveyard, sources, watch }: Arguments, env: Env): Promise<readonly PodStop[]> {
  const now = momentHere();
  const members: MemberStop[] = [];
  const whys: string[] = [];
  if (sources.length === 0 || graveyard !== undefined)
    members.push(...(await membersOfGraveyard(await findHere('report', graveyard, env), now)));
  for (const source of sources) {
    const read = await readSource(source, now);
    members.push(...read.members);
    if (read.why !== undefined) whys.push(`${show(source)}: ${read.why}`);
  }
  if (members.length === 0 && !watch) throw refuse(whys.join('; ') || 'the graveyard has no tombstone');
  return podsOf(members, now.ms);
}

type Arguments = ReturnType<typeof argumentsOf>;

function argumentsOf(args: readonly string[]) {
  const { flags, words } = readArguments('report', args);
  const { output = 'text', 'fail-on': failOn, graveyard, against } = flags;
  const watch = flags.watch !== undefined;
  if (watch && words.some((source) => source === '-' || !isDirectory(source)))
    throw refuse('--watch: only a graveyard changes while it is read; name one, or none');
  if (watch && output !== 'text') throw refuse('--watch: it shows text; leave --output out');
  if (against !== undefined && (watch || output === 'perfetto'))
    throw refuse(`--against: ${watch ? '--watch' : output} cannot show it; take text, html, svg or json`);
  if (against === '-') throw refuse('--against -: name the file of the manifest');
  const failures = failOn === undefined ? [] : failOn.split(',').map(failureOf);
  return { format: output, failures, watch, graveyard, against, sources: words };
}

function failureOf(word: string): Failure {
  const names = Object.keys(FAILURES) as (keyof typeof FAILURES)[];
  return FAILURES[accepted('report', flagLabel('fail-on', word), choice(names)(word))];
}

async function membersOfGraveyard(here: Here, now: Now): Promise<readonly MemberStop[]> {
  const { members } = await readHere(here);
  return members.map((member) => stopOfTombstone(member, now));
}

async function readSource(source: string, now: Now): Promise<Pick<Read, 'members' | 'why'>> {
  if (source !== '-' && isDirectory(source)) {
    const here = { dir: source, source: '--graveyard', member: undefined };
    return { members: await membersOfGraveyard(here, now), why: 'it has no tombstone' };
  }
  return readText(await textOf(source), now.ms, (yaml) => {
    const value = parseYaml(yaml);
    return value.ok ? value.value : undefined;
  });
}

function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch (error) {
    throw refuse(`${show(path)}: ${whyNoFile(error)}`);
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
    throw error instanceof SextonError ? error : refuse(`${show(source)}: ${whyNoFile(error)}`);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function formatted(pods: readonly PodStop[], format: Format, env: Env): string {
  switch (format) {
    case 'text':
      return textOfPods(pods, textStyle(env, PIPE_COLUMNS));
    case 'html':
      return htmlPage(pods);
    case 'svg':
      return podSvg(onlyOf(pods, format));
    case 'json':
      return podsJson(pods);
    case 'perfetto':
      return podsPerfetto(pods);
    default:
      return format satisfies never;
  }
}

/** More pods than this are shown as figures by workload only, unless a format is for machines. */
const MAX_CHARTS = 5;

function textOfPods(pods: readonly PodStop[], style: TextStyle): string {
  const charts = pods.length > MAX_CHARTS ? [] : pods.map((pod) => podText(pod, style));
  return [...charts, ...(pods.length > 1 ? [fleetText(pods, outputWidth())] : [])].join('\n');
}

function onlyOf(pods: readonly PodStop[], format: Format): PodStop {
  const [pod, ...more] = pods;
  if (pod !== undefined && more.length === 0) return pod;
  throw refuse(`--output ${format}: draws one pod, and there are ${pods.length}; name one, or take html`);
}

/** A bar needs an end, also where the output goes to a file. */
const PIPE_COLUMNS = 80;
