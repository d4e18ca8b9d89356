/**
 * Random pods for a real kubelet. They have programs that take a known time to stop or never do, hooks of every kind,
 * native sidecars, and plans of sexton. Annotations declare what a manifest cannot say about a program.
 */
import { Dice } from '../../sim/dice.ts';
import { imageNames } from './images.ts';
import { MOUNTS, SESSION } from './members.ts';
import type { ContainerSpec, PodSpec } from './objects.ts';

export interface Drawn {
  readonly annotations: Readonly<Record<string, string>>;
  readonly spec: PodSpec;
}

/** It ends at once, so its end shows when the kubelet began. */
export const WITNESS = 'witness';
/** So long that every grace period is over before. */
const NEVER_SECONDS = 600;
const STOPS = 'check.sexton.dev/stop-seconds';

/** `draw`: which pod of that seed. */
export function drawPod(seed: number, draw: number): Drawn {
  const dice = new Dice(seed, draw);
  const graceSeconds = dice.between(1, 12);
  const annotations: Record<string, string> = { [`${STOPS}.${WITNESS}`]: '0' };
  const containers: ContainerSpec[] = [
    { name: WITNESS, image: imageNames().whole, imagePullPolicy: 'Never', command: memberOf(WITNESS, 'term=0') },
  ];
  const natives: ContainerSpec[] = [];
  const members: string[] = [];
  const size = dice.between(1, 3);
  for (let index = 0; index < size; index += 1) {
    const name = `c${index}`;
    const isNative = index > 0 && dice.chance(0.4);
    const [hook, hookSeconds, isDeclared] = drawHook(dice, graceSeconds);
    if (isDeclared) annotations[`check.sexton.dev/prestop-seconds.${name}`] = String(hookSeconds);
    const program = dice.pick(['ends', 'ends', 'ends', 'deaf', 'shell', 'sexton', 'sexton', 'ladder']);
    // Half seconds are far from the whole ones that the kubelet counts in.
    const stopSeconds = program === 'deaf' || program === 'ladder' ? NEVER_SECONDS : dice.int(graceSeconds + 4) + 0.5;
    const member = memberOf(name, stopSeconds === NEVER_SECONDS ? 'ignore=TERM' : `term=${stopSeconds * 1_000}`);
    // A shell that ignores TERM, and the rungs of a ladder that ends in KILL, are known to the check.
    if (program !== 'shell' && program !== 'ladder') annotations[`${STOPS}.${name}`] = String(stopSeconds);
    const flags: string[] = ['--name', name, '--restart-policy', 'Always'];
    const isUnderSexton = program === 'sexton' || program === 'ladder';
    if (isUnderSexton) {
      const left = graceSeconds - hookSeconds;
      if (dice.chance(0.5)) flags.push('--drain', `${dice.between(1, 6)}s`);
      if (program === 'ladder') flags.push('--stop', `TERM:${dice.between(1, 4)}s,KILL`);
      if (left >= 2 && dice.chance(0.5)) flags.push('--grace-period', `${left}s`);
      const [main] = members;
      if (!isNative && main !== undefined) flags.push('--role', 'sidecar', '--mains', main);
      if (!isNative) members.push(name);
    }
    const command =
      program === 'shell'
        ? ['sh', '-c', 'while true; do sleep 1; done']
        : isUnderSexton
          ? ['/sexton/sexton', 'run', ...flags, '--', ...member]
          : member;
    const container: ContainerSpec = {
      name,
      image: imageNames().whole,
      imagePullPolicy: 'Never',
      command,
      ...(hook !== undefined && { lifecycle: { preStop: hook } }),
      ...(isUnderSexton && !isNative && { env: [SESSION], volumeMounts: MOUNTS.slice(0, 1) }),
    };
    if (isNative) natives.push({ ...container, restartPolicy: 'Always' });
    else containers.push(container);
  }
  return {
    annotations,
    spec: {
      restartPolicy: 'Always',
      terminationGracePeriodSeconds: graceSeconds,
      initContainers: natives,
      containers,
      volumes: [{ name: 'graveyard', emptyDir: {} }],
    },
  };
}

function memberOf(name: string, stop: string): string[] {
  return ['/member', `name=${name}`, 'log=/dev/stdout', stop];
}

/** The hook, how long it takes, and whether that has to be declared. */
function drawHook(dice: Dice, graceSeconds: number): readonly [object | undefined, number, boolean] {
  if (dice.chance(0.5)) return [undefined, 0, false];
  const seconds = dice.between(1, graceSeconds + 2);
  // The API server takes no longer sleep than the grace period.
  const within = Math.min(seconds, graceSeconds);
  const kind = dice.pick(['sleep', 'exec', 'script']);
  if (kind === 'sleep') return [{ sleep: { seconds: within } }, within, false];
  if (kind === 'exec') return [{ exec: { command: ['sleep', String(seconds)] } }, seconds, false];
  return [{ exec: { command: ['timeout', String(NEVER_SECONDS), 'sleep', String(seconds)] } }, seconds, true];
}
