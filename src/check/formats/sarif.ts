/** Findings as SARIF 2.1.0, with the page of each rule, fixes as exact replacements, and fingerprints. */
import { jsonText } from '../../text/print.ts';
import type { Result } from '../check.ts';
import { type Finding, fingerprintsOf, type Severity } from '../finding.ts';
import { type Place, type Position, positionAt, type Source } from '../input/source.ts';
import { RULES, ruleNamed } from '../rules/table.ts';
import { ruleMarkdown } from './explain.ts';

/** docs.oasis-open.org/sarif/sarif/v2.1.0 */
export function sarifOf(result: Result, version: string): string {
  const prints = fingerprintsOf(result.findings);
  const rules = RULES.map((rule) => ({
    id: rule.id,
    shortDescription: { text: rule.title },
    fullDescription: { text: rule.why },
    help: { text: rule.remedy, markdown: ruleMarkdown(rule) },
    defaultConfiguration: { level: levelOf(rule.severity) },
  }));
  const sarif = {
    $schema: 'https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: { driver: { name: 'sexton', semanticVersion: version, rules } },
        columnKind: 'utf16CodeUnits',
        invocations: [
          {
            executionSuccessful: result.unreadable.length === 0,
            toolExecutionNotifications: result.unreadable.map(({ path, line, why }) => ({
              level: 'error',
              message: { text: why },
              locations: [{ physicalLocation: physical(path, line === undefined ? {} : { startLine: line }) }],
            })),
          },
        ],
        results: result.findings.map((finding) => ({
          ruleId: finding.rule,
          ruleIndex: RULES.findIndex(({ id }) => id === finding.rule),
          level: levelOf(finding.severity),
          message: { text: finding.message },
          locations: [
            {
              physicalLocation: physical(finding.place.source.path, regionOf(finding.place)),
              logicalLocations: [{ fullyQualifiedName: finding.subject, kind: 'resource' }],
            },
          ],
          partialFingerprints: { 'sexton/v1': prints.get(finding) },
          ...(finding.edits.length > 0 && { fixes: [fixOf(finding)] }),
        })),
      },
    ],
  };
  return jsonText(sarif);
}

function levelOf(severity: Severity): string {
  return severity === 'info' ? 'note' : severity;
}

function physical(path: string, region: object) {
  return { artifactLocation: { uri: uriOf(path) }, ...(Object.keys(region).length > 0 && { region }) };
}

function fixOf({ edits, rule }: Finding) {
  const [first] = edits;
  return {
    description: { text: ruleNamed(rule).remedy },
    artifactChanges: [
      {
        artifactLocation: { uri: uriOf(first?.source.path ?? '') },
        replacements: edits.map((edit) => ({
          deletedRegion: { charOffset: edit.start - markOf(edit.source), charLength: edit.end - edit.start },
          insertedContent: { text: edit.text },
        })),
      },
    ],
  };
}

function regionOf({ source, start, end }: Place) {
  const from = positionAt(source, start);
  const to = positionAt(source, Math.max(start, end));
  const columnOf = ({ line, column }: Position): number => (line === 1 ? Math.max(1, column - markOf(source)) : column);
  return { startLine: from.line, startColumn: columnOf(from), endLine: to.line, endColumn: columnOf(to) };
}

/** What a byte order mark takes: readers of a text do not count it. */
function markOf({ text }: Source): number {
  return text.startsWith('\ufeff') ? 1 : 0;
}

/** Relative to where the check ran, or absolute. */
function uriOf(path: string): string {
  const uri = path.split('/').map(encodeURIComponent).join('/');
  return path.startsWith('/') ? `file://${uri}` : uri;
}
