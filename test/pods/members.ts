/** The members of the pods of the tests: mains and sidecars that run the fixture application under sexton. */
import { writeFileSync } from 'node:fs';
import { type MemberOptions, member } from '../helpers/member.ts';
import type { Stage } from '../helpers/scenario.ts';
import { waitForEvent } from '../helpers/timeline.ts';
import { waitForRunning } from '../helpers/tombstone.ts';
import type { PodContainer } from './kubelet.ts';

export type More = Partial<PodContainer>;

export interface Cast {
  main(name: string, options?: MemberOptions, flags?: readonly string[], more?: More): PodContainer;
  sidecar(name: string, options?: MemberOptions, flags?: readonly string[], more?: More): PodContainer;
  /** A barrier: the run= of a main with `...served` counts from when the sidecar with `...serves` has started. */
  readonly served: MemberOptions;
  readonly serves: MemberOptions;
  /** A hook that is the fixture application, too, under a name of its own. */
  hook(name: string, options?: MemberOptions): string;
  /** A probe that is good as long as the file is there, and logs each time under a name of its own. */
  probe(name: string, file: string, options?: string): string;
  /** Opens the same barrier in place of a sidecar that serves. */
  open(): void;
  /** Waits until these run by their tombstones, which the others see, and by their own logs: they take signals. */
  running(...names: readonly string[]): Promise<void>;
}

/** A grace period far longer than all that happens in it, on a slow machine, too. */
export const AMPLE_MS = 40_000;

export function cast(stage: Stage): Cast {
  const container = (role: readonly string[]): Cast['main'] => {
    return (name, options = {}, flags = [], more = {}) => ({
      name,
      flags: [...role, ...flags],
      command: member(stage, name, options),
      ...more,
    });
  };
  const barrier = stage.scratch.path('barrier');
  return {
    main: container([]),
    sidecar: container(['--role', 'sidecar']),
    served: { after: barrier },
    serves: { ready: barrier },
    hook: (name, options = {}) => `exec:${member(stage, name, options).join(' ')}`,
    probe: (name, file, options = 'period=100ms,timeout=30s,failures=1') =>
      `exec:${member(stage, name, { exists: file }).join(' ')},${options}`,
    open: () => writeFileSync(barrier, ''),
    running: async (...names) => {
      await waitForRunning(stage.scratch.graveyard, names);
      for (const name of names) await waitForEvent(stage.scratch.log, name, 'Started');
    },
  };
}

/** `--start-after` with these gates. */
export function after(...gates: readonly string[]): string[] {
  return ['--start-after', gates.join(',')];
}

/** The fixture application as PID 1, without sexton. */
export function bare(stage: Stage, name: string, options: MemberOptions = {}, more: More = {}): PodContainer {
  return { name, bare: true, command: member(stage, name, options), ...more };
}
