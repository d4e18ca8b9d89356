/**
 * A value as some source gave it, before it is parsed: all sources (command line, environment, file) come down to these.
 */
import type { Key } from './flag.ts';
import { show } from './parse.ts';

export interface Given {
  readonly key: Key;
  readonly text: string;
  /** Where a file has it in a shape of its own, it is parsed already. */
  readonly value?: unknown;
  /** How a message names it, with its value: `--drain 5s`, `SEXTON_DRAIN=5s`, `drain: 5s in /etc/sexton.yaml`. */
  readonly label: string;
  /** How `explain` names where it came from: `--drain`, `SEXTON_DRAIN`, `/etc/sexton.yaml`. */
  readonly source: string;
}

/**
 * Kubernetes leaves `$(NAME)` as it is when the variable is not declared before its use, so a value that still holds one
 * is always a slip.
 */
export function unexpanded(text: string): string | undefined {
  const reference = /\$\([A-Za-z_][A-Za-z0-9_]*\)/.exec(text)?.[0];
  return reference && `${reference} was not expanded; declare that variable before this one in the Pod's env`;
}

export function flagLabel(name: string, text: string): string {
  return `--${name} ${show(text)}`;
}

export function variableLabel(name: string, text: string): string {
  return `${name}=${show(text)}`;
}

/** As another program says it. */
export function signalTo(text: 'group' | 'first', source: string): Given {
  return { key: 'signalTo', text, label: `--signal-to ${text} (${source})`, source };
}
