/** A pod as a manifest has it: what matters to its stop, each part with its place. */
import type { Located, LocatedMap } from './located.ts';
import { at, isTrueAt, itemsAt, textAt, wholeAt, wordsAt } from './located.ts';
import type { Source } from './source.ts';

export type Policy = 'Always' | 'OnFailure' | 'Never';

export interface Pod {
  readonly source: Source;
  readonly spec: LocatedMap;
  readonly namespace: string | undefined;
  readonly labels: ReadonlyMap<string, string>;
  /** Those of the pod and of its workload. */
  readonly annotations: ReadonlyMap<string, string>;
  readonly graceSeconds: number;
  /** Where it is written; undefined: it is the default. */
  readonly graceAt: Located | undefined;
  readonly policy: Policy;
  /** Native sidecars first, in the order of their start. */
  readonly containers: readonly Container[];
  /** Init containers that end before the pod runs. */
  readonly inits: readonly Container[];
  readonly volumes: ReadonlyMap<string, LocatedMap>;
  readonly isOnHostNetwork: boolean;
  /** PID 1 is not the container's own program. */
  readonly sharesProcesses: boolean;
  readonly os: string | undefined;
}

export interface Container {
  readonly name: string;
  readonly node: LocatedMap;
  readonly isNative: boolean;
  readonly image: string | undefined;
  /** With variables filled in as the kubelet does; undefined: the image's. */
  readonly command: readonly string[] | undefined;
  readonly args: readonly string[] | undefined;
  readonly env: ReadonlyMap<string, string | undefined>;
  readonly preStop: Hook | undefined;
  readonly stopSignal: string | undefined;
  readonly mounts: readonly Mount[];
  /** Its own; undefined: that of the pod. */
  readonly policy: Policy | undefined;
  readonly rules: readonly RuleOfRestart[];
}

export interface Hook {
  readonly node: Located;
  readonly action:
    | { readonly kind: 'sleep'; readonly seconds: number }
    | { readonly kind: 'exec'; readonly argv: readonly string[] }
    | { readonly kind: 'network' };
}

export interface Mount {
  readonly node: LocatedMap;
  readonly volume: string;
  readonly path: string;
  readonly isReadOnly: boolean;
}

export interface RuleOfRestart {
  readonly node: Located;
  readonly action: string;
  readonly except: boolean;
  readonly codes: readonly number[];
}

/** What Kubernetes gives a pod that declares none. */
const DEFAULT_GRACE_SECONDS = 30;

export function podOf(spec: LocatedMap, around: Pick<Pod, 'source' | 'namespace' | 'labels' | 'annotations'>): Pod {
  const graceAt = at(spec, 'terminationGracePeriodSeconds');
  // Templates put numbers in quotes; what is meant is clear.
  const graceText = textAt(graceAt) ?? '';
  const grace = /^\d+$/.test(graceText) ? Number(graceText) : undefined;
  const inits = containersOf(spec, 'initContainers');
  const natives = inits.filter(({ policy }) => policy === 'Always').map((one) => ({ ...one, isNative: true }));
  return {
    ...around,
    spec,
    graceSeconds: grace ?? DEFAULT_GRACE_SECONDS,
    graceAt: grace === undefined ? undefined : graceAt,
    policy: policyAt(spec) ?? 'Always',
    containers: [...natives, ...containersOf(spec, 'containers')],
    inits: inits.filter(({ policy }) => policy !== 'Always'),
    volumes: new Map(
      itemsAt(spec, 'volumes').flatMap((volume) =>
        volume.kind === 'map' ? [[textAt(volume, 'name') ?? '', volume] as const] : [],
      ),
    ),
    isOnHostNetwork: isTrueAt(spec, 'hostNetwork'),
    sharesProcesses: isTrueAt(spec, 'shareProcessNamespace') || isTrueAt(spec, 'hostPID'),
    os: textAt(spec, 'os', 'name'),
  };
}

function containersOf(spec: LocatedMap, key: string): readonly Container[] {
  return itemsAt(spec, key).flatMap((node, index) => (node.kind === 'map' ? [containerOf(node, index)] : []));
}

function containerOf(node: LocatedMap, index: number): Container {
  const env = environmentOf(node);
  return {
    name: textAt(node, 'name') ?? `container ${index + 1}`,
    node,
    isNative: false,
    image: textAt(node, 'image'),
    command: wordsAt(node, 'command')?.map((word) => expanded(word, env)),
    args: wordsAt(node, 'args')?.map((word) => expanded(word, env)),
    env,
    preStop: hookOf(at(node, 'lifecycle', 'preStop')),
    stopSignal: textAt(node, 'lifecycle', 'stopSignal'),
    mounts: itemsAt(node, 'volumeMounts').flatMap((mount) => {
      const volume = textAt(mount, 'name');
      const path = textAt(mount, 'mountPath')?.replace(/(?<=[^/]|^\/)\/+$/, '');
      if (mount.kind !== 'map' || volume === undefined || path === undefined) return [];
      return [{ node: mount, volume, path, isReadOnly: isTrueAt(mount, 'readOnly') }];
    }),
    policy: policyAt(node),
    rules: itemsAt(node, 'restartPolicyRules').map((rule) => ({
      node: rule,
      action: textAt(rule, 'action') ?? '',
      except: textAt(rule, 'exitCodes', 'operator') === 'NotIn',
      codes: itemsAt(rule, 'exitCodes', 'values').flatMap((value) => wholeAt(value) ?? []),
    })),
  };
}

function policyAt(node: LocatedMap): Policy | undefined {
  const text = textAt(node, 'restartPolicy');
  return text === 'Always' || text === 'OnFailure' || text === 'Never' ? text : undefined;
}

/** undefined: its value is somewhere else. */
function environmentOf(node: LocatedMap): ReadonlyMap<string, string | undefined> {
  return new Map(
    itemsAt(node, 'env').flatMap((entry) => {
      const name = textAt(entry, 'name');
      if (name === undefined) return [];
      const value = at(entry, 'valueFrom') === undefined ? (textAt(entry, 'value') ?? '') : undefined;
      return [[name, value] as const];
    }),
  );
}

/** `$(NAME)` by the rules of the kubelet: what is not known stays, `$$` is a dollar. */
function expanded(word: string, env: ReadonlyMap<string, string | undefined>): string {
  return word.replace(/\$\$|\$\(([^()]*)\)/g, (whole, name: string | undefined) =>
    name === undefined ? '$' : (env.get(name) ?? whole),
  );
}

function hookOf(node: Located | undefined): Hook | undefined {
  if (node === undefined) return undefined;
  const seconds = wholeAt(node, 'sleep', 'seconds');
  if (seconds !== undefined) return { node, action: { kind: 'sleep', seconds } };
  const argv = wordsAt(node, 'exec', 'command');
  if (argv !== undefined) return { node, action: { kind: 'exec', argv } };
  const asks = at(node, 'httpGet') ?? at(node, 'tcpSocket');
  return asks && { node, action: { kind: 'network' } };
}

/** The command line of PID 1 as far as the manifest has it; undefined: the image's entrypoint begins it. */
export function argvOf(container: Container): readonly string[] | undefined {
  return (container.command ?? []).length === 0 ? undefined : givenWords(container);
}

/** What of the command line the manifest has. */
export function givenWords({ command = [], args = [] }: Pick<Container, 'command' | 'args'>): readonly string[] {
  return [...command, ...args];
}
