/**
 * What a page names exists: flags, variables, subcommands and exit codes of sexton, npm scripts, files.
 */
import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { COMMAND_NAMES, COMMANDS } from '../../src/cli/commands/commands.ts';
import { FLAGS, KEYS, variableOf } from '../../src/config/flags.ts';
import { ROOT } from '../helpers/paths.ts';

const PAGES = globSync(['*.md', 'docs/**/*.md', 'examples/**/*.md', 'src/**/*.md'], { cwd: ROOT })
  .filter((page) => page !== 'CHANGELOG.md')
  .sort();

const OWN_FLAGS = new Set([
  ...KEYS.map((key) => FLAGS[key].name),
  ...COMMAND_NAMES.flatMap((name) => COMMANDS[name].flags.map((flag) => flag.name)),
  ...['config', 'help', 'version'],
]);
/** Flags of other programs, by program. */
const OTHER_FLAGS: Readonly<Record<string, readonly string[]>> = {
  'docker, podman':
    'build-arg build-context detach env file format init init-path from mount name platform port publish signal stop-timeout tag timeout timestamp volumes'.split(
      ' ',
    ),
  kubectl: 'all-containers grace-period prefix previous timeout'.split(' '),
  'cluster-autoscaler': ['max-graceful-termination-sec'],
  aws: ['cli-input-json'],
  cosign: ['certificate-oidc-issuer', 'certificate-identity-regexp'],
  npm: ['global'],
  'sha256sum, git': ['check', 'quiet', 'short'],
  'tini, dumb-init': ['single-child', 'rewrite', 'verbose', 'help', 'version', 'init'],
  'servers and sidecars': ['hook-master-start', 'graceful-timeout', 'quitquitquit', 'health-check', 'drain-time-s'],
  curl: ['unix-socket'],
  'programs of build and test': 'arch cluster icu picture grep minutes rounds runs seed svg trace'.split(' '),
};
const FOREIGN = new Set(Object.values(OTHER_FLAGS).flat());

const VARIABLES = new Set([
  ...[...KEYS.map((key) => FLAGS[key].name), 'config'].map(variableOf),
  ...['SEXTON_POD_UID', 'SEXTON_INIT_FD', 'SEXTON_INIT_AS', 'SEXTON_INIT_SOLO', 'SEXTON_NODE'],
]);
const SOURCES = globSync(
  [
    'src/**/*.{ts,c,h}',
    'test/{helpers,cluster,run,faults,sim,pods,core,dropin}/**/*.{ts,c}',
    'test/run.ts',
    'examples/**/*.{ts,mjs,yaml}',
    'docker/*',
  ],
  {
    cwd: ROOT,
  },
)
  .map((file) => readFileSync(join(ROOT, file), 'utf8'))
  .join('\n');
const SCRIPTS = Object.keys(JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).scripts);

describe('the pages', () => {
  for (const [what, faultsOf] of [
    ['flag', unknownFlags],
    ['variable', unknownVariables],
    ['subcommand', unknownSubcommands],
    ['exit code', unknownExitCodes],
    ['npm script', unknownScripts],
    ['file', missingFiles],
  ] as const)
    it(`name no ${what} that does not exist`, () => {
      const faults = PAGES.flatMap((page) =>
        faultsOf(readFileSync(join(ROOT, page), 'utf8')).map((fault) => `${page}: ${fault}`),
      );
      assert.deepEqual(faults, []);
    });

  it('say where the Node is that runs TypeScript, where they need it', () => {
    const faults = PAGES.flatMap((page) =>
      unrunnable(readFileSync(join(ROOT, page), 'utf8')).map((it) => `${page}: ${it}`),
    );
    assert.deepEqual(faults, []);
  });

  it('name every foreign flag that is allowed here', () => {
    const all = PAGES.map((page) => readFileSync(join(ROOT, page), 'utf8')).join('\n');
    assert.deepEqual(
      [...FOREIGN].filter((flag) => !all.includes(`--${flag}`)),
      [],
    );
  });

  it('name every argument of the build of the image', () => {
    const page = readFileSync(join(ROOT, 'docs/install.md'), 'utf8');
    const args = readFileSync(join(ROOT, 'docker/Dockerfile'), 'utf8').matchAll(/^ARG ([A-Z_]+)/gm);
    assert.deepEqual(
      [...args].map(([, name = '']) => name).filter((name) => !page.includes(`\`${name}=`)),
      [],
    );
  });

  it('would not pass with a name that does not exist', () => {
    assert.deepEqual(unrunnable('`node test/run.ts`'), ['node test/run.ts']);
    assert.deepEqual(unrunnable('`PATH="$PWD/node_modules/.bin:$PATH"` and then `node test/run.ts`'), []);
    assert.deepEqual(unknownFlags('`--drian 5s`, `--drain 5s`'), ['--drian']);
    assert.deepEqual(unknownVariables('`SEXTON_DRIAN`, `SEXTON_DRAIN`, `TEST_SEED`, `TEST_SEDE`'), [
      'SEXTON_DRIAN',
      'TEST_SEDE',
    ]);
    assert.deepEqual(unknownSubcommands('`sexton stat`, `/sexton/sexton status`, `sexton --x`'), ['stat']);
    assert.deepEqual(unknownExitCodes('exit code 124, exit code 125, exits with 143'), ['124']);
    assert.deepEqual(unknownScripts('`npm run dev`, `npm run demo`, `npm test`'), ['dev']);
    assert.deepEqual(missingFiles('`docs/reference.md`, `docs/refrence.md`, `test/docs/*.test.ts`, `src/none/*.ts`'), [
      'docs/refrence.md',
      'src/none/*.ts',
    ]);
  });
});

