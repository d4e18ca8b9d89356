/**
 * `Incarnation` of a tombstone: random per start of the writer's host, then `-` and how many children it has started.
 */

/** The first half: one start of a host, that is one life of a container and one holder of its liveness handle. */
export function hostOf(incarnation: string | undefined): string {
  const text = incarnation ?? '';
  const end = text.lastIndexOf('-');
  return end === -1 ? text : text.slice(0, end);
}
