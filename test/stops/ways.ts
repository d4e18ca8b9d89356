/** The ways in which each fault is met. */
import type { Way } from './pod.ts';

export const WAYS: readonly Way[] = [
  { was: 'asleep', declares: true, by: 'stop' },
  { was: 'asleep', declares: false, by: 'stop' },
  { was: 'awake', declares: true, by: 'stop' },
  { was: 'awake', declares: false, by: 'stop' },
  { was: 'asleep', declares: true, by: 'main lost' },
];

export function nameOf({ was, declares, by }: Way): string {
  const what = by === 'stop' ? `stops, ${was}` : `loses its main, ${was}`;
  return `${what}, ${declares ? 'with' : 'without'} a declared grace period`;
}
