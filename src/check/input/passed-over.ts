/** Objects that hold or make pods, and are of no kind whose pod is known. */
import { at, type Located, textAt } from './located.ts';
import type { Objects } from './objects.ts';
import { positionAt } from './source.ts';

export interface PassedOver {
  readonly path: string;
  readonly line: number;
  /** `Sandbox/web`; undefined: it has no kind. */
  readonly subject: string | undefined;
  readonly why: string;
}

export function passedOverIn({ unknown }: Objects): readonly PassedOver[] {
  return unknown
    .filter(({ root }) => MAKERS.test(textAt(root, 'kind') ?? '') || hasContainers(root))
    .map(({ source, root }) => {
      const kind = textAt(root, 'kind');
      const name = textAt(root, 'metadata', 'name') ?? 'unnamed';
      return {
        path: source.path,
        line: positionAt(source, root.start).line,
        subject: kind && `${kind}/${name}`,
        why: whyOf(kind, textAt(root, 'apiVersion')),
      };
    });
}

/** Their pods are in what they render. */
const MAKERS = /^(HelmRelease|HelmChart|Application)$/;

function whyOf(kind: string | undefined, apiVersion: string | undefined): string {
  if (kind === undefined || apiVersion === undefined)
    return `it has no ${kind === undefined ? 'kind' : 'apiVersion'}, so Kubernetes does not read it`;
  return `kind ${kind} of ${apiVersion}: sexton does not know where its pod is`;
}

/** A list of containers, as a pod has one, in Knative also without names; what an alias brings is looked at once. */
function hasContainers(node: Located, seen = new Set<Located>()): boolean {
  if (node.kind === 'scalar' || seen.has(node)) return false;
  seen.add(node);
  if (node.kind === 'list') return node.items.some((item) => hasContainers(item, seen));
  const containers = at(node, 'containers');
  const isContainer = (item: Located): boolean => (textAt(item, 'name') ?? textAt(item, 'image')) !== undefined;
  if (containers?.kind === 'list' && containers.items.some(isContainer)) return true;
  return [...node.entries.values()].some(({ value }) => hasContainers(value, seen));
}
