import { itemsAt, textAt } from '../../input/located.ts';
import { flagAt, mountAbove } from '../common.ts';
import { ofContainer } from '../rule.ts';

export const rule = ofContainer({
  severity: 'error',
  title: 'The graveyard is not shared by its members, cannot be written, or outlives the pod',
  why: 'Members find each other by files in one directory. Without a mount each has a directory of its own, a read-only one takes no tombstone, and what outlives the pod brings tombstones of others.',
  remedy: 'Mount one emptyDir, writable, at the same path in all members.',
  *find({ container, pod, sexton, view, workload }) {
    const graveyard = sexton?.run?.graveyard;
    if (graveyard === undefined) return;
    const mount = mountAbove(container, graveyard);
    const at = mount?.node ?? flagAt(container, '--graveyard');
    const volume = mount && pod.volumes.get(mount.volume);
    const claims = itemsAt(workload.object, 'spec', 'volumeClaimTemplates');
    // A claim beats a volume of its name.
    const kind = claims.some((claim) => textAt(claim, 'metadata', 'name') === mount?.volume)
      ? 'persistentVolumeClaim'
      : volume && [...volume.entries.keys()].find((key) => key !== 'name');
    const volumes = new Set(
      view.containers.flatMap(({ container: other, sexton: { run } = {} }) =>
        run?.graveyard === undefined ? [] : (mountAbove(other, run.graveyard)?.volume ?? []),
      ),
    );
    const found = (what: string) => ({ at, what: `the graveyard ${graveyard} ${what}` });
    if (mount === undefined) yield found('is on no volume, so no other container sees it');
    else if (mount.isReadOnly) yield found('is mounted read-only');
    else if (kind !== undefined && kind !== 'emptyDir')
      yield found(`is a ${kind}, which outlives the pod; use an emptyDir`);
    else if (volumes.size > 1) yield found(`is not one volume for all members (${[...volumes].join(', ')})`);
  },
  say: ({ what }) => what,
});
