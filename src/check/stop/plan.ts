/**
 * What each container of a pod does in a stop, as far as its manifest shows it. The timeline is computed from this. The
 * plan of a container under sexton is read by sexton's own parser, other programs by the stop presets.
 */
import { basename } from 'node:path';
import { readCommandLine } from '../../config/argv.ts';
import { startedBy } from '../../config/notation/program.ts';
import { presetNamed, presetOf } from '../../config/notation/stop/stop-presets.ts';
import { type Files, type Resolution, resolveRun, type Source } from '../../config/resolve.ts';
import type { RunConfig } from '../../config/run-config.ts';
import { settle } from '../../config/settle.ts';
import { isRun } from '../../config/subcommand.ts';
import type { MemberConfig } from '../../core/config.ts';
import { isStopRequest, ladderOf } from '../../core/ladder.ts';
import { type Budget, killAtMs, lastTurnMs } from '../../core/pod/deadline.ts';
import { SIGKILL, SIGTERM, signalNumber } from '../../core/signals.ts';
import type { ComposeService } from '../input/compose.ts';
import { itemsAt, textAt, textsAt } from '../input/located.ts';
import { configMapOf, type Objects, type Workload } from '../input/objects.ts';
import { argvOf, type Container, type Hook, type Pod } from '../input/pod.ts';
import { declaredMs } from './declared.ts';
import { argvOfImage, factsOfImage, type Images, referenceOf, shellOf, stopSignalOf } from './images.ts';
import { between, exactly, type Interval, plus, UNKNOWN, ZERO } from './interval.ts';
import { settingOf } from './settings.ts';
import { type Fate, fateOf, firstShellOf, type ShellCommand, shellCommandOf, sleepMs, sleepOf } from './shell.ts';
import { type ContainerPlan, type ContainerStop, type Timeline, timelineOf } from './timeline.ts';

export interface Sexton {
  /** undefined: its configuration is not among the inputs. */
  readonly run: RunConfig | undefined;
  /** Why it would not start. */
  readonly problems: readonly string[];
  /** Flags whose values may be others, by an environment that is not among the inputs. */
  readonly unsure: ReadonlySet<string>;
}

export interface ContainerView {
  readonly container: Container;
  /** PID 1, where the manifest or `--images` has it. */
  readonly argv: readonly string[] | undefined;
  readonly sexton: Sexton | undefined;
  /** What sexton does in it; undefined: it has no sexton, or that is not known. */
  readonly member: MemberConfig | undefined;
  /** The command that does the work: behind sexton, inits and shells that exec. */
  readonly program: string | undefined;
  readonly programArgs: readonly string[];
  /** The shell in front of it, as PID 1 or under sexton; undefined: none. */
  readonly shell: (Fate & { readonly command: ShellCommand }) | undefined;
  /** That the platform sends; undefined: the image's, which is not known. */
  readonly stopSignal: string | undefined;
  /** How long the preStop hook takes; undefined: there is none. */
  readonly hook: Interval | undefined;
  /** How long the program takes to stop by its own settings. */
  readonly setting: { readonly ms: number; readonly by: string } | undefined;
  readonly plan: ContainerPlan;
  readonly stop: ContainerStop;
}

export interface PodView {
  readonly containers: readonly ContainerView[];
  readonly timeline: Timeline;
}

export async function podViewOf(workload: Workload, objects: Objects, images: Images): Promise<PodView> {
  const { pod } = workload;
  const graceMs = pod.graceSeconds * 1_000;
  const first = await Promise.all(pod.containers.map((container) => factsOf(container, pod, objects, images)));
  const planned = first.map((facts) => ({ ...facts, plan: planOf(facts, first, pod) }));
  const timeline = timelineOf({ graceMs, containers: planned.map(({ plan }) => plan) });
  const containers = planned.flatMap((one, index) => {
    const stop = timeline.containers[index];
    return stop === undefined ? [] : [{ ...one, stop }];
  });
  return { containers, timeline };
}

type Facts = Omit<ContainerView, 'plan' | 'stop'>;

