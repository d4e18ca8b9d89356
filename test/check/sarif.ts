/**
 * A schema of the part of SARIF 2.1.0 (OASIS, errata 01) that sexton writes. It requires what the specification
 * requires and allows only what sexton uses. No npm package has OASIS' own; `node test/check/sarif.ts FILE` validates
 * by a copy of it.
 */
import { readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import { check, type Result } from '../../src/check/check.ts';
import { sarifOf } from '../../src/check/formats/sarif.ts';
import { examplesOf, RULES } from '../../src/check/rules/table.ts';
import { BAD_YAML } from './rules.ts';

const text = { type: 'string' } as const;
const index = { type: 'integer', minimum: -1 } as const;
const one = { type: 'integer', minimum: 1 } as const;
const count = { type: 'integer', minimum: 0 } as const;
const level = { enum: ['none', 'note', 'warning', 'error'] } as const;
const message = object({ text }, ['text']);
const artifactLocation = object({ uri: { type: 'string', pattern: '^[^\\s<>"{}|\\\\^`]+$' } }, ['uri']);
const lines = { startLine: one, startColumn: one, endLine: one, endColumn: one };
/** By lines or by characters, never both. */
const region = {
  anyOf: [object(lines, ['startLine']), object({ charOffset: count, charLength: count }, ['charOffset'])],
};
const location = object({
  physicalLocation: object({ artifactLocation, region }, ['artifactLocation']),
  logicalLocations: list(object({ fullyQualifiedName: text, kind: text })),
});
const replacement = object({ deletedRegion: region, insertedContent: object({ text }) }, ['deletedRegion']);
const change = object({ artifactLocation, replacements: { ...list(replacement), minItems: 1 } }, [
  'artifactLocation',
  'replacements',
]);
const rule = object(
  {
    id: text,
    shortDescription: message,
    fullDescription: message,
    help: object({ text, markdown: text }, ['text']),
    defaultConfiguration: object({ level }),
  },
  ['id'],
);
const result = object(
  {
    ruleId: text,
    ruleIndex: index,
    level,
    message,
    locations: list(location),
    partialFingerprints: { type: 'object', additionalProperties: text },
    fixes: list(
      object({ description: message, artifactChanges: { ...list(change), minItems: 1 } }, ['artifactChanges']),
    ),
  },
  ['message'],
);
const invocation = object(
  {
    executionSuccessful: { type: 'boolean' },
    toolExecutionNotifications: list(object({ level, message, locations: list(location) }, ['message'])),
  },
  ['executionSuccessful'],
);
const driver = object(
  { name: text, semanticVersion: { type: 'string', pattern: '^\\d+\\.\\d+\\.\\d+' }, rules: list(rule) },
  ['name'],
);
const run = object(
  {
    tool: object({ driver }, ['driver']),
    columnKind: { enum: ['utf16CodeUnits', 'unicodeCodePoints'] },
    invocations: list(invocation),
    results: list(result),
  },
  ['tool'],
);

export const SARIF_SHAPE = object({ $schema: text, version: { const: '2.1.0' }, runs: list(run) }, ['version', 'runs']);

function object(properties: Readonly<Record<string, object>>, required: readonly string[] = []) {
  return { type: 'object', properties, required, additionalProperties: false } as const;
}

function list(items: object) {
  return { type: 'array', items } as const;
}

/** The findings of every bad example, under names that a URI or a line may not have as they are. */
export async function everyFinding(): Promise<Result> {
  const dockerfiles = RULES.filter(({ on }) => on === 'dockerfile');
  return check([
    { path: 'dir/a,b:c d%\n<"&é😀.yaml', text: BAD_YAML.join('---\n') },
    { path: '/absolute/of.yaml', text: BAD_YAML[0] ?? '' },
    { path: 'broken.yaml', text: 'a: [\n' },
    { path: 'long/Dockerfile', text: 'FROM debian:12\nCMD server --port \\\n  80\n' },
    ...dockerfiles.map((one) => ({ path: `${one.id}/Dockerfile`, text: examplesOf(one).bad })),
  ]);
}

const [, script, path] = process.argv;
if (script === import.meta.filename) {
  if (path === undefined) throw new Error('usage: node test/check/sarif.ts sarif-schema-2.1.0.json');
  // OASIS' schema is of draft 4, which ajv no longer supports. Only these two keys differ.
  const { $schema: _draft, id: _id, ...schema } = JSON.parse(readFileSync(path, 'utf8'));
  const isRight = new Ajv({ strict: false, allErrors: true, validateFormats: false }).compile(schema);
  const result = await everyFinding();
  if (!isRight(JSON.parse(sarifOf(result, '1.2.3')))) throw new Error(JSON.stringify(isRight.errors, undefined, 2));
  process.stdout.write(`${result.findings.length} results are as the schema says\n`);
}
