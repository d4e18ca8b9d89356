/** What is added to a pod: the edits of its text, and what each has inserted. */
import { type Data, insertItems, insertKey } from '../check/edits.ts';
import type { Edit } from '../check/finding.ts';
import { at, type Located, type LocatedMap } from '../check/input/located.ts';
import type { Container, Pod } from '../check/input/pod.ts';
import { UID } from '../check/rules/common.ts';
import type { Delivery } from './delivery.ts';
import type { Member } from './members.ts';
import { refuse } from './refusal.ts';
import type { Inserted } from './undo.ts';

export interface Way {
  readonly deliver: Delivery;
  /** The image of sexton. */
  readonly image: string;
}

const VOLUME = 'sexton';
const GRAVEYARD = 'graveyard';

/** `shared`: what stands in the text once, and means several places. Throws a Refusal. */
export function piecesOf(pod: Pod, members: readonly Member[], way: Way, shared: ReadonlySet<Located>) {
  const isAlone = members.length === 1;
  const edits: Edit[] = [];
  const inserted: Inserted[] = [];
  refuseTaken(pod, members, way, isAlone);
  for (const { container, words } of members) {
    const { name, node, env } = container;
    const path = `containers/${name}/`;
    addItems(node, path, 'command', words, '0');
    addItems(node, path, 'volumeMounts', mountsOf(way, isAlone), VOLUME);
    if (!isAlone && !env.has(UID.name)) addItems(node, path, 'env', [UID], UID.name);
  }
  if (way.deliver === 'init-container') addItems(pod.spec, '', 'initContainers', [initContainer(way)], VOLUME);
  addItems(pod.spec, '', 'volumes', volumesOf(way, isAlone), VOLUME);
  return { edits, inserted };

  function addItems(map: LocatedMap, above: string, key: string, items: readonly Data[], first: string): void {
    const path = above + key;
    const list = at(map, key);
    if (shared.has(list ?? map)) refuse(`${path} is an alias, or what an alias or a merge key means; write it out`);
    const [edit] =
      list?.kind === 'list' ? insertItems(pod.source, list, 0, items) : insertKey(pod.source, map, key, items);
    if (edit === undefined) refuse(`${path} cannot be edited as it is written; write it as a plain list`);
    edits.push(edit);
    const isKey = list === undefined;
    // What is noted is the value of a new key, or the first of the items.
    const back = isKey ? edit.text.indexOf(': ') + 2 : edit.text.search(/[^\s[-]/);
    inserted.push({ path: isKey ? path : `${path}/${first}`, back, text: edit.text });
  }
}

export function mountsOf({ deliver }: Way, isAlone: boolean): readonly Data[] {
  const how = deliver === 'image-volume' ? { subPath: 'sexton' } : { readOnly: true };
  const own = { name: VOLUME, mountPath: '/sexton', ...how };
  return isAlone ? [own] : [own, { name: GRAVEYARD, mountPath: `/${GRAVEYARD}` }];
}

export function volumesOf({ deliver, image }: Way, isAlone: boolean): readonly Data[] {
  const ofImage = { name: VOLUME, image: { reference: image, pullPolicy: 'IfNotPresent' } };
  const own = deliver === 'image-volume' ? ofImage : { name: VOLUME, emptyDir: { sizeLimit: '150Mi' } };
  return isAlone ? [own] : [own, { name: GRAVEYARD, emptyDir: {} }];
}

/** As the level "restricted" wants it. Requests that are the limits leave a pod "Guaranteed". */
export function initContainer({ image }: Way): Data {
  const resources = { cpu: '100m', memory: '128Mi' };
  return {
    name: VOLUME,
    image,
    args: ['install', '/target'],
    resources: { requests: resources, limits: resources },
    securityContext: {
      allowPrivilegeEscalation: false,
      capabilities: { drop: ['ALL'] },
      readOnlyRootFilesystem: true,
      runAsNonRoot: true,
      runAsUser: 65_532,
      seccompProfile: { type: 'RuntimeDefault' },
    },
    volumeMounts: [{ name: VOLUME, mountPath: '/target' }],
  };
}

function refuseTaken(pod: Pod, members: readonly Member[], { deliver }: Way, isAlone: boolean): void {
  // sexton takes a directory at /graveyard for its own, also where a member is alone.
  for (const name of [VOLUME, GRAVEYARD]) {
    if (pod.volumes.has(name) && (name === VOLUME || !isAlone))
      refuse(`the volume name ${name} is taken; rename yours`);
    const holds = ({ mounts }: Container): boolean =>
      mounts.some(({ path, volume }) => volume === name || path === `/${name}` || path.startsWith(`/${name}/`));
    const holder = members.find(({ container }) => holds(container));
    if (holder !== undefined) refuse(`${holder.container.name} mounts something at /${name}; mount it elsewhere`);
  }
  if (deliver === 'init-container' && [...pod.inits, ...pod.containers].some(({ name }) => name === VOLUME))
    refuse(`the container name ${VOLUME} is taken; rename yours`);
}

/** What is reached in several ways: by aliases, and maps whose keys a merge key brings elsewhere. */
export function sharedIn(root: Located): ReadonlySet<Located> {
  const seen = new Set<Located>();
  const shared = new Set<Located>();
  const owners = new Map<unknown, LocatedMap>();
  visit(root, false);
  return shared;

  function visit(node: Located, isBelow: boolean): void {
    if (shared.has(node)) return;
    const isShared = isBelow || seen.has(node);
    (isShared ? shared : seen).add(node);
    if (node.kind === 'list') for (const item of node.items) visit(item, isShared);
    if (node.kind !== 'map') return;
    for (const entry of node.entries.values()) {
      const owner = owners.get(entry);
      if (owner === undefined) owners.set(entry, node);
      else if (owner !== node) shared.add(owner);
      visit(entry.value, isShared);
    }
  }
}
