/**
 * Little memory for a command, so that the kernel's OOM killer ends it: in a cgroup of its own, or, as a pod has it, with its
 * supervisor in the container's. The kernel ends the one that takes most.
 */
import { existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { ENGINE } from '../helpers/engine.ts';
import type { Stage } from '../helpers/scenario.ts';
import { waitFor } from '../helpers/wait.ts';
import type { PodContainer } from './kept.ts';

export function limited(stage: Stage, command: readonly string[]): Pick<PodContainer, 'command' | 'memoryMb'> {
  return ENGINE === 'podman' ? { command, memoryMb: 160 } : { command: inOwnGroup(stage, command) };
}

function inOwnGroup({ t, scratch }: Stage, command: readonly string[]): string[] {
  const v1 = '/sys/fs/cgroup/memory';
  const isV1 = existsSync(v1);
  const group = join(isV1 ? v1 : '/sys/fs/cgroup', `sexton-test-${basename(scratch.dir)}`);
  mkdirSync(group);
  t.after(() => waitFor('the memory cgroup is empty', () => removed(group)));
  writeFileSync(join(group, isV1 ? 'memory.limit_in_bytes' : 'memory.max'), String(64 << 20));
  return ['sh', '-c', 'echo $$ > "$0" && exec "$@"', join(group, 'cgroup.procs'), ...command];
}

function removed(group: string): boolean {
  try {
    rmdirSync(group);
    return true;
  } catch {
    return false;
  }
}
