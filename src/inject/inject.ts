/** Puts sexton into the pods of texts, and takes it out. Every byte outside of what is inserted stays. No files. */
import { applied } from '../check/edits.ts';
import type { Edit } from '../check/finding.ts';
import { type Fixed, inPasses } from '../check/fix.ts';
import type { Located } from '../check/input/located.ts';
import { objectsOf, type Workload } from '../check/input/objects.ts';
import { type PassedOver, passedOverIn } from '../check/input/passed-over.ts';
import { positionAt, type Source } from '../check/input/source.ts';
import { type Input, type Inputs, readInputs } from '../check/input/texts.ts';
import type { Images } from '../check/stop/images.ts';
import { podViewOf } from '../check/stop/plan.ts';
import { type Roster, rosterOf } from './members.ts';
import { piecesOf, sharedIn, type Way } from './pieces.ts';
import { Refusal, refuse } from './refusal.ts';
import { undoEdits, undoNote } from './undo.ts';

export interface Options extends Way {
  readonly images: Images;
  readonly version: string;
}

export interface Outcome extends Roster {
  readonly path: string;
  readonly line: number;
  /** `Deployment/web`. */
  readonly subject: string;
  /** It is left as it is. */
  readonly refusal: Refusal | undefined;
}

export interface Injected extends Pick<Inputs, 'unreadable' | 'objectless'> {
  readonly changes: readonly Fixed[];
  readonly outcomes: readonly Outcome[];
  readonly passedOver: readonly PassedOver[];
}

type Texts = readonly Input[];
/** By the number of the workload among all. */
type Refusals = Map<number, Refusal>;
/** By the number of the input. */
type Edits = readonly (readonly Edit[])[];

/** What is injected already is taken out first, so that it gets what this version injects. */
export async function inject(inputs: Texts, options: Options): Promise<Injected> {
  return await untilNoneIsRefused(inputs, async (refusals) => {
    const undone = eachOf(read(inputs), refusals, undoEdits);
    const plain = edited(inputs, undone);
    const { edits, rosters } = await injected(read(plain), refusals, options);
    await verify(plain, edits, refusals, rosters, options.images);
    return { passes: [undone, edits], rosters };
  });
}

export async function uninject(inputs: Texts): Promise<Injected> {
  return await untilNoneIsRefused(inputs, async (refusals) => ({
    passes: [eachOf(read(inputs), refusals, undoEdits)],
    rosters: [],
  }));
}

/** A pod that is refused stays as it was, with what an earlier version injected: all others are then done again. */
async function untilNoneIsRefused(
  inputs: Texts,
  attempt: (refusals: Refusals) => Promise<{ readonly passes: readonly Edits[]; readonly rosters: Rosters }>,
): Promise<Injected> {
  const refusals: Refusals = new Map();
  const { objects, workloads, sources, unreadable, objectless } = read(inputs);
  const passedOver = passedOverIn(objects);
  for (;;) {
    const before = refusals.size;
    const { passes, rosters } = await attempt(refusals);
    if (refusals.size > before) continue;
    const editsAt = (at: number) => passes.map((edits) => edits[at] ?? []);
    const changes = sources.map((source, at) => inPasses(source, editsAt(at)));
    const outcomes = workloads.map(({ kind, name, object, pod: { source } }, at) => ({
      path: source.path,
      line: positionAt(source, object.start).line,
      subject: `${kind}/${name}`,
      refusal: refusals.get(at),
      ...(rosters[at] ?? NOBODY),
    }));
    const changed = changes.filter(({ source, text }) => text !== source.text);
    return { changes: changed, outcomes, passedOver, unreadable, objectless };
  }
}

type Rosters = readonly (Roster | undefined)[];
const NOBODY: Roster = { members: [], skipped: [] };

type Read = ReturnType<typeof read>;

function read(inputs: Texts) {
  const { definitions, services, ...texts } = readInputs(inputs);
  const objects = objectsOf(texts.roots, definitions);
  const objectless = new Set([...texts.objectless, ...services.map(({ source }) => source.path)]);
  return { ...texts, objectless, objects, workloads: objects.workloads };
}

/** The edits of all workloads that are not refused. */
function eachOf(
  { sources, workloads }: Read,
  refusals: Refusals,
  editsOf: (workload: Workload, at: number) => readonly Edit[],
): Edits {
  const all = new Map<Source, Edit[]>(sources.map((source) => [source, []]));
  for (const [at, workload] of workloads.entries())
    all.get(workload.pod.source)?.push(...(unlessRefused(refusals, at, () => editsOf(workload, at)) ?? []));
  return sources.map((source) => joined(all.get(source) ?? []));
}

/** What is inserted at one place becomes one edit. */
function joined(edits: readonly Edit[]): readonly Edit[] {
  const places = Map.groupBy(edits, ({ start, end }) => `${start} ${end}`);
  return [...places.values()].flatMap((same) => {
    const [first] = same;
    return first === undefined ? [] : [{ ...first, text: same.map(({ text }) => text).join('') }];
  });
}

function unlessRefused<T>(refusals: Refusals, at: number, doIt: () => T): T | undefined {
  if (refusals.has(at)) return undefined;
  try {
    return doIt();
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    refusals.set(at, error);
    return undefined;
  }
}

function edited(inputs: Texts, edits: Edits): Texts {
  return inputs.map((input, at) => ({ ...input, text: applied(input.text, edits[at] ?? []) }));
}

async function injected(plain: Read, refusals: Refusals, { images, version, ...way }: Options) {
  const { objects, workloads, roots } = plain;
  const shared = new Set<Located>(roots.flatMap(({ root }) => [...sharedIn(root)]));
  const views = await Promise.all(workloads.map((workload) => podViewOf(workload, objects, images)));
  const rosters: (Roster | undefined)[] = workloads.map(() => undefined);
  const edits = eachOf(plain, refusals, (workload, at) => {
    const view = views[at];
    const roster = view && rosterOf(workload.pod, view, images);
    rosters[at] = roster;
    if (roster === undefined || roster.members.length === 0) return [];
    const pieces = piecesOf(workload.pod, roster.members, way, shared);
    const note = undoNote(workload, pieces.inserted, version, shared);
    return [...pieces.edits, ...note];
  });
  return { edits, rosters };
}

/** What was written is read again, as Kubernetes and `sexton run` will do, and taken out again. */
async function verify(plain: Texts, edits: Edits, refusals: Refusals, rosters: Rosters, images: Images): Promise<void> {
  const after = edited(plain, edits);
  const result = read(after);
  const { objects, workloads, sources } = result;
  const views = await Promise.all(workloads.map((workload) => podViewOf(workload, objects, images)));
  const back = edited(after, eachOf(result, refusals, undoEdits));
  for (const [at, roster] of rosters.entries()) {
    const { containers = [] } = views[at] ?? {};
    unlessRefused(refusals, at, () => {
      const source = workloads[at]?.pod.source;
      const file = source === undefined ? -1 : sources.indexOf(source);
      if (back[file]?.text !== plain[file]?.text) refuse(STRANGE);
      for (const { container, words } of roster?.members ?? []) {
        const view = containers.find((one) => one.container.name === container.name);
        const [problem] = view?.sexton?.problems ?? [];
        if (problem !== undefined) refuse(`${container.name}: sexton would refuse its flags: ${problem}`);
        const head = view?.container.command?.slice(0, words.length);
        if (head?.length !== words.length || head[0] !== words[0]) refuse(STRANGE);
      }
    });
  }
}

const STRANGE = 'it is written in a way that cannot be edited safely; write the pod as plain YAML';