async function factsOf(container: Container, pod: Pod, objects: Objects, images: Images): Promise<Facts> {
  const argv = argvOf(container) ?? argvOfImage(container.image, container.args, images);
  const own = factsOfImage(container.image, images)?.env;
  const layers = [new Map(Object.entries(own ?? {})), ...layersOf(container, pod, objects), container.env];
  const sexton = argv === undefined ? undefined : await sextonOf(argv, layers, filesOf(container, pod, objects));
  const inner = sexton === undefined ? argv : sexton.run?.program.argv;
  const started = inner === undefined ? undefined : startedBy(inner);
  const command = inner && firstShellOf(inner);
  const isFirst = !pod.sharesProcesses || sexton !== undefined;
  const byName = argv === undefined ? programOfImage(container.image, container.args) : undefined;
  const program = started?.program ?? byName;
  const args = started?.args ?? container.args ?? [];
  const { preStop } = container;
  const hookMs = declaredMs(pod, 'prestop-seconds', container.name);
  return {
    container,
    argv,
    sexton,
    member: sexton?.run?.member,
    program,
    programArgs: args,
    shell: isFirst ? command && { ...fateOf(command, shellOf(container.image, images)), command } : undefined,
    stopSignal: container.stopSignal ?? stopSignalOf(container.image, images),
    hook: preStop && (hookMs === undefined ? timeOfAction(preStop) : exactly(hookMs)),
    setting: settingOf(program, args, container.env),
  };
}

/** The program of an official image whose name is the program's, where its own entrypoint gets no other command. */
export function programOfImage(image = '', args: readonly string[] = []): string | undefined {
  const name = /^(?:docker\.io\/)?(?:library\/)?([a-z0-9-]+)(?::[^/@]*)?(?:@.*)?$/.exec(image)?.[1];
  const program = name === 'redis' || name === 'nats' ? `${name}-server` : name;
  const [word = '-'] = args;
  // The entrypoint of an official image runs its arguments if they are no options.
  return program !== undefined && presetOf(program) !== undefined && word.startsWith('-') ? program : undefined;
}

/** A part of an environment, which beats those before it; undefined: it is unknown, and may configure sexton. */
type Layer = ReadonlyMap<string, string | undefined> | undefined;

function layersOf({ node }: Container, pod: Pod, objects: Objects): readonly Layer[] {
  return itemsAt(node, 'envFrom').map((source) => {
    const prefix = textAt(source, 'prefix') ?? '';
    const map = configMapOf(objects, pod, textAt(source, 'configMapRef', 'name'));
    if (map !== undefined) return new Map([...textsAt(map, 'data')].map(([name, value]) => [prefix + name, value]));
    return prefix.startsWith(OURS) || OURS.startsWith(prefix) ? undefined : new Map();
  });
}

const OURS = 'SEXTON_';

async function sextonOf(argv: readonly string[], layers: readonly Layer[], files: SeenFiles) {
  const rest = flagsOfRun(argv);
  if (rest === undefined) return undefined;
  const variables = new Map(layers.flatMap((layer) => [...(layer ?? [])]));
  const env = Object.fromEntries([...variables].map(([name, value = 'from-the-cluster']) => [name, value]));
  const resolution: Resolution = await resolveRun(rest, env, files);
  if (resolution.ok) return { run: resolution.run, problems: [], unsure: unsureOf(resolution.sources, layers) };
  const refused = { run: undefined, unsure: new Set<string>() };
  const line = readCommandLine(rest);
  // The kubelet replaces variables in sexton's own flags, too.
  if (rest.slice(0, line.commandAt).some((word) => word.includes('$('))) return { ...refused, problems: [] };
  const hasUnknown = [...variables].some(([key, value]) => value === undefined && /^SEXTON_(?!POD_UID$)/.test(key));
  const isSeen = files.missed.length === 0 && !hasUnknown && !layers.includes(undefined);
  if (isSeen) return { ...refused, problems: resolution.problems };
  // A mistake in a flag is one in any environment.
  const { problems } = settle([line.given], { ...files, command: undefined });
  return { ...refused, problems: [...line.problems, ...problems] };
}

/** Flags and what beats the unknown are sure. */
function unsureOf(sources: readonly Source[], layers: readonly Layer[]): ReadonlySet<string> {
  if (!layers.includes(undefined)) return new Set();
  const last = layers.slice(layers.lastIndexOf(undefined) + 1);
  const unsure = sources.filter(({ source }) => !source.startsWith('--') && !last.some((layer) => layer?.has(source)));
  return new Set(unsure.map(({ key }) => key));
}

