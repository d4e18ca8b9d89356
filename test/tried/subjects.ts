/** What stands in front of a command: nothing, another init, or sexton without a flag. */
import { SEXTON } from '../helpers/paths.ts';
import { isInstalled } from './row.ts';

export const SUBJECTS = ['bare', 'tini', 'dumb-init', 'sexton'] as const;
export type Subject = (typeof SUBJECTS)[number];

const BEFORE: Readonly<Record<Subject, readonly string[]>> = {
  bare: [],
  tini: ['tini', '--'],
  'dumb-init': ['dumb-init', '--'],
  sexton: [SEXTON, 'run', '--'],
};

export function behind(subject: Subject, argv: readonly string[]): readonly string[] {
  return [...BEFORE[subject], ...argv];
}

export function isThere(subject: Subject): boolean {
  const [program] = BEFORE[subject];
  return program === undefined || isInstalled(program);
}
