/**
 * Which program a hook or probe runs that its image does not have.
 */
import { factsOfImage, HOOK_PROGRAMS, type Images, shellOf } from '../../stop/images.ts';
import { firstCommandOf, shellCommandOf } from '../../stop/shell.ts';

/** undefined: it has all of them, or that is not known. */
export function missingProgram(argv: readonly string[], image: string | undefined, images: Images): string | undefined {
  const [first = ''] = argv;
  // Elsewhere a volume may have it.
  const isStandard = !first.includes('/') || /^\/(usr\/(local\/)?)?s?bin\/[^/]+$/.test(first);
  const program = first.slice(first.lastIndexOf('/') + 1);
  if (image === undefined || !isStandard || !HOOK_PROGRAMS.includes(program)) return undefined;
  const programs = factsOfImage(image, images)?.programs;
  if (programs === undefined) return shellOf(image, images) === 'none' ? program : undefined;
  if (!programs.includes(program)) return program;
  const script = shellCommandOf(argv)?.script;
  const [inside = ''] = (script === undefined ? undefined : firstCommandOf(script)) ?? [];
  return HOOK_PROGRAMS.includes(inside) && !BUILTINS.has(inside) && !programs.includes(inside) ? inside : undefined;
}

/** A shell has these itself. */
const BUILTINS: ReadonlySet<string> = new Set(['kill', 'test']);
