/** Which container of a pod becomes a member of what role, and the command line that each gets. */

import { at, isTrueAt, textAt } from '../check/input/located.ts';
import type { Container, Pod } from '../check/input/pod.ts';
import { isHelper, isInjected } from '../check/rules/sidecars.ts';
import { factsOfImage, type ImageFacts, type Images } from '../check/stop/images.ts';
import type { ContainerView, PodView } from '../check/stop/plan.ts';
import { graceBehind } from '../check/stop/timeline.ts';
import { FLAGS, KEYS, type Key } from '../config/flags.ts';
import { startedBy } from '../config/notation/program.ts';
import { presetOf } from '../config/notation/stop/stop-presets.ts';
import { SIGINT, SIGTERM, signalNumber } from '../core/signals.ts';
import { flagsOf, isDisabled, PREFIX, refuseUnknown, roleOf } from './annotations.ts';
import { Refusal, refuse } from './refusal.ts';

export interface Member {
  readonly container: Container;
  readonly role: 'main' | 'sidecar';
  /** In front of the command that the manifest has: sexton, its flags, and what the image has of it. */
  readonly words: readonly string[];
  /** What is wrapped in the end, and where it comes from. */
  readonly wrapped: readonly string[];
  readonly from: string;
}

/** A container that stays as it is. */
export interface Skipped {
  readonly container: Container;
  readonly why: string;
}

export interface Roster {
  readonly members: readonly Member[];
  readonly skipped: readonly Skipped[];
}

export const PROGRAM = '/sexton/sexton';

export function rosterOf(pod: Pod, view: PodView, images: Images): Roster {
  if (isDisabled(pod)) return none(pod, `${PREFIX}inject is disabled`);
  refuseUnknown(pod);
  refusePod(pod);
  if (view.containers.some(({ sexton }) => sexton !== undefined)) return none(pod, 'the pod has sexton already');
  const skipped: Skipped[] = [];
  const views = view.containers.filter(({ container }) => {
    const why = whySkipped(pod, container);
    if (why !== undefined) skipped.push({ container, why });
    return why === undefined;
  });
  const sidecars = sidecarsOf(pod, views);
  const mains = views.filter((one) => !sidecars.includes(one)).map(({ container }) => container.name);
  const members = views.map((one) => {
    const role = sidecars.includes(one) ? 'sidecar' : 'main';
    return memberOf(one, role, { pod, images, mains, isSolo: views.length === 1 });
  });
  return { members, skipped };
}

function none({ containers }: Pod, why: string): Roster {
  return { members: [], skipped: containers.map((container) => ({ container, why })) };
}

function refusePod({ spec, os, annotations, containers }: Pod): void {
  if (os === 'windows' || textAt(spec, 'nodeSelector', 'kubernetes.io/os') === 'windows')
    refuse(`sexton runs on Linux, and this pod on Windows; leave it out by ${PREFIX}inject: disabled`);
  if (isTrueAt(spec, 'hostPID')) refuse('with hostPID sexton cannot be PID 1; take hostPID out');
  if (at(spec, 'ephemeralContainers') !== undefined)
    refuse('it has ephemeral containers, so it is a running pod; inject the manifest that it was made from');
  if (annotations.has('kubernetes.io/config.mirror'))
    refuse('it mirrors a static pod; inject the file on the node that it was made from');
  const names = containers.map(({ name }) => name);
  const wrong = names.find(
    (name, index) => !/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(name) || names.indexOf(name) !== index,
  );
  if (wrong !== undefined)
    refuse(`${JSON.stringify(wrong)} is not the name of one container; give each a name of its own`);
}

function whySkipped(pod: Pod, container: Container): string | undefined {
  if (container.isNative) return 'a native sidecar';
  if (roleOf(pod, container.name) === 'skip') return `${PREFIX}role.${container.name} is skip`;
  return isInjected(container) ? 'its image is injected by Istio' : undefined;
}

/** By annotations, else by images that are known; what is left does the work. */
function sidecarsOf(pod: Pod, views: readonly ContainerView[]): readonly ContainerView[] {
  const told = (one: ContainerView, role: string): boolean => roleOf(pod, one.container.name) === role;
  const open = views.filter((one) => !told(one, 'main') && !told(one, 'sidecar'));
  const known = open.filter(({ container }) => isHelper(container));
  const others = open.filter((one) => !known.includes(one));
  const isMainTold = views.some((one) => told(one, 'main'));
  const hasMain = others.length > 0 || isMainTold;
  const unclear = hasMain ? others : open;
  // In a pod that runs on, a container more that counts as a main changes nothing.
  if (pod.policy !== 'Always' && unclear.length > (isMainTold ? 0 : 1)) {
    const names = unclear.map(({ container }) => container.name);
    refuse(`which of ${names.join(', ')} does the work? Set ${PREFIX}role.${names.at(-1)}: sidecar, or main, or skip`);
  }
  return views.filter((one) => told(one, 'sidecar') || (hasMain && known.includes(one)));
}

