import { insertItems, replaceValue, setKey } from '../edits.ts';
import type { Edit, Severity } from '../finding.ts';
import { at, type Located, textAt } from '../input/located.ts';
import { ingressesOf, type Other, servicesOf, type Workload } from '../input/objects.ts';
import { type Container, givenWords, type Mount, type Pod } from '../input/pod.ts';
import type { Source } from '../input/source.ts';
import { type Images, type Shell, shellOf } from '../stop/images.ts';
import { type Interval, plus, secondsText, ZERO } from '../stop/interval.ts';
import { type ContainerView, drainOf, wordAt } from '../stop/plan.ts';
import { flagIndex } from '../stop/settings.ts';
import { type Fate, fateOf, lastProgramOf, type ShellCommand } from '../stop/shell.ts';
import type { WorkloadCase } from './rule.ts';

/** How bad it is that a shell stays PID 1, or may: dash does so for certain. */
export function shellSeverity(script: ShellCommand, { stays }: Fate, shell: Shell | undefined): Severity {
  return !stays ? 'info' : (script.kind ?? shell) === 'dash' ? 'error' : 'warning';
}

/** The same of a script by the image that runs it; undefined: the shell becomes the command. */
export function scriptSeverity(script: ShellCommand | undefined, image: string | undefined, images: Images) {
  if (script === undefined) return undefined;
  const shell = shellOf(image, images);
  const fate = fateOf(script, shell);
  return fate.mayStay ? shellSeverity(script, fate, shell) : undefined;
}

export function shellText(script: ShellCommand, stays: boolean, killMs: number): string {
  const what = stays ? 'stays PID 1 and ignores TERM' : 'may stay PID 1 and ignore TERM, which depends on the shell';
  return `${script.shell} -c ${what}: its command is ended by KILL after ${secondsText(killMs)}`;
}

export const EXEC_REMEDY =
  'Write exec before the last command of the script, or start the program without a shell. sleep, tail and cat ignore TERM as PID 1 themselves: put an init such as tini in front.';

/** What is said of npm, yarn and pnpm as PID 1, wherever they are started. */
export const PACKAGE_MANAGER = {
  severity: 'info',
  why: 'npm, npx, yarn and pnpm start the script by a shell and stay in front of it. Which signals reach the program depends on their versions.',
} as const;

export function packageManagerText(program: string): string {
  return `${program} is PID 1 and starts the program by a shell`;
}

/** `exec` in front of the last command, where the script stands on one line and its last command is plain. */
export function execBefore(source: Source, node: Located | undefined, script: string): readonly Edit[] {
  const tail = lastProgramOf(script);
  if (node === undefined || tail === undefined) return [];
  const body = source.text
    .slice(node.start, node.end)
    .trimEnd()
    .replace(/(?<![\\"'])[\\"']+$/, '')
    .trimEnd();
  // After escapes and folds of YAML the text of the source is not that of the script.
  if (!body.endsWith(tail)) return [];
  const start = node.start + body.length - tail.length;
  return [{ source, start, end: start, text: 'exec ' }];
}

export function isJob({ kind }: Workload): boolean {
  return kind === 'Job' || kind === 'CronJob';
}

/** A headless Service is none, as clients connect to pods themselves, unless an Ingress or a route sends by it. */
export function balancerOf({ workload, objects }: WorkloadCase): Other | undefined {
  return servicesOf(workload, objects).find(
    (one) => textAt(one.object, 'spec', 'clusterIP') !== 'None' || ingressesOf([one], objects).length > 0,
  );
}

/** The time from the stop request to the stop signal of the program, apart from what it waits for. */
export function hookAndDrain({ hook = ZERO, member }: ContainerView): Interval {
  return member === undefined ? hook : plus(hook, drainOf(member));
}

/** Where the hook stands, else the command. */
export function hookOrCommand({ node, preStop }: Container): Located | undefined {
  return preStop?.node ?? at(node, 'command');
}

export function raiseGrace({ source, spec, graceAt }: Pod, seconds: number): readonly Edit[] {
  return setKey(source, spec, 'terminationGracePeriodSeconds', graceAt, seconds);
}

/** The variable by which sexton knows the pod. */
export const UID = { name: 'SEXTON_POD_UID', valueFrom: { fieldRef: { fieldPath: 'metadata.uid' } } };

/** preStop has `sleep` since Kubernetes 1.30. */
export function hasSleep(minor: number | undefined): boolean {
  return minor === undefined || minor >= 30;
}

/** The mount that a path is on: the deepest above it. */
export function mountAbove({ mounts }: Container, path: string): Mount | undefined {
  const above = mounts.filter((one) => path === one.path || path.startsWith(one.path === '/' ? '/' : `${one.path}/`));
  return above.toSorted((a, b) => b.path.length - a.path.length)[0];
}

/** `64Mi`, `1Gi`, `100M`, `1048576`. */
export function bytesOf(text: string | undefined): number | undefined {
  const [, count, unit = ''] = /^(\d+(?:\.\d+)?)([KMGT]i?|k)?$/.exec(text ?? '') ?? [];
  if (count === undefined) return undefined;
  const power = ['', 'K', 'M', 'G', 'T'].indexOf(unit.replace('i', '').toUpperCase());
  return Number(count) * (unit.endsWith('i') ? 1024 : 1000) ** power;
}

/** The argument that holds the value of a flag of sexton; without the flag, the first argument. */
export function flagAt(container: Container, flag: string): Located | undefined {
  const words = givenWords(container);
  const index = flagIndex(words, flag);
  return wordAt(container, Math.max(0, words[index] === flag ? index + 1 : index));
}

/** A flag of sexton right behind `run`, or its value where the command line has it. */
export function withFlag(pod: Pod, container: Container, flag: string, value: string): readonly Edit[] {
  const words = givenWords(container);
  const end = words.indexOf('--');
  const given = flagIndex(end === -1 ? words : words.slice(0, end), flag);
  if (given !== -1) {
    const isJoined = words[given]?.includes('=') === true;
    const node = wordAt(container, isJoined ? given : given + 1);
    if (node === undefined) return [];
    const text = isJoined ? `${flag}=${value}` : value;
    return [replaceValue(pod.source, node, /^[-A-Za-z0-9_./=+]+$/.test(text) ? text : JSON.stringify(text))];
  }
  const list = at(container.node, 'command');
  const index = words[1] === 'run' ? 2 : 1;
  return list?.kind === 'list' && list.items.length > 0
    ? insertItems(pod.source, list, index, [`${flag}=${value}`])
    : [];
}
