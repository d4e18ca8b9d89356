/**
 * As a KRM function: a `ResourceList` comes in, the same comes out with `results`
 * (github.com/kubernetes-sigs/kustomize, functions-spec.md). The items stay byte for byte.
 */
import type { Result } from './check.ts';
import { applied, insertKey, written } from './edits.ts';
import { itemsAt, type Located, parseLocated, textAt, textsAt } from './input/located.ts';
import { makeSource, trimmed } from './input/source.ts';

export function isResourceList(text: string): boolean {
  if (!/kind["']?\s*:\s*["']?ResourceList/.test(text)) return false;
  return textAt(parseLocated(text).roots[0], 'kind') === 'ResourceList';
}

export function krmOf(text: string, result: Result): string {
  const [root] = parseLocated(text).roots;
  if (root?.kind !== 'map') return text;
  const source = makeSource('-', text);
  const results = result.findings.map(({ rule, severity, message, place }) => {
    const item = itemsAt(root, 'items').find((one) => place.start >= one.start && place.start < one.end);
    const where = item === undefined ? {} : whereOf(item, place.start);
    return { message: `${rule}: ${message}`, severity, tags: { rule }, ...where };
  });
  const before = root.entries.get('results');
  if (before !== undefined) {
    // From the colon on: in block style the value begins on a line of its own.
    const start = text.indexOf(':', before.key.end);
    const end = Math.max(start + 1, trimmed(source, before.value).end);
    return applied(text, [{ source, start, end, text: `: ${written(results, true)}` }]);
  }
  return applied(text, insertKey(source, root, 'results', results));
}

const ANNOTATIONS = ['internal.config.kubernetes.io/', 'config.kubernetes.io/'];

/** The object, the field at that offset, and the file that the orchestrator has read it from. */
function whereOf(item: Located, offset: number) {
  const annotations = textsAt(item, 'metadata', 'annotations');
  const [path, index] = ['path', 'index'].map((name) =>
    ANNOTATIONS.map((prefix) => annotations.get(prefix + name)).find((value) => value !== undefined),
  );
  const field = fieldAt(item, offset);
  const namespace = textAt(item, 'metadata', 'namespace');
  return {
    resourceRef: {
      apiVersion: textAt(item, 'apiVersion') ?? '',
      kind: textAt(item, 'kind') ?? '',
      name: textAt(item, 'metadata', 'name') ?? '',
      ...(namespace !== undefined && { namespace }),
    },
    ...(field !== '' && { field: { path: field } }),
    ...(path !== undefined && { file: { path, ...(/^\d+$/.test(index ?? '') && { index: Number(index) }) } }),
  };
}

/** `spec.containers[0].image`. */
function fieldAt(node: Located, offset: number): string {
  if (node.kind === 'list') {
    const at = node.items.findIndex(({ start, end }) => offset >= start && offset < end);
    const item = node.items[at];
    return item === undefined ? '' : joined(`[${at}]`, fieldAt(item, offset));
  }
  if (node.kind === 'scalar') return '';
  const found = [...node.entries].find(([, { key, value }]) => {
    // What an alias or a merge key brings stands somewhere else.
    const isHere = key.start >= node.start && value.start >= key.end;
    return isHere && offset >= key.start && offset < Math.max(key.end, value.end);
  });
  return found === undefined ? '' : joined(found[0], fieldAt(found[1].value, offset));
}

function joined(step: string, rest: string): string {
  return rest === '' || rest.startsWith('[') ? step + rest : `${step}.${rest}`;
}
