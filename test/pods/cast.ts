/**
 * The people of the pod tests: mains and sidecars that run the fixture application under sexton.
 */
import { writeFileSync } from 'node:fs';
import { type MemberOptions, member } from '../helpers/member.ts';
import type { Stage } from '../helpers/scenario.ts';
import { waitForEvent } from '../helpers/timeline.ts';
import type { PodContainer } from './kubelet.ts';

export type More = Partial<PodContainer>;

export interface Cast {
  main(name: string, options?: MemberOptions, flags?: readonly string[], more?: More): PodContainer;
  sidecar(name: string, options?: MemberOptions, flags?: readonly string[], more?: More): PodContainer;
  /** A barrier: the run= of a main with `...served` counts from when the sidecar with `...serves` has started. */
  readonly served: MemberOptions;
  readonly serves: MemberOptions;
  /** Opens the same barrier, when each of these has happened, in place of a sidecar that serves. */
  open(...events: readonly (readonly [name: string, event: string])[]): Promise<void>;
}

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
    open: async (...events) => {
      for (const [name, event] of events) await waitForEvent(stage.scratch.log, name, event);
      writeFileSync(barrier, '');
    },
  };
}

/** `--start-after` with these gates. */
export function after(...gates: readonly string[]): string[] {
  return ['--start-after', gates.join(',')];
}
