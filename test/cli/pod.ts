import { type Outcome, run } from '../helpers/outcome.ts';
import { SEXTON } from '../helpers/paths.ts';
import type { Stage } from '../helpers/scenario.ts';
import { waitForRunning } from '../helpers/tombstone.ts';
import { type PodContainer, type RunningPod, runPod } from '../pods/kubelet.ts';

export async function startPod(stage: Stage, ...containers: readonly PodContainer[]): Promise<RunningPod> {
  const pod = runPod(stage.scratch, { restartPolicy: 'Never', graceMs: 300_000, containers });
  const names = containers.map(({ name }) => name);
  await waitForRunning(stage.scratch.graveyard, names);
  return pod;
}

/** `before`: what is run in front of it, such as `nsenter`. */
export function sexton({ scratch }: Stage, args: readonly string[], before: readonly string[] = []): Promise<Outcome> {
  return run([...before, SEXTON, ...args], { PATH: process.env.PATH ?? '', SCRATCH: scratch.dir });
}

export function sextonOf(stage: Stage, args: readonly string[], before: readonly string[] = []): Promise<Outcome> {
  return sexton(stage, [...args, '--graveyard', stage.scratch.graveyard], before);
}
