/** Whether manifests fit the types that are made from Kubernetes' OpenAPI description. */
import { execFile } from 'node:child_process';
import { symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Manifest } from './manifest.ts';
import { ROOT } from './paths.ts';
import { temporaryDirectory } from './temporary.ts';

const run = promisify(execFile);

/** By the compiler: an object literal must have what its type asks for, and nothing that it does not know. */
export async function problemsOf(manifests: readonly Manifest[]): Promise<string[]> {
  const dir = temporaryDirectory();
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
