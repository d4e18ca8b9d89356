/**
 * The people of the pod tests: mains and sidecars that run the fixture application under sexton.
 */
import { type MemberOptions, member } from '../helpers/member.ts';
import type { Stage } from '../helpers/scenario.ts';
import type { PodContainer } from './kubelet.ts';

export type More = Partial<PodContainer>;

export interface Cast {
  main(name: string, options?: MemberOptions, flags?: readonly string[], more?: More): PodContainer;
  sidecar(name: string, options?: MemberOptions, flags?: readonly string[], more?: More): PodContainer;
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
  return { main: container([]), sidecar: container(['--role', 'sidecar']) };
}

/** `--start-after` with these gates. */
export function after(...gates: readonly string[]): string[] {
  return ['--start-after', gates.join(',')];
}
