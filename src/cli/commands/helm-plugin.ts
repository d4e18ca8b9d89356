/**
 * `plugin.yaml` of a Helm 4 plugin of the type `postrenderer/v1`: Helm gives it all manifests on stdin, and takes what
 * stdout has (github.com/helm/helm, internal/plugin/runtime_subprocess.go). It expands `$` in arguments.
 */
import { resolve } from 'node:path';
import type { FlagValues } from './arguments.ts';

export type FlagsWithImage = FlagValues<'inject'> & { readonly image: string };

export function helmPlugin(version: string, lock: string | undefined, flags: FlagsWithImage): string {
  const { image, deliver, 'skip-unresolved': skips } = flags;
  const args = [
    'inject',
    '--image',
    image,
    // Helm runs it wherever it is itself.
    ...(lock === undefined ? [] : ['--images', resolve(lock)]),
    ...(deliver === undefined ? [] : ['--deliver', deliver]),
    ...(skips === true ? ['--skip-unresolved'] : []),
    '-',
  ];
  return `name: sexton
version: ${version}
apiVersion: v1
type: postrenderer/v1
runtime: subprocess
runtimeConfig:
  platformCommand:
    - command: sexton
      args: ${JSON.stringify(args)}
`;
}