function unknownFlags(text: string): string[] {
  const named = [...codeOf(text).matchAll(/(?<![\w-])--([a-z][a-z0-9-]*)/g)].map(([, name = '']) => name);
  return named.filter((name) => !OWN_FLAGS.has(name) && !FOREIGN.has(name)).map((name) => `--${name}`);
}

function unknownVariables(text: string): string[] {
  const own = [...text.matchAll(/\bSEXTON_[A-Z_]*[A-Z]\b/g)]
    .map(([name]) => name)
    .filter((name) => !VARIABLES.has(name));
  const others = [...text.matchAll(/\b(?:TEST|KUBEXIT|KRUISE)_[A-Z_]*[A-Z]\b/g)].map(([name]) => name);
  return [...own, ...others.filter((name) => !SOURCES.includes(name))];
}

function unknownSubcommands(text: string): string[] {
  const named = [...codeOf(text).matchAll(/(?<=^|\/|npx )sexton ([a-z]+)\b(?![:/=.])/gm)].map(([, word = '']) => word);
  return named.filter((word) => !COMMAND_NAMES.some((name) => name === word));
}

/** sexton's own are 125 to 127; above are signals, and what is below 100 is of the command or of a subcommand. */
function unknownExitCodes(text: string): string[] {
  const named = [...text.matchAll(/exit(?:s with|s| code) `?(\d{3})\b/g)].map(([, code]) => Number(code));
  return named.filter((code) => code < 125 || code > 128 + 64).map(String);
}

function unknownScripts(text: string): string[] {
  const named = [...codeOf(text).matchAll(/npm (?:run )?(?:--silent )?(?<=run (?:--silent )?)([a-z:]+)/g)].map(
    ([, name = '']) => name,
  );
  return named.filter((name) => !SCRIPTS.includes(name));
}

function missingFiles(text: string): string[] {
  const named = [
    ...codeOf(text).matchAll(
      /(?<![\w./-])((?:src|test|docs|examples|docker|\.ci|\.github)\/[\w./*-]*[\w*])(?![\w\\])/g,
    ),
  ];
  return named
    .map(([, path = '']) => path)
    .filter((path) =>
      path.includes('*') ? globSync(path, { cwd: ROOT }).length === 0 : !existsSync(join(ROOT, path)),
    );
}

/** The machine's own Node may be too old for TypeScript, so the page says where the right one is. */
function unrunnable(text: string): string[] {
  return text.includes('node_modules/.bin') ? [] : (codeOf(text).match(/\bnode \S+\.ts\b/g) ?? []);
}

/** What stands in code: blocks, and words between backquotes. What the log says may quote a mistake. */
function codeOf(page: string): string {
  const text = page.replace(/^ *```log\n.*?^ *```$/gms, '');
  const blocks = [...text.matchAll(/^ *```.*?\n(.*?)^ *```$/gms)].map(([, block = '']) => block);
  const indented = [...text.matchAll(/^ {4}\S.*$/gm)].map(([line]) => line);
  const rest = text.replace(/^ *```.*?^ *```$/gms, '');
  return [...blocks, ...indented, ...[...rest.matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code)].join('\n');
}
