/**
 * What a check of many manifests takes: 1,000 documents, the bad examples of all rules again and again, by the built
 * program.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { examplesOf } from '../../../src/check/rules/examples.ts';
import { RULES } from '../../../src/check/rules/table.ts';
import { SEXTON } from '../../helpers/paths.ts';
import { type Case, Samples } from '../measurement.ts';

const DOCUMENTS = 1_000;
const NAME = '1,000 documents as JSON';
const MAX_NS = 2e9;

export const check: Case = {
  name: 'check',
  rounds: 5,
  async run({ rounds }) {
    const dir = mkdtempSync(join(tmpdir(), 'sexton-bench-'));
    try {
      writeFileSync(join(dir, 'all.yaml'), manifests());
      const time = new Samples([]);
      for (let round = 0; round < rounds; round++) time.add(NAME, checkOf(dir));
      const notes = [`the aim is ${MAX_NS / 1e9} s`];
      return [{ title: 'check: time', unit: 'ns', figures: time.figures(), notes, references: [], aims: [] }];
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  },
};

/** Each with a name and labels of its own, so that what is joined is found among many. */
function manifests(): string {
  const examples = RULES.filter(({ on }) => on === 'workload' || on === 'budget').flatMap((rule) =>
    examplesOf(rule).bad.split('---\n'),
  );
  const documents = Array.from({ length: DOCUMENTS }, (_, index) => {
    const text = examples[index % examples.length] ?? '';
    const name = `web-${Math.floor(index / examples.length)}-${index % examples.length}`;
    return text
      .replaceAll('{app: web}', `{app: ${name}}`)
      .replace('metadata: {name: web}', `metadata: {name: ${name}}`);
  });
  return documents.join('---\n');
}

function checkOf(dir: string): number {
  const since = process.hrtime.bigint();
  const { status, stdout } = spawnSync(SEXTON, ['check', '-o', 'json', dir], { encoding: 'utf8', maxBuffer: 2 ** 28 });
  const ns = Number(process.hrtime.bigint() - since);
  const { workloads, findings } = JSON.parse(stdout) as { workloads: unknown[]; findings: unknown[] };
  if (status !== 1 || workloads.length < DOCUMENTS / 2 || findings.length < DOCUMENTS / 2)
    throw new Error(`the check failed: ${stdout.slice(0, 200)}`);
  return ns;
}
