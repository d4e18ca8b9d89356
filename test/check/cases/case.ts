import type { Around } from '../rules.ts';

/**
 * A text that the rule leaves alone, or a text with a pattern for each finding, and with what is around it. A finding
 * is written as `severity @milliseconds [text of the place] message`, with ` (fix)` where it has one. A text among the
 * patterns is a part of the text after --fix. false: there is no fix.
 */
export type Case = string | readonly [text: string, ...saysFixedAndAround: (RegExp | string | false | Around)[]];

export type Cases = Readonly<Record<string, Readonly<Record<string, Case>>>>;

export const FOUND = /./;

export const version = (text: string): Around => ({ flags: ['--kubernetes-version', text] });
export const scenario = (text: string): Around => ({ flags: ['--scenario', text] });

export function each<Value>(
  values: readonly Value[],
  caseOf: (value: Value) => readonly [what: string, one: Case],
): Readonly<Record<string, Case>> {
  return Object.fromEntries(values.map(caseOf));
}
