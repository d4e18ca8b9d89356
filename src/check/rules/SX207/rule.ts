import { at, wordsAt } from '../../input/located.ts';
import { factsOfImage, HOOK_PROGRAMS, type Images, shellOf } from '../../stop/images.ts';
import { firstCommandOf, shellCommandOf } from '../../stop/shell.ts';
import { hasSleep } from '../common.ts';
import { sleepInstead } from '../hooks.ts';
import { ofContainer } from '../rule.ts';

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

/** The program that the image does not have; undefined: it has all of them, or that is not known. */
function missingProgram(argv: readonly string[], image: string | undefined, images: Images): string | undefined {
  const [first = ''] = argv;
  // Elsewhere a volume may have it.
  const isStandard = !first.includes('/') || /^\/(usr\/(local\/)?)?s?bin\/[^/]+$/.test(first);
  const program = first.slice(first.lastIndexOf('/') + 1);
  if (image === undefined || !isStandard || !HOOK_PROGRAMS.includes(program)) return undefined;
  const programs = factsOfImage(image, images)?.programs;
  if (programs === undefined) return shellOf(image, images) === 'none' ? program : undefined;
  if (!programs.includes(program)) return program;
  const [inside = ''] = firstCommandOf(shellCommandOf(argv)?.script ?? '') ?? [];
  return HOOK_PROGRAMS.includes(inside) && !BUILTINS.has(inside) && !programs.includes(inside) ? inside : undefined;
}

/** A shell has these itself. */
const BUILTINS: ReadonlySet<string> = new Set(['kill', 'test']);
