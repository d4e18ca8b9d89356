/**
 * The image lock as variables of CEL. It is no ConfigMap, because an API server loses that when the binding is deleted,
 * until it starts again (1.36, kubernetes/kubernetes#130887).
 */
import { isHelper } from '../../check/rules/sidecars.ts';
import type { ImageFacts, Images } from '../../check/stop/images.ts';
import { formatSignal } from '../../config/notation/stop/signals.ts';
import { asInManifest, otherSignal } from '../members.ts';
import { refuse } from '../refusal.ts';
import { literal } from './literal.ts';

/** The most code points that the API server takes for an expression. */
const LONGEST = 100_000;

/** `images` has the facts of a name, `digests` a name of each digest. Throws a Refusal. */
export function imageVariables(images: Images): { readonly digests: string; readonly images: string } {
  // A name with a tag comes before one with a digest.
  const sorted = [...images]
    .filter(([, { entrypoint = [], cmd = [] }]) => entrypoint.length + cmd.length > 0)
    .sort(([a], [b]) => Number(a.includes('@')) - Number(b.includes('@')) || (a < b ? -1 : 1));
  const names = new Map<string, string>();
  for (const [name, { digest = name.split('@')[1] }] of sorted)
    if (digest !== undefined && !names.has(digest)) names.set(digest, name);
  const named = new Set(names.values());
  const reached = sorted.filter(([name]) => !name.includes('@') || named.has(name));
  const variables = {
    digests: mapOf([...names].map(([digest, name]) => [digest, literal(name)])),
    images: mapOf(reached.flatMap(([name, facts]) => [...entriesOf(name, facts)])),
  };
  if (Object.values(variables).some((text) => text.length > LONGEST))
    refuse(`the lock has ${images.size} images, which is more than a policy can hold; lock only what the cluster runs`);
  return variables;
}

function mapOf(entries: readonly (readonly [key: string, value: string])[]): string {
  return `{${entries.map(([key, value]) => `\n  ${literal(key)}: ${value}`).join(',')}\n}`;
}

/** An image that starts the same everywhere has one entry, another one has `NAME on ARCH` for each platform. */
function entriesOf(name: string, { platforms = {}, ...facts }: ImageFacts) {
  const own = literal(factsOf(name, facts));
  const others = Object.entries(platforms).map(([platform, one]) => [platform, literal(factsOf(name, one))] as const);
  const { platform = 'linux/amd64' } = facts;
  if (others.every(([, text]) => text === own)) return [[name, own]] as const;
  return [[platform, own] as const, ...others].map(
    ([one, text]) => [`${name} on ${one.replace('linux/', '')}`, text] as const,
  );
}

/** Lists of words, since the values of a map have one type. */
function factsOf(name: string, { entrypoint = [], cmd = [], stopSignal }: ImageFacts) {
  const signal = otherSignal(stopSignal);
  const image = { image: name, command: entrypoint, args: cmd };
  return {
    ...(entrypoint.length > 0 && { entrypoint: entrypoint.map(asInManifest) }),
    ...(cmd.length > 0 && { cmd: cmd.map(asInManifest) }),
    ...(signal !== undefined && { signal: [formatSignal(signal)] }),
    ...(isHelper(image) && { role: ['known'] }),
  };
}
