/** Every Kubernetes manifest of the examples and docs fits the types made from Kubernetes' OpenAPI description. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { allManifests, type Manifest, parseManifests } from '../helpers/manifest.ts';
import { ROOT } from '../helpers/paths.ts';

const run = promisify(execFile);

const POD = (spec: string): string => `apiVersion: v1\nkind: Pod\nmetadata: { name: a }\nspec: ${spec}\n`;
const REFUSED: readonly (readonly [what: string, yaml: string, says: RegExp])[] = [
  [
    'a misspelt field',
    POD('{ terminationGracePeriodSecond: 5, containers: [] }'),
    /'terminationGracePeriodSecond' does not exist .* Did you mean to write 'terminationGracePeriodSeconds'/,
  ],
  [
    'a field far inside',
    POD('{ containers: [{ name: a, lifecycle: { preStop: { exec: { comand: [ls] } } } }] }'),
    /'comand' does not exist/,
  ],
  ['a number for a text', POD('{ containers: [{ name: a, command: [sleep, 5] }] }'), /'number' is not assignable/],
  ['a yes for a text', POD('{ containers: [{ name: a, args: [yes] }] }'), /'boolean' is not assignable/],
  ['a value that is none of those allowed', POD('{ restartPolicy: Sometimes, containers: [] }'), /"Sometimes"/],
  ['a field that is missing', POD('{ containers: [{ image: a }] }'), /'"name"' is missing/],
  ['a kind that does not exist', 'apiVersion: apps/v1\nkind: Job\n', /Cannot find module/],
];

test('all manifests of the examples and the docs fit the types of Kubernetes', async (t) => {
  const manifests = allManifests();
  assert.ok(manifests.length >= 3, 'the manifests were found');
  assert.deepEqual(await problemsOf(t, manifests), []);
});

test('the compiler names each field or value that does not fit', async (t) => {
  const manifests = REFUSED.flatMap(([what, yaml]) => parseManifests(yaml, what));
  const problems = await problemsOf(t, manifests);
  for (const [what, , says] of REFUSED) {
    const found = problems.filter((it) => it.startsWith(`${what}: `));
    assert.equal(found.length, 1, `${what}: ${problems.join('\n')}`);
    assert.match(found[0] ?? '', says);
  }
});

/** By the compiler: an object literal must have what its type asks for, and nothing that it does not know. */
async function problemsOf(t: TestContext, manifests: readonly Manifest[]): Promise<string[]> {
  const dir = await mkdtemp(join(tmpdir(), 'sx-manifests-'));
  t.after(() => rm(dir, { recursive: true }));
  await symlink(join(ROOT, 'node_modules'), join(dir, 'node_modules'));
  for (const [index, { apiVersion, kind, content }] of manifests.entries()) {
    const imported = `import type { I${kind} } from 'kubernetes-models/${apiVersion}/${kind}';`;
    await writeFile(join(dir, `${index}.ts`), `${imported}\nexport const it: I${kind} =\n${literal(content)};\n`);
  }
  const compilerOptions = {
    module: 'nodenext',
    target: 'es2024',
    strict: true,
    noEmit: true,
    types: [],
    skipLibCheck: true,
  };
  await writeFile(join(dir, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }));
  const tsc = join(ROOT, 'node_modules', '.bin', 'tsc');
  const { stdout } = await run(tsc, ['--pretty', 'false'], { cwd: dir }).catch((error: unknown) => {
    if (error instanceof Error && 'stdout' in error) return { stdout: String(error.stdout) };
    throw error;
  });
  return stdout
    .trim()
    .split(/\n(?! )/)
    .filter(Boolean)
    .map((line) =>
      line.replace(/^(\d+)\.ts\(\d+,\d+\): error TS\d+/, (_, index) => manifests[Number(index)]?.from ?? ''),
    );
}

/** Keys without quotes: with them the compiler names no nearest right one. */
function literal(content: unknown): string {
  return JSON.stringify(content, null, 1).replaceAll(/^( *)"([A-Za-z]\w*)":/gm, '$1$2:');
}
