import type { Range } from './input/located.ts';
import type { Place } from './input/source.ts';

export const SEVERITIES = ['info', 'warning', 'error'] as const;
export type Severity = (typeof SEVERITIES)[number];

/** A replacement of text; everything else stays byte for byte. */
export interface Edit extends Place {
  readonly text: string;
}

export interface Found {
  readonly severity: Severity;
  readonly message: string;
  readonly place: Place;
  readonly container: string | undefined;
  /** Milliseconds after the stop request: where it hurts. */
  readonly atMs: number | undefined;
  readonly edits: readonly Edit[];
}

export interface Finding extends Found {
  readonly rule: string;
  /** `Deployment/web`, or the name of what is no workload. */
  readonly subject: string;
  /** Where the object is: there may be two of one name. */
  readonly subjectAt: Place;
}

export function isAtLeast(severity: Severity, least: Severity): boolean {
  return SEVERITIES.indexOf(severity) >= SEVERITIES.indexOf(least);
}

export interface Ignore {
  readonly rules: readonly string[];
  readonly reason: string | undefined;
  readonly place: Place;
  readonly covers: Range;
  /** It is an annotation, and `covers` is the object. */
  readonly isOfObject: boolean;
  /** What of the text `--fix` may take away; undefined: it is left to a person. */
  readonly removable: Range | undefined;
}

/** An ignore, those of its rules that ignore nothing, and those of them that do not exist. */
export interface Unused {
  readonly ignore: Ignore;
  readonly rules: readonly string[];
  readonly unknown: readonly string[];
}
