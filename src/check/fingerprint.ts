/**
 * A fingerprint identifies a finding from one run to the next. It covers rule, file, object and message, but neither
 * lines nor figures, so it survives changes in the text around it. Equal findings are numbered.
 */
import { createHash } from 'node:crypto';
import type { Finding } from './finding.ts';

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
