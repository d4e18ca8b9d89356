import { at, wordsAt } from '../../input/located.ts';
import { hasSleep } from '../common.ts';
import { sleepInstead } from '../hooks.ts';
import { ofContainer } from '../rule.ts';
import { missingProgram } from './programs.ts';

const PRE_STOP = 'preStop';
const HOOKS_AND_PROBES = [
  ['lifecycle', PRE_STOP],
  ['lifecycle', 'postStart'],
  ['livenessProbe'],
  ['readinessProbe'],
  ['startupProbe'],
];

export const rule = ofContainer({
  severity: 'error',
  title: 'A hook or probe runs a program that the image does not have',
  why: 'An image without a shell has no sh and no sleep, many have no bash and no curl. The hook fails at once (FailedPreStopHook), and TERM comes without the wait that was meant.',
  remedy: 'Use sleep: {seconds: N} of Kubernetes 1.30, an httpGet, or an image with a shell.',
  *find({ container: { node, image }, images }) {
    for (const path of HOOKS_AND_PROBES) {
      const program = missingProgram(wordsAt(node, ...path, 'exec', 'command') ?? [], image, images);
      const hook = at(node, ...path);
      if (program !== undefined && hook !== undefined) yield { at: hook, atMs: 0, key: path.at(-1), program };
    }
  },
  say: ({ key, program }, { container }) => `${key} runs ${program}, which ${container.image} does not have`,
  fix: ({ key }, { pod, container, minor }) =>
    key === PRE_STOP && hasSleep(minor) ? sleepInstead(pod, container) : [],
});