/** The command line behind `sexton`, where it runs a command; undefined: it is something else. */
export function flagsOfRun([program = '', ...rest]: readonly string[]): readonly string[] | undefined {
  return basename(program) === 'sexton' && isRun(rest) ? rest : undefined;
}

const NO_FILES: Files = {
  isTerminal: false,
  isMissing: () => false,
  isDirectory: () => false,
  readText: () => {
    throw new Error('not among the inputs');
  },
};

interface SeenFiles extends Files {
  readonly missed: readonly string[];
}

/** The container's files as far as the inputs have them: mounts, and ConfigMaps mounted as files. */
function filesOf({ mounts }: Container, pod: Pod, objects: Objects): SeenFiles {
  const missed: string[] = [];
  return {
    ...NO_FILES,
    missed,
    isDirectory: (path) => mounts.some((mount) => mount.path === path),
    readText: (path) => {
      for (const mount of mounts) {
        if (!path.startsWith(`${mount.path}/`)) continue;
        const volume = pod.volumes.get(mount.volume);
        const map = configMapOf(objects, pod, textAt(volume, 'configMap', 'name'));
        const file = path.slice(mount.path.length + 1);
        const item = itemsAt(volume, 'configMap', 'items').find((one) => textAt(one, 'path') === file);
        const text = textAt(map, 'data', textAt(item, 'key') ?? file);
        if (text !== undefined) return text;
      }
      missed.push(path);
      return NO_FILES.readText(path);
    },
  };
}

export function timeOfAction({ action }: Hook): Interval {
  if (action.kind === 'sleep') return exactly(action.seconds * 1_000);
  if (action.kind !== 'exec') return UNKNOWN;
  const direct = sleepMs(action.argv);
  if (direct !== undefined) return exactly(direct);
  const script = shellCommandOf(action.argv);
  if (script === undefined) return UNKNOWN;
  const { minMs, isAll } = sleepOf(script);
  return isAll ? exactly(minMs) : between(minMs, Number.POSITIVE_INFINITY);
}

function planOf(facts: Facts, all: readonly Facts[], pod: Pod): ContainerPlan {
  const { container, hook, shell, member, setting } = facts;
  const declared = declaredMs(pod, 'stop-seconds', container.name);
  const base: ContainerPlan = {
    name: container.name,
    isNative: container.isNative,
    hook,
    mayEndInHook: hook !== undefined && hook.minMs !== hook.maxMs,
    drain: ZERO,
    waitsFor: [],
    linger: ZERO,
    waitsAtMostMs: Number.POSITIVE_INFINITY,
    deadlines: [],
    response: declared !== undefined ? exactly(declared) : setting === undefined ? UNKNOWN : between(0, setting.ms),
    ownKillMs: Number.POSITIVE_INFINITY,
    mayKillLast: false,
  };
  if (member === undefined) {
    // A shell that ignores TERM is only ended by KILL, unless its command ends by itself. Under sexton it gets TERM.
    const isStuck = shell?.stays === true && declared === undefined;
    return isStuck ? { ...base, response: exactly(Number.POSITIVE_INFINITY) } : base;
  }
  const signal = signalNumber(facts.stopSignal ?? 'TERM') ?? SIGTERM;
  if (!isStopRequest(member, signal)) return base;
  const members = all.filter((one): one is Member => one.member !== undefined);
  const plan = { ...base, ...sextonPlan(member, members) };
  const ladder = ladderOf(member, signal);
  if (ladder.at(-1)?.signal !== SIGKILL || declared !== undefined) return plan;
  const rungsMs = ladder.reduce((sum, { forMs = 0 }) => sum + forMs, 0);
  return { ...plan, response: between(0, rungsMs), mayKillLast: true };
}

type Member = Facts & { readonly member: MemberConfig };

/** What sexton does from TERM on: waiting for others, drain, pre-stop, its own KILL. */
function sextonPlan(config: MemberConfig, members: readonly Member[]): Partial<ContainerPlan> {
  const [budget, floor] = [budgetOf(config.gracePeriodMs), budgetOf(config.graceFloorMs)];
  const { served, later } = waitsFor(config, members);
  return {
    drain: drainOf(config),
    waitsFor: [...new Set([...served, ...later])],
    // It begins with the end of the mains, whatever ends after them.
    linger: between(later.length === 0 ? config.lingerMs : 0, config.lingerMs),
    waitsAtMostMs: Math.min(lastTurnMs(budget), lastTurnMs(floor)),
    deadlines: othersOf(config, members).flatMap(({ container, member }) =>
      member.gracePeriodMs === undefined ? [] : [{ of: container.name, graceMs: member.gracePeriodMs }],
    ),
    ownKillMs: killAtMs(budget),
  };
}

