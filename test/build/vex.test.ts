/** What `docs/vex.yaml` says of Node, held against the bundles that ship and against init. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import type { Sbom } from '../../src/cli/commands/version/sbom.ts';
import { type Judgements, readJudgements, vexOf } from '../../src/delivery/vex.ts';
import { ROOT, SEXTON } from '../helpers/paths.ts';

const DELIVERED = dirname(SEXTON);
const SBOM = JSON.parse(readFileSync(join(DELIVERED, 'sbom.cdx.json'), 'utf8')) as Sbom;
const BUNDLES = ['main', 'run', 'pino', 'tools'].map((name) =>
  readFileSync(join(DELIVERED, `app/${name}.cjs`), 'latin1'),
);
const ALL = BUNDLES.join('\n');
const INIT = readFileSync(join(ROOT, 'src/init/start/node.c'), 'utf8');
const JUDGEMENTS = readJudgements();

/** `require("x")`, `process.getBuiltinModule("node:x")`. */
const LOAD = String.raw`\b(?:require|getBuiltinModule)\(`;
const CHOSEN = 'url.startsWith("https:")?"node:https":"node:http"';

function loaded(): string[] {
  const literal = [...ALL.matchAll(new RegExp(`${LOAD}"(?:node:)?([^".][^"]*)"\\)`, 'g'))].map(([, name = '']) => name);
  return [...new Set([...literal, ...(ALL.includes(CHOSEN) ? ['https'] : [])])].sort();
}

/** The members of that module that the bundles name. */
function usesOf(module: string): string[] {
  const load = new RegExp(
    `(?:(\\{[^{}]*\\}|[\\w$]+)=)?(?:__toESM\\()?[\\w.]*${LOAD}"(?:node:)?${module}"\\)\\.?(\\w*)`,
    'g',
  );
  const used = BUNDLES.flatMap((bundle) => {
    return [...bundle.matchAll(load)].flatMap(([whole, left = '', member = '']) => {
      if (left.startsWith('{'))
        return left
          .slice(1, -1)
          .split(',')
          .map((it) => it.replace(/:.*/, ''));
      if (member !== '') return [member];
      assert.notEqual(left, '', `cannot tell what ${whole} is used for`);
      const name = left.replaceAll('$', '\\$');
      return [...bundle.matchAll(new RegExp(`(?<![\\w$.])${name}\\.(\\w+)`, 'g'))].map(([, it = '']) => it);
    });
  });
  return [...new Set(used)].sort();
}

const lacks = (pattern: RegExp) => () => assert.doesNotMatch(ALL, pattern);
const neverLoads = (module: string) => () => assert.ok(!loaded().includes(module), module);
const usesOnly = (module: string, names: readonly string[]) => () => assert.deepEqual(usesOf(module), names);

function initGivesNoOther(): void {
  const flags = [...INIT.matchAll(/"(--[^"]+)"/g)].map(([, flag]) => flag);
  const known = ['--disable-sigusr1', '--openssl-config=/dev/null', '--max-semi-space-size=1', '--v8-pool-size=1'];
  assert.deepEqual(flags, ['--library-path', ...known]);
  assert.match(INIT, /is_kept_for_node[^}]*\{"NODE_",/);
}

