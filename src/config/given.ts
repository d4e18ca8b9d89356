/** A value as one source gave it, before it is parsed. All sources (command line, environment, file) produce these. */
import type { Key } from './flags.ts';
import { show } from './notation/parse.ts';

export interface Given {
  readonly key: Key;
  readonly text: string;
  /** The parsed value, where a file has it in the shape of a Pod. */
  readonly value?: unknown;
  readonly isInFile?: true;
  /** How a message names it, with its value: `--drain 5s`, `SEXTON_DRAIN=5s`, `drain: 5s in /etc/sexton.yaml`. */
  readonly label: string;
  /** How `explain` names where it came from: `--drain`, `SEXTON_DRAIN`, `/etc/sexton.yaml`. */
  readonly source: string;
}

export function flagLabel(name: string, text: string): string {
  return `--${name} ${show(text)}`;
}

export function variableLabel(name: string, text: string): string {
  return `${name}=${show(text)}`;
}