/** Without a time there is no deadline. */
function budgetOf(atMs = Number.POSITIVE_INFINITY): Budget {
  return { sinceMs: 0, atMs };
}

/** The time that its own plan takes before the first stop signal. */
export function drainOf({ drain, preStop }: MemberConfig): Interval {
  const hook = preStop === undefined ? ZERO : preStop.kind === 'sleep' ? exactly(preStop.ms) : UNKNOWN;
  const least = drain?.kind === 'adaptive' ? Math.max(drain.minMs, drain.quietMs) : (drain?.ms ?? 0);
  const most = drain?.kind === 'adaptive' ? drain.maxMs : (drain?.ms ?? 0);
  return plus(between(Math.min(least, most), most), hook);
}

function othersOf(config: MemberConfig, members: readonly Member[]): readonly Member[] {
  if (config.solo) return [];
  return members.filter(({ member }) => member.name !== config.name && !member.solo);
}

/** A sidecar waits for its mains, and each member for those that were started after it. */
function waitsFor(config: MemberConfig, members: readonly Member[]) {
  const others = othersOf(config, members);
  const mains = others.filter(({ member }) => member.role === 'main');
  const served = config.mains.length === 0 ? mains : mains.filter(({ member }) => config.mains.includes(member.name));
  const later = others.filter(
    ({ member }) =>
      member.startAfter.some(({ name }) => name === config.name) &&
      !(config.role === 'main' && member.role === 'sidecar'),
  );
  const held = config.role === 'sidecar' && config.hold.kind !== 'never' ? served : [];
  const [names, more] = [held, later].map((all) => all.map(({ container }) => container.name));
  return { served: names ?? [], later: more ?? [] };
}

/**
 * The signal on which this server ends gracefully; undefined: it is none that is known, or postgres. TERM to that waits
 * for its clients, INT, which its image declares, ends their sessions: both are meant.
 */
export function gracefulSignalOf(program: string | undefined, image: string | undefined) {
  // The httpd of busybox is another one.
  const isBusybox = program === 'httpd' && /^(busybox|alpine)$/.test(referenceOf(image ?? '').repository);
  const preset = program === undefined || isBusybox ? undefined : presetOf(program);
  if (preset === undefined || preset === 'postgres') return undefined;
  const signal = signalNumber(presetNamed(preset).signal ?? '');
  return signal === undefined ? undefined : { preset, signal };
}

/** The manifest's place of the command line's word with that index. */
export function wordAt({ node }: Container, index: number) {
  return [...itemsAt(node, 'command'), ...itemsAt(node, 'args')][index];
}

/** The same by its number from the end; undefined: the image has it. */
export function wordFromEnd({ node }: Container, fromEnd = Number.POSITIVE_INFINITY) {
  return [...itemsAt(node, 'command'), ...itemsAt(node, 'args')].at(-fromEnd);
}

/** The longest that the stop of a Compose service is known to take; undefined: nothing bounds it. */
export function longestStopOf(argv: readonly string[], { env, mounts }: Pick<ComposeService, 'env' | 'mounts'>) {
  const rest = flagsOfRun(argv);
  if (rest === undefined) {
    const started = startedBy(argv);
    const setting = settingOf(started.program, started.args, env);
    return setting && { ...setting, isGrace: false };
  }
  const known = Object.fromEntries([...env].flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
  const resolution = resolveRun(rest, known, { ...NO_FILES, isDirectory: (path) => mounts.includes(path) });
  if (resolution instanceof Promise || !resolution.ok) return undefined;
  const { gracePeriodMs } = resolution.run.member;
  if (gracePeriodMs !== undefined) return { ms: gracePeriodMs, by: 'the stop, by --grace-period,', isGrace: true };
  const ms = drainOf(resolution.run.member).maxMs;
  return Number.isFinite(ms) ? { ms, by: "sexton's drain", isGrace: false } : undefined;
}
