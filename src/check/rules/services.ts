/**
 * What the rules of Compose services ask.
 */
import type { ComposeService } from '../input/compose.ts';
import { at, isTrueAt, type Range } from '../input/located.ts';
import type { Images } from '../stop/images.ts';
import { argvOfService } from '../stop/started.ts';

/** The command line of PID 1; empty: not known, or it is the init of Docker, or a process outside of the container. */
export function firstProcessOf(service: ComposeService, images: Images): readonly string[] {
  const { node } = service;
  const isElsewhere = isTrueAt(node, 'init') || at(node, 'pid') !== undefined;
  return (isElsewhere ? undefined : argvOfService(service, images)) ?? [];
}

/** The first key stands for the whole service. */
export function wholeOf({ node }: ComposeService): Range {
  const [first] = node.entries.values();
  return first?.key ?? node;
}
