/** What a page names exists: flags, variables, subcommands and exit codes of sexton, npm scripts, files. */
import assert from 'node:assert/strict';
import { existsSync, globSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { COMMAND_NAMES, COMMANDS } from '../../src/cli/commands/commands.ts';
import { FLAGS, KEYS, variableOf } from '../../src/config/flags.ts';
import { manifestOf } from '../../src/delivery/manifest.ts';
import { ROOT } from '../helpers/paths.ts';
import { PAGES, textOf } from './pages.ts';

const NAMED = PAGES.filter((page) => page !== 'CHANGELOG.md');

const OWN_FLAGS = new Set([
  ...KEYS.map((key) => FLAGS[key].name),
  ...COMMAND_NAMES.flatMap((name) => COMMANDS[name].flags.map((flag) => flag.name)),
  ...['config', 'help', 'version'],
]);
/** Flags of other programs, by program. */
const OTHER_FLAGS: Readonly<Record<string, readonly string[]>> = {
  'docker, podman': [
    ...'build-arg build-context detach env file format init init-path from mount name'.split(' '),
    ...'platform port publish push signal stop-timeout tag timeout timestamp volumes'.split(' '),
  ],
  kubectl: 'all-containers grace-period prefix previous timeout'.split(' '),
  'cluster-autoscaler': ['max-graceful-termination-sec'],
  aws: ['cli-input-json'],
  cosign: ['certificate-oidc-issuer', 'certificate-identity-regexp'],
  helm: ['post-renderer'],
  gh: ['repo'],
  npm: ['global', 'silent'],
  'sha256sum, git': ['check', 'quiet', 'short'],
  'tini, dumb-init': ['single-child', 'rewrite', 'verbose', 'help', 'version', 'init'],
  'servers and sidecars': [
    'hook-master-start',
    'graceful-timeout',
    'quitquitquit',
    'health-check',
    'drain-time-s',
    'foreground',
  ],
  'inference servers': ['enable-metrics', 'metrics', 'exit-timeout-secs'],
  curl: ['unix-socket'],
  'setpriv, unshare': ['reuid', 'regid', 'clear-groups', 'no-new-privs', 'bounding-set', 'net', 'fork'],
  'programs of build and test': 'arch cluster icu picture grep minutes rounds runs seed trace'.split(' '),
};
const FOREIGN = new Set(Object.values(OTHER_FLAGS).flat());

const VARIABLES = new Set([
  ...[...KEYS.map((key) => FLAGS[key].name), 'config'].map(variableOf),
  ...['SEXTON_POD_UID', 'SEXTON_INIT_FD', 'SEXTON_INIT_AS', 'SEXTON_INIT_SOLO', 'SEXTON_NODE'],
]);
const SOURCES = globSync(
  ['src/**/*.{ts,c,h}', 'test/{helpers,cluster,run,faults,sim,pods,core,dropin}/**/*.{ts,c}', 'test/run.ts'].concat(
    ...['examples/**/*.{ts,mjs,yaml}', 'docker/*'],
  ),
  { cwd: ROOT },
)
  .map(textOf)
  .join('\n');
const SCRIPTS = Object.keys(JSON.parse(textOf('package.json')).scripts);

const FAULTS = {
  'unknown flag': unknownFlags,
  'unknown variable': unknownVariables,
  'unknown subcommand': unknownSubcommands,
  'unknown exit code': unknownExitCodes,
  'unknown npm script': unknownScripts,
  'missing file': missingFiles,
  'TypeScript program without the Node that runs it': unrunnable,
};

describe('the pages', () => {
  for (const [what, faultsOf] of Object.entries(FAULTS))
    it(`the pages name no ${what}`, () => {
      const faults = NAMED.flatMap((page) => faultsOf(textOf(page)).map((fault) => `${page}: ${fault}`));
      assert.deepEqual(faults, []);
    });

  it('the pages name every foreign flag that is allowed here', () => {
    const all = NAMED.map(textOf).join('\n');
    const unused = [...FOREIGN].filter((flag) => !all.includes(`--${flag}`));
    assert.deepEqual(unused, []);
  });

  it('the pages name every argument of the build of the image', () => {
    const page = textOf('docs/install.md');
    const missing = found(textOf('docker/Dockerfile'), /^ARG ([A-Z_]+)/gm).filter((it) => !page.includes(`\`${it}=`));
    assert.deepEqual(missing, []);
  });

  it('the pages and the messages want one Node, that of both manifests', () => {
    const texts = [...NAMED, 'src/init/start/node.c', '.ci/run'].map(textOf).join('\n');
    const wanted = found(texts, /\bNode(?:\.js)? (\d[\d.]*) or newer/g);
    const { engines } = JSON.parse(textOf('package.json'));
    assert.deepEqual([...new Set(wanted)], [engines.node.replace('>=', '')]);
    assert.deepEqual(manifestOf(ROOT, {}).engines, engines);
  });

  it('a name that does not exist is found', () => {
    assert.deepEqual(unrunnable('`node test/run.ts`'), ['node test/run.ts']);
    assert.deepEqual(unrunnable('`PATH="$PWD/node_modules/.bin:$PATH"` and then `node test/run.ts`'), []);
    assert.deepEqual(unknownFlags('`--drian 5s`, `--drain 5s`'), ['--drian']);
    const variables = '`SEXTON_DRIAN`, `SEXTON_DRAIN`, `TEST_SEED`, `TEST_SEDE`';
    assert.deepEqual(unknownVariables(variables), ['SEXTON_DRIAN', 'TEST_SEDE']);
    assert.deepEqual(unknownSubcommands('`sexton stat`, `/sexton/sexton status`, `sexton --x`'), ['stat']);
    assert.deepEqual(unknownExitCodes('exit code 124, exit code 125, exits with 143'), ['124']);
    assert.deepEqual(unknownScripts('`npm run dev`, `npm run demo`, `npm test`'), ['dev']);
    const files = '`docs/reference.md`, `docs/refrence.md`, `test/docs/*.test.ts`, `src/none/*.ts`';
    assert.deepEqual(missingFiles(files), ['docs/refrence.md', 'src/none/*.ts']);
  });
});

function unknownFlags(text: string): string[] {
  const named = found(codeOf(text), /(?<![\w-])--([a-z][a-z0-9-]*)/g);
  return named.filter((name) => !OWN_FLAGS.has(name) && !FOREIGN.has(name)).map((name) => `--${name}`);
}

function unknownVariables(text: string): string[] {
  const own = found(text, /\b(SEXTON_[A-Z_]*[A-Z])\b/g).filter((name) => !VARIABLES.has(name));
  const others = found(text, /\b((?:TEST|KUBEXIT|KRUISE)_[A-Z_]*[A-Z])\b/g);
  return [...own, ...others.filter((name) => !SOURCES.includes(name))];
}

function unknownSubcommands(text: string): string[] {
  const named = found(codeOf(text), /(?<=^|\/|npx )sexton ([a-z]+)\b(?![:/=.])/gm);
  return named.filter((word) => !COMMAND_NAMES.some((name) => name === word));
}

/** sexton's own codes are 125 to 127. Those above are signals. */
function unknownExitCodes(text: string): string[] {
  const named = found(text, /exit(?:s with|s| code) `?(\d{3})\b/g);
  return named.filter((code) => Number(code) < 125 || Number(code) > 128 + 64);
}

function unknownScripts(text: string): string[] {
  const named = found(codeOf(text), /npm (?:run )?(?:--silent )?(?<=run (?:--silent )?)([a-z:]+)/g);
  return named.filter((name) => !SCRIPTS.includes(name));
}

function missingFiles(text: string): string[] {
  const root = /(?<![\w./-])((?:src|test|docs|examples|docker|\.ci|\.github)\/[\w./*-]*[\w*])(?![\w\\])/g;
  const exists = (path: string): boolean =>
    path.includes('*') ? globSync(path, { cwd: ROOT }).length > 0 : existsSync(join(ROOT, path));
  return found(codeOf(text), root).filter((path) => !exists(path));
}

/** The machine's own Node may be too old for TypeScript, so the page says where the right one is. */
function unrunnable(text: string): string[] {
  return text.includes('node_modules/.bin') ? [] : (codeOf(text).match(/\bnode \S+\.ts\b/g) ?? []);
}

function found(text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].map(([, name = '']) => name);
}

/** What stands in code: blocks, and words between backquotes. What the log says may quote a mistake. */
function codeOf(page: string): string {
  const text = page.replace(/^ *```log\n.*?^ *```$/gms, '');
  const inline = text.replace(/^ *```.*?^ *```$/gms, '');
  return [
    ...found(text, /^ *```.*?\n(.*?)^ *```$/gms),
    ...found(text, /^( {4}\S.*)$/gm),
    ...found(inline, /`([^`\n]+)`/g),
  ].join('\n');
}
