/**
 * Two bundles and a launcher, all CommonJS, because V8 can cache only classic scripts.
 *
 * `run.cjs` holds all that `sexton run` needs. `tools.cjs` holds what only another subcommand or a configuration file
 * in YAML needs, so that `run` does not pay for it; a dynamic import of one of those modules becomes a lookup in that
 * file. Every other dynamic import stays lazy inside its bundle: esbuild initialises the module when it is first
 * imported.
 */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { type BuildOptions, build, type Metafile, type Plugin } from 'esbuild';

export interface Bundles {
  readonly run: string;
  readonly tools: string;
  readonly launcher: string;
  /** Licence texts of the packages in the bundles, one section each. */
  readonly licenses: string;
}

export interface Release {
  readonly version: string;
  readonly commit: string;
}

/**
 * What `sexton run` enters by, what it loads to make its configuration, and more for a file; every other dynamic import
 * from `src/cli` is a tool.
 */
const RUN_MODULES: ReadonlySet<string> = new Set([
  'src/cli/commands/run.ts',
  'src/cli/commands/configure.ts',
  'src/cli/config/file/file.ts',
]);
/**
 * Beside those: what a member needs only where there is no init, which the delivered directory always has, on a network
 * volume, or when it is asked for a trace.
 */
const OTHER_TOOLS: ReadonlySet<string> = new Set([
  'yaml',
  'chokidar',
  'src/runtime/host/execa.ts',
  'src/runtime/otlp.ts',
]);

export async function makeBundles(root: string, release: Release): Promise<Bundles> {
  const entry = join(root, 'src/cli/main.ts');
  if (!existsSync(entry)) throw new Error('cannot bundle: src/cli/main.ts is not there');
  const common: BuildOptions & { metafile: true; write: false } = {
    absWorkingDir: root,
    bundle: true,
    write: false,
    metafile: true,
    platform: 'node',
    format: 'cjs',
    target: 'node22',
    // A script compiled with vm.Script has no loader for import(): what is left of it must be require().
    supported: { 'dynamic-import': false },
    minifySyntax: true,
    minifyWhitespace: true,
    legalComments: 'none',
    logLevel: 'silent',
    define: {
      __SEXTON_VERSION__: JSON.stringify(release.version),
      __SEXTON_COMMIT__: JSON.stringify(release.commit),
      __SEXTON_EXAMPLES__: JSON.stringify(examplesIn(join(root, 'src/check/rules'))),
      'import.meta.dirname': '__dirname',
      'import.meta.filename': '__filename',
    },
  };
  const lazy = new Set<string>();
  const run = await build({ ...common, entryPoints: [entry], plugins: [toolsApart(root, lazy)] });
  const tools = await build({
    ...common,
    stdin: { contents: toolsEntry(lazy), resolveDir: root, sourcefile: 'tools.ts', loader: 'ts' },
  });
  const launcher = await build({ ...common, entryPoints: [join(root, 'src/delivery/launcher/launcher.ts')] });
  return {
    run: asciiTextOf(run.outputFiles),
    tools: asciiTextOf(tools.outputFiles),
    launcher: asciiTextOf(launcher.outputFiles),
    licenses: licensesOf(root, [run.metafile, tools.metafile]),
  };
}

/** The inputs beside the rules of `sexton check`, by their paths. */
function examplesIn(directory: string): Readonly<Record<string, string>> {
  const paths = globSync('SX*/{bad,good}.*', { cwd: directory }).sort();
  return Object.fromEntries(paths.map((path) => [path, readFileSync(join(directory, path), 'utf8')]));
}

/** Turns dynamic imports of tools into lookups in `tools.cjs`, and notes which they are. */
function toolsApart(root: string, lazy: Set<string>): Plugin {
  return {
    name: 'tools-apart',
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^\.|^[a-z]/ }, ({ kind, path, resolveDir }) => {
        if (kind !== 'dynamic-import') return undefined;
        const module = path.startsWith('.') ? relative(root, resolve(resolveDir, path)) : path;
        const isTool = module.startsWith('src/cli/') ? !RUN_MODULES.has(module) : OTHER_TOOLS.has(module);
        if (!isTool) return undefined;
        lazy.add(module);
        return { path: module, namespace: 'tool' };
      });
      onLoad({ filter: /.*/, namespace: 'tool' }, ({ path }) => ({
        contents: `module.exports = require('./tools.cjs').modules[${JSON.stringify(path)}]()`,
        loader: 'js',
      }));
      onResolve({ filter: /^\.\/tools\.cjs$/, namespace: 'tool' }, ({ path }) => ({ path, external: true }));
    },
  };
}

function toolsEntry(lazy: ReadonlySet<string>): string {
  const entries = [...lazy].sort().map((module) => {
    const specifier = module.startsWith('src/') ? `./${module}` : module;
    return `  ${JSON.stringify(module)}: () => require(${JSON.stringify(specifier)}),`;
  });
  return `declare const require: (name: string) => unknown;\nmodule.exports = { modules: {\n${entries.join('\n')}\n} };\n`;
}

function licensesOf(root: string, metafiles: readonly Metafile[]): string {
  const files = metafiles.flatMap(({ inputs }) => Object.keys(inputs));
  const packages = new Set(files.flatMap((file) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? []));
  return [...packages]
    .sort()
    .map((directory) => licenseOf(root, directory))
    .join('\n');
}

function licenseOf(root: string, directory: string): string {
  const { name, version, license } = JSON.parse(readFileSync(join(root, directory, 'package.json'), 'utf8')) as Record<
    string,
    string
  >;
  const names = ['LICENSE', 'license', 'LICENSE.md', 'LICENSE.txt'];
  const path = names.map((file) => join(root, directory, file)).find((file) => existsSync(file));
  const text = path ? readFileSync(path, 'utf8').trim() : `License: ${license}`;
  return `${name} ${version}\n\n${text}\n`;
}

/**
 * In ASCII, since the launcher reads it as latin1: esbuild escapes what is in strings, but not what is in regular
 * expressions.
 */
function asciiTextOf(files: readonly { readonly text: string }[]): string {
  const [file] = files;
  if (!file) throw new Error('internal error: esbuild wrote nothing');
  return file.text.replaceAll(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
