import { createHash } from 'node:crypto';
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

/**
 * A fingerprint identifies a finding from one run to the next. It covers rule, file, object and message, but neither
 * lines nor figures, so it survives changes in the text around it. Equal findings are numbered.
 */
export function fingerprintsOf(findings: readonly Finding[]): ReadonlyMap<Finding, string> {
  const counts = new Map<string, number>();
  return new Map(
    findings.map((finding) => {
      const { rule, place, subject, container = '', message } = finding;
      const key = [rule, place.source.path, subject, container, message.replaceAll(/\d+(\.\d+)?/g, '#')].join('\n');
      const count = (counts.get(key) ?? 0) + 1;
      counts.set(key, count);
      const hash = createHash('sha256').update(`${key}\n${count}`).digest('hex').slice(0, 32);
      return [finding, hash] as const;
    }),
  );
}
