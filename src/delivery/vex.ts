/**
 * `npm run --silent vex [-- DIRECTORY]`: prints an OpenVEX 0.2.0 document (https://github.com/openvex/spec) about the
 * parts of a built directory, `dist/sexton` by default, from the judgements in `docs/vex.yaml`. The same judgements and
 * parts give the same document.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { SBOM, type Sbom, type SbomComponent } from '../cli/commands/version/sbom.ts';

const ROOT = join(import.meta.dirname, '../..');

export interface Judgements {
  readonly author: string;
  /** A day, as `2026-11-25`. */
  readonly judged: string;
  readonly reasons: Readonly<Record<string, string>>;
  readonly justifications: Readonly<Record<string, string>>;
  readonly advisories: readonly Advisory[];
}

interface Advisory {
  readonly page: string;
  readonly published: string;
  /** The name of a part in the bill of materials. */
  readonly part: string;
  /** The first version of the part, on the line that is delivered, that has the fix. */
  readonly fixed?: string;
  /** By CVE: the name of a reason, or how the code is reached. */
  readonly vulnerabilities: Readonly<Record<string, string | { readonly reached: string }>>;
}

export function readJudgements(): Judgements {
  return parse(readFileSync(join(ROOT, 'docs/vex.yaml'), 'utf8'), { schema: 'failsafe' });
}

export function vexOf({ author, judged, advisories, ...why }: Judgements, { metadata, components }: Sbom): object {
  const statements = advisories.flatMap(({ page, part: name, fixed, vulnerabilities }) => {
    const part = components.find((it) => it.name === name);
    if (part === undefined) throw new Error(`cannot judge ${page}: the bill of materials has no ${name}`);
    const products = [{ '@id': metadata.component.purl, subcomponents: [{ '@id': part.purl }] }];
    return Object.entries(vulnerabilities).map(([cve, reason]) => ({
      vulnerability: { name: cve, '@id': `https://nvd.nist.gov/vuln/detail/${cve}` },
      products,
      ...(typeof reason === 'string' ? notAffected(reason, why) : statusOf(part, fixed, reason.reached)),
    }));
  });
  const hash = createHash('sha256').update(JSON.stringify(statements)).digest('hex');
  return {
    '@context': 'https://openvex.dev/ns/v0.2.0',
    '@id': `https://openvex.dev/docs/public/vex-${hash}`,
    author,
    timestamp: `${judged}T00:00:00Z`,
    version: 1,
    statements,
  };
}

function notAffected(reason: string, { reasons, justifications }: Pick<Judgements, 'reasons' | 'justifications'>) {
  return {
    status: 'not_affected',
    justification: justifications[reason] ?? 'vulnerable_code_not_in_execute_path',
    impact_statement: reasons[reason],
  };
}

function statusOf({ name, version = '' }: SbomComponent, fixed: string | undefined, notes: string) {
  // Another line has its fix in another version.
  const isSameLine = fixed?.split('.')[0] === version.split('.')[0];
  if (fixed === undefined || !isSameLine) return { status: 'under_investigation', status_notes: notes };
  if (isBefore(version, fixed))
    return {
      status: 'affected',
      status_notes: notes,
      action_statement: `Build sexton with ${name} ${fixed} or newer.`,
    };
  return { status: 'fixed', status_notes: notes };
}

function isBefore(version: string, other: string): boolean {
  return version.localeCompare(other, 'en', { numeric: true }) < 0;
}

if (import.meta.main) {
  const [directory = join(ROOT, 'dist/sexton')] = process.argv.slice(2);
  const sbom = JSON.parse(readFileSync(join(directory, SBOM), 'utf8')) as Sbom;
  process.stdout.write(`${JSON.stringify(vexOf(readJudgements(), sbom), undefined, 2)}\n`);
}