interface Around {
  readonly pod: Pod;
  readonly images: Images;
  readonly mains: readonly string[];
  readonly isSolo: boolean;
}

function memberOf(view: ContainerView, role: Member['role'], around: Around): Member {
  const { container } = view;
  const { command = [], args = [] } = container;
  const own = command.length > 0 ? { argv: [], from: 'the manifest' } : ofImage(container, around);
  const wrapped = [...command, ...own.argv, ...args];
  if (wrapped.length === 0) refuse(`${container.name}: neither the manifest nor the image has a command; write one`);
  const flags = new Map([...derived(view, role, wrapped, around), ...flagsOf(around.pod, container.name)]);
  const words = KEYS.flatMap((key) => (flags.has(key) ? [`--${FLAGS[key].name}`, flags.get(key) ?? ''] : []));
  return {
    container,
    role,
    wrapped,
    from: own.from,
    words: [PROGRAM, 'run', ...words, '--', ...own.argv.map(asInManifest)],
  };
}

/** The kubelet replaces $(NAME) in a command, and $$ by a dollar; in an image it does neither. */
export function asInManifest(word: string): string {
  return word.replaceAll('$', '$$$$');
}

/** What the image adds to the manifest's args, where the manifest has no command. */
function ofImage({ name, image, args = [] }: Container, { pod, images }: Around) {
  if (image === undefined) refuse(`${name}: it has no image, as in a patch; inject what the patch is applied to`);
  const facts = factsOfImage(image, images);
  if (facts === undefined) {
    const remedy = `docker image inspect ${image} | sexton images lock -o FILE -, or write its command`;
    throw new Refusal(`${name}: the image ${image} is not in the lock; ${remedy}`, true);
  }
  const { entrypoint = [], cmd = [] } = onPlatform(`${name}: the image ${image}`, facts, pod);
  return args.length > 0
    ? { argv: entrypoint, from: `the entrypoint of ${image}` }
    : { argv: [...entrypoint, ...cmd], from: image };
}

/** What an image says on the nodes that the pod may come to. */
function onPlatform(subject: string, facts: ImageFacts, { spec }: Pod): ImageFacts {
  const { platforms = {} } = facts;
  const arch = textAt(spec, 'nodeSelector', 'kubernetes.io/arch');
  if (arch !== undefined) return platforms[`linux/${arch}`] ?? facts;
  const starts = ({ entrypoint, cmd }: ImageFacts): string => JSON.stringify([entrypoint, cmd]);
  const [other] = Object.entries(platforms).find(([, one]) => starts(one) !== starts(facts)) ?? [];
  if (other !== undefined)
    refuse(`${subject} starts something else on ${other}; set nodeSelector kubernetes.io/arch, or write its command`);
  return facts;
}

/** What sexton has to know of the pod, which a container cannot see. */
function derived(view: ContainerView, role: Member['role'], argv: readonly string[], around: Around) {
  const { container, hook, stopSignal } = view;
  const { pod, mains, isSolo } = around;
  const flags: [Key, string][] = [];
  if (!isSolo) flags.push(['name', container.name]);
  if (role === 'sidecar') flags.push(['role', role], ['mains', mains.join(',')]);
  flags.push(['restartPolicy', container.policy ?? pod.policy]);
  if (container.rules.length > 0) flags.push(['restartRules', container.rules.map(ruleText).join(',')]);
  if (pod.graceSeconds > 0) {
    // The least is certain, also of a hook whose time is not known.
    const { minMs = 0, maxMs = 0 } = hook ?? {};
    const hookMs = Number.isFinite(maxMs) ? maxMs : minMs;
    const graceMs = graceBehind(pod.graceSeconds * 1_000, hookMs);
    flags.push(['gracePeriod', FLAGS.gracePeriod.format(graceMs)]);
  }
  if (presetOf(startedBy(argv).program) !== undefined) flags.push(['stop', 'auto']);
  const signal = otherSignal(stopSignal);
  if (signal !== undefined) flags.push(['stopSignals', FLAGS.stopSignals.format([SIGTERM, SIGINT, signal])]);
  return flags;
}

/** A stop signal that sexton does not take for a stop request by itself; undefined: it is none, or not known. */
export function otherSignal(text: string | undefined): number | undefined {
  const signal = signalNumber(text ?? '');
  return signal === SIGTERM || signal === SIGINT ? undefined : signal;
}

function ruleText({ action, except, codes }: Container['rules'][number]): string {
  return `${except ? '!' : ''}${codes.join('|')}=${action === 'Restart' ? 'restart' : 'restart-all'}`;
}
