import { parseGoDuration } from '../../config/notation/duration.ts';
import { parseWords } from '../../config/notation/words.ts';
import { at, entriesAt, itemsAt, type Located, type LocatedMap, textAt, wordsAt } from './located.ts';
import type { Source } from './source.ts';

export interface ComposeService {
  readonly source: Source;
  readonly name: string;
  readonly node: LocatedMap;
  readonly image: string | undefined;
  /** undefined: the image's entrypoint begins it. */
  readonly argv: readonly string[] | undefined;
  /** In place of the image's CMD. */
  readonly command: readonly string[] | undefined;
  readonly env: ReadonlyMap<string, string | undefined>;
  readonly mounts: readonly string[];
  /** Docker's own default: 10 s. */
  readonly graceMs: number;
  readonly graceAt: Located | undefined;
}

const DEFAULT_GRACE_MS = 10_000;

export function isCompose(root: Located): boolean {
  return textAt(root, 'apiVersion') === undefined && at(root, 'services')?.kind === 'map';
}

export function servicesOfCompose(source: Source, root: Located): readonly ComposeService[] {
  return [...entriesAt(root, 'services')].flatMap(([name, { value: node }]) => {
    if (node.kind !== 'map') return [];
    const entrypoint = commandOf(node, 'entrypoint');
    const command = commandOf(node, 'command');
    const grace = parseGoDuration(textAt(node, 'stop_grace_period') ?? '');
    return [
      {
        source,
        name,
        node,
        image: textAt(node, 'image'),
        argv: entrypoint !== undefined && entrypoint.length > 0 ? [...entrypoint, ...(command ?? [])] : undefined,
        command,
        env: environmentOf(node),
        mounts: itemsAt(node, 'volumes').flatMap(
          (item) => (item.kind === 'map' ? textAt(item, 'target') : textAt(item)?.split(':')[1]) ?? [],
        ),
        graceMs: grace.ok ? grace.value : DEFAULT_GRACE_MS,
        graceAt: grace.ok ? at(node, 'stop_grace_period') : undefined,
      },
    ];
  });
}

/** Compose splits a text into words as a shell would, without running one. */
function commandOf(node: LocatedMap, key: string): readonly string[] | undefined {
  const words = wordsAt(node, key);
  if (words !== undefined) return words.map((word) => word.replaceAll('$$', '$'));
  const text = textAt(node, key);
  const parsed = text === undefined ? undefined : parseWords(text);
  return parsed?.ok === true ? parsed.value : undefined;
}

function environmentOf(node: LocatedMap): ReadonlyMap<string, string | undefined> {
  const listed = wordsAt(node, 'environment')?.map((word) => /^([^=]*)(?:=(.*))?$/s.exec(word) ?? []);
  const pairs =
    listed?.map(([, name = '', value]) => [name, value] as const) ??
    [...entriesAt(node, 'environment')].map(([name, { value }]) => [name, textAt(value) ?? ''] as const);
  // What Compose fills in is not known here.
  return new Map(pairs.map(([name, value]) => [name, value?.includes('${') === true ? undefined : value]));
}
