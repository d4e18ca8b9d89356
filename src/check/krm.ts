/**
 * As a KRM function: a `ResourceList` comes in, the same comes out with `results`
 * (github.com/kubernetes-sigs/kustomize, functions-spec.md). The items stay byte for byte.
 */
import type { Result } from './check.ts';
import { applied, insertKey } from './edits.ts';
import type { Severity } from './finding.ts';
import { at, itemsAt, type Located, parseLocated, textAt } from './input/located.ts';
import { makeSource } from './input/source.ts';

const KRM_LEVELS: Readonly<Record<Severity, string>> = { error: 'error', warning: 'warning', info: 'info' };

export function isResourceList(text: string): boolean {
  return (
    /kind["']?\s*:\s*["']?ResourceList/.test(text) && textAt(parseLocated(text).roots[0], 'kind') === 'ResourceList'
  );
}

export function krmOf(text: string, result: Result): string {
  const [root] = parseLocated(text).roots;
  if (root?.kind !== 'map') return text;
  const source = makeSource('-', text);
  const results = JSON.stringify(
    result.findings.map(({ rule, severity, message, place }) => {
      const item = itemsAt(root, 'items').find((one) => place.start >= one.start && place.start < one.end);
      return { message: `${rule}: ${message}`, severity: KRM_LEVELS[severity], tags: { rule }, ...whereOf(item) };
    }),
  );
  const before = at(root, 'results');
  if (before !== undefined) return applied(text, [{ source, start: before.start, end: before.end, text: results }]);
  if (root.isFlow) {
    const [first] = root.entries.values();
    const start = first?.key.start ?? root.start + 1;
    return applied(text, [{ source, start, end: start, text: `"results": ${results}, ` }]);
  }
  return applied(text, insertKey(source, root, 'results', results));
}

function whereOf(item: Located | undefined) {
  if (item === undefined) return {};
  const path = textAt(item, 'metadata', 'annotations', 'internal.config.kubernetes.io/path');
  const legacy = textAt(item, 'metadata', 'annotations', 'config.kubernetes.io/path');
  const file = path ?? legacy;
  return {
    resourceRef: {
      apiVersion: textAt(item, 'apiVersion'),
      kind: textAt(item, 'kind'),
      name: textAt(item, 'metadata', 'name'),
      namespace: textAt(item, 'metadata', 'namespace'),
    },
    ...(file !== undefined && { file: { path: file } }),
  };
}
