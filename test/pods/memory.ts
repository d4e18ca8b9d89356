/**
 * Little memory for a command, so that the kernel's OOM killer ends it: in a cgroup of its own, or, as a pod has it,
 * with its supervisor in the container's. The kernel ends the one that takes most.
 */
import { join } from 'node:path';
import { makeCgroup } from '../helpers/cgroup.ts';
import { ENGINE } from '../helpers/engine.ts';
import type { Stage } from '../helpers/scenario.ts';
import type { PodContainer } from './kubelet-container.ts';

export function limited(stage: Stage, command: readonly string[]): Pick<PodContainer, 'command' | 'memoryMb'> {
  return ENGINE === 'podman' ? { command, memoryMb: 160 } : { command: inOwnGroup(stage, command) };
}

function inOwnGroup({ scratch }: Stage, command: readonly string[]): string[] {
  const group = makeCgroup(scratch, 'memory');
  group.limit(64 << 20);
  return ['sh', '-c', 'echo $$ > "$0" && exec "$@"', join(group.dir, 'cgroup.procs'), ...command];
}