/** One for each reason. */
const HELD: Readonly<Record<string, () => void>> = {
  'permission-model': initGivesNoOther,
  'other-line': () => assert.match(SBOM.components.find(({ name }) => name === 'node')?.version ?? '', /^24\./),
  'vm-timeout': () => {
    const runs = [...ALL.matchAll(/\brunIn\w+\([^)]*\)/g)].map(([call]) => call);
    assert.deepEqual(new Set(runs), new Set(['runInThisContext()', 'runInNewContext("gc")']));
    usesOnly('vm', ['Script', 'runInNewContext'])();
  },
  'http2-server': usesOnly('http2', ['connect']),
  'async-hooks': neverLoads('async_hooks'),
  'tls-server': () => {
    usesOnly('tls', ['connect', 'createSecureContext'])();
    for (const [left] of ALL.matchAll(/.{20}=process\.getBuiltinModule\(url\.startsWith/g))
      assert.match(left, /\{request/);
  },
  pfx: lacks(/\bpfx\b/i),
  'node-says-no': () => {
    const pages = JUDGEMENTS.advisories.filter((it) => Object.values(it.vulnerabilities).includes('node-says-no'));
    assert.deepEqual(new Set(pages.map(({ part }) => part)), new Set(['openssl']));
  },
  'headers-distinct': lacks(/headersDistinct/i),
  'url-format': () => {
    usesOnly('url', ['fileURLToPath'])();
    lacks(/domainTo(?:ASCII|Unicode)/)();
  },
  'web-crypto': () => {
    usesOnly('crypto', ['createHash', 'hash', 'randomBytes', 'randomUUID'])();
    lacks(/\.subtle\b|webcrypto/)();
  },
  proxy: () => {
    initGivesNoOther();
    lacks(/proxyEnv|NODE_USE_ENV_PROXY/)();
  },
  'operator-names': () => {
    const connects = [...ALL.matchAll(/\btls\w*\.connect\(\{[^}]*/g)];
    assert.notEqual(connects.length, 0);
    for (const [call] of connects) assert.match(call, /rejectUnauthorized:!1/);
    lacks(/checkServerIdentity/)();
  },
  'no-agent': () => {
    const callers = globSync('src/**/*.ts', { cwd: ROOT })
      .map((path) => readFileSync(join(ROOT, path), 'utf8'))
      .filter((text) => /'node:https?'/.test(text) && /\brequest\(/.test(text));
    assert.equal(callers.length, 3);
    for (const text of callers) assert.match(text, /agent: false|createConnection:/);
    lacks(/keepAlive\b|globalAgent|new \w*Agent\b/)();
  },
  sqlite: neverLoads('sqlite'),
  dns: () => {
    neverLoads('dns')();
    neverLoads('dns/promises')();
  },
  zlib: neverLoads('zlib'),
  'no-forwarding': () => {
    const server = globSync('src/runtime/http/*.ts', { cwd: ROOT }).map((path) =>
      readFileSync(join(ROOT, path), 'utf8'),
    );
    assert.ok(server.some((text) => text.includes('createServer')));
    for (const text of server) assert.doesNotMatch(text, /\brequest\(|\bfetch\(/);
    assert.equal(ALL.match(/\(0,import_node_http\w*\.createServer\)|\bhttp\w*\.createServer\(/g)?.length, 1);
  },
};

test('every reason has a check, and every check stands for a reason that is given', () => {
  const given = JUDGEMENTS.advisories.flatMap(({ vulnerabilities }) => Object.values(vulnerabilities));
  const names = new Set(given.filter((reason) => typeof reason === 'string'));
  assert.deepEqual(names, new Set(Object.keys(HELD)));
  assert.deepEqual(names, new Set(Object.keys(JUDGEMENTS.reasons)));
});

for (const [reason, check] of Object.entries(HELD))
  test(`the reason ${reason} holds: ${JUDGEMENTS.reasons[reason]?.split(/[,;:.] /)[0]}`, check);

test('the bundles load these modules of Node and no other', () => {
  const known =
    'assert buffer child_process crypto diagnostics_channel events fs fs/promises http http2 https module net os';
  const more =
    'path path/win32 process stream stream/consumers stream/promises string_decoder timers/promises tls tty url';
  assert.deepEqual(loaded(), `${known} ${more} util v8 vm worker_threads`.split(' '));
  assert.deepEqual(usesOf('worker_threads'), ['isMainThread']);
  // What Node loads by a global, and what evades the list above.
  assert.doesNotMatch(
    ALL,
    /\bfetch\(|\bnew (?:WebSocket|EventSource|Worker)\b|WebAssembly|process\.binding|\bimport\(/,
  );
  const computed = [...ALL.matchAll(new RegExp(`${LOAD}(?!")[^)]*\\)`, 'g'))].map(([call]) => call);
  assert.deepEqual(new Set(computed), new Set(['getBuiltinModule(url.startsWith("https:")']));
});

interface Vex {
  readonly '@context': string;
  readonly timestamp: string;
  readonly version: number;
  readonly statements: readonly {
    readonly vulnerability: { readonly name: string };
    readonly products: readonly [{ readonly '@id': string; readonly subcomponents: readonly [{ '@id': string }] }];
    readonly status: string;
    readonly justification?: string;
    readonly impact_statement?: string;
    readonly status_notes?: string;
    readonly action_statement?: string;
  }[];
}

/** By the text of the specification, since its schema is in no package of npm. */
test('npm run vex prints OpenVEX 0.2.0 about parts that the bill of materials has', () => {
  const vex = JSON.parse(execFileSync('npm', ['run', '--silent', 'vex'], { cwd: ROOT, encoding: 'utf8' })) as Vex;
  assert.equal(vex['@context'], 'https://openvex.dev/ns/v0.2.0');
  assert.ok(Number.isInteger(vex.version) && !Number.isNaN(Date.parse(vex.timestamp)));
  const names = vex.statements.map(({ vulnerability }) => vulnerability.name);
  assert.deepEqual([...new Set(names)], names);
  const purls = SBOM.components.map(({ purl }) => purl);
  for (const { vulnerability, products, status, justification, impact_statement, status_notes } of vex.statements) {
    assert.match(vulnerability.name, /^CVE-20\d\d-\d{4,}$/);
    assert.equal(products[0]['@id'], SBOM.metadata.component.purl);
    assert.ok(purls.includes(products[0].subcomponents[0]['@id']));
    if (status === 'not_affected') assert.ok(JUSTIFICATIONS.includes(justification ?? '') && impact_statement);
    // The delivered Node has every fix; `affected` would be a release that must not be made.
    else assert.ok(status === 'fixed' && status_notes, `${vulnerability.name} is ${status}`);
  }
});

/** Those of the specification that are used. */
const JUSTIFICATIONS = [
  'vulnerable_code_not_present',
  'vulnerable_code_not_in_execute_path',
  'vulnerable_code_cannot_be_controlled_by_adversary',
];

test('what is reached is affected under a Node without the fix, and not judged on another line', () => {
  const reached: Judgements = {
    ...JUDGEMENTS,
    advisories: JUDGEMENTS.advisories.filter(({ fixed }) => fixed === '24.18.1'),
  };
  const under = (version: string): unknown[] => {
    const components = SBOM.components.map((it) => (it.name === 'node' ? { ...it, version } : it));
    const { statements } = vexOf(reached, { ...SBOM, components }) as Vex;
    const one = statements.find(({ vulnerability }) => vulnerability.name === 'CVE-2026-56848');
    return [one?.status, one?.action_statement];
  };
  assert.deepEqual(under('24.9.0'), ['affected', 'Build sexton with node 24.18.1 or newer.']);
  assert.deepEqual(under('24.18.0'), ['affected', 'Build sexton with node 24.18.1 or newer.']);
  assert.deepEqual(under('24.18.1'), ['fixed', undefined]);
  assert.deepEqual(under('22.23.0'), ['under_investigation', undefined]);
});
