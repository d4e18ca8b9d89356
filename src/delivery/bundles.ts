/**
 * Three bundles and a launcher, all CommonJS, because V8 can cache only classic scripts.
 *
 * `run.cjs` holds all that `sexton run` needs. `tools.cjs` holds what only another subcommand or a configuration file
 * in YAML needs, so that `run` does not pay for it. A dynamic import of one of those modules becomes a lookup in that
 * file. `pino.cjs` is pino alone, which `run` loads once it has acted: its part of the cache would delay every wake.
 * Every other dynamic import stays lazy inside its bundle: esbuild initialises the module when it is first imported.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { type BuildOptions, build, type OutputFile, type Plugin } from 'esbuild';
import { placeContent } from './place.ts';

export interface Bundles {
  readonly run: string;
  readonly tools: string;
  readonly pino: string;
  readonly launcher: string;
  /** Licence texts of the packages in the bundles, one section each. */
  readonly licenses: string;
  readonly packages: readonly BundledPackage[];
  /** The source files of all bundles, relative to the root, as esbuild read them. */
  readonly inputs: readonly string[];
}

export interface BundledPackage {
  /** Relative to the root. */
  readonly directory: string;
  readonly name: string;
  readonly version: string;
  readonly license: string;
}

export interface Release {
  readonly version: string;
  readonly commit: string;
}

/** `commit`: where no repository can tell it, as in the build of an image. */
export function readRelease(root: string, commit: string = readCommit(root)): Release {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  return { version, commit };
}

/** A source archive has no repository; the version alone must do then. */
function readCommit(root: string): string {
  const { status, stdout } = spawnSync('git', ['rev-parse', '--short=12', 'HEAD'], { cwd: root, encoding: 'utf8' });
  return status === 0 ? stdout.trim() : 'unknown';
}

/**
 * What `sexton run` enters by and what it loads to resolve its configuration; every other dynamic import from `src/cli`
 * is a tool.
 */
const RUN_MODULES: ReadonlySet<string> = new Set(['src/cli/commands/run/run.ts', 'src/cli/commands/run/configure.ts']);
/**
 * Other tools: what a member needs only for a file in YAML, on a network volume, or without init, which the delivered
 * directory always has.
 */
const OTHER_TOOLS: ReadonlySet<string> = new Set(['src/config/file/yaml.ts', 'chokidar', 'src/runtime/host/execa.ts']);

/** Lays all but `run.cjs`, which a build may mark. */
export function placeBundles(app: string, licenses: string, bundles: Bundles): void {
  placeContent(join(licenses, 'packages.txt'), bundles.licenses);
  placeContent(join(app, 'main.cjs'), bundles.launcher);
  placeContent(join(app, 'tools.cjs'), bundles.tools);
  placeContent(join(app, 'pino.cjs'), bundles.pino);
}

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
  const run = await build({ ...common, entryPoints: [entry], plugins: [toolsApart(root, lazy), pinoApart] });
  const tools = await build({
    ...common,
    stdin: { contents: toolsEntry(lazy), resolveDir: root, sourcefile: 'tools.ts', loader: 'ts' },
  });
  const pino = await build({ ...common, entryPoints: ['pino'], plugins: [withoutWorkers] });
  const launcher = await build({ ...common, entryPoints: [join(root, 'src/delivery/launcher/launcher.ts')] });
  const inputs = [run, tools, pino, launcher].flatMap(({ metafile }) => Object.keys(metafile.inputs));
  const packages = packagesOf(root, inputs);
  return {
    run: asciiTextOf(run.outputFiles),
    tools: asciiTextOf(tools.outputFiles),
    pino: asciiTextOf(pino.outputFiles),
    launcher: asciiTextOf(launcher.outputFiles),
    licenses: packages.map((it) => licenseOf(root, it)).join('\n'),
    packages,
    inputs,
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

/** Turns the import of pino into that of `pino.cjs`. */
const pinoApart: Plugin = {
  name: 'pino-apart',
  setup({ onResolve }) {
    onResolve({ filter: /^pino$/ }, () => ({ path: './pino.cjs', external: true }));
  },
};

/** pino requires thread-stream for transports in workers, which would need files of their own beside the bundle. */
const withoutWorkers: Plugin = {
  name: 'without-workers',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^thread-stream$/ }, ({ path }) => ({ path, namespace: 'worker' }));
    onLoad({ filter: /.*/, namespace: 'worker' }, () => ({ contents: 'module.exports = undefined' }));
  },
};

function toolsEntry(lazy: ReadonlySet<string>): string {
  const entries = [...lazy].sort().map((module) => {
    const specifier = module.startsWith('src/') ? `./${module}` : module;
    return `  ${JSON.stringify(module)}: () => require(${JSON.stringify(specifier)}),`;
  });
  return `declare const require: (name: string) => unknown;\nmodule.exports = { modules: {\n${entries.join('\n')}\n} };\n`;
}

function packagesOf(root: string, inputs: readonly string[]): BundledPackage[] {
  const found = inputs.flatMap((file) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? []);
  return [...new Set(found)].sort().map((directory) => {
    const manifest = readFileSync(join(root, directory, 'package.json'), 'utf8');
    const { name, version, license } = JSON.parse(manifest) as BundledPackage;
    return { directory, name, version, license };
  });
}

function licenseOf(root: string, { directory, name, version, license }: BundledPackage): string {
  const names = ['LICENSE', 'license', 'LICENSE.md', 'LICENSE.txt'];
  const path = names.map((file) => join(root, directory, file)).find((file) => existsSync(file));
  const text = path ? readFileSync(path, 'utf8').trim() : `License: ${license}`;
  return `${name} ${version}\n\n${text}\n`;
}

/** In ASCII, as the launcher reads it as latin1: esbuild escapes what is in strings, but not in regular expressions. */
function asciiTextOf(files: readonly OutputFile[]): string {
  return textOf(files).replaceAll(
    /[\u0080-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

export function textOf([file]: readonly OutputFile[] = []): string {
  if (!file) throw new Error('internal error: esbuild wrote nothing');
  return file.text;
}
