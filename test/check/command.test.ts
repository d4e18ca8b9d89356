import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { CHECK_SCHEMA } from '../../src/check/formats/machine.ts';
import { INSTALLED_MIB } from '../../src/check/rules/SX806/rule.ts';
import { RULES, ruleNamed } from '../../src/check/rules/table.ts';
import { SEXTON } from '../helpers/paths.ts';
import { temporaryDirectory } from '../helpers/temporary.ts';
import { BAD_YAML, examples } from './rules.ts';
import { deployment, podJson, SERVICE, under } from './workloads.ts';

const BAD = examples('SX101').bad;
const GOOD = examples('SX101').good;
const WARNS = examples('SX109').bad;

function runIn(
  dir: string,
  files: Readonly<Record<string, string>>,
  args: readonly string[],
  input: string | Buffer = '',
) {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(dir, name, '..'), { recursive: true });
    writeFileSync(join(dir, name), text);
  }
  const { status, stdout, stderr } = spawnSync(SEXTON, ['check', ...args], {
    cwd: dir,
    input,
    encoding: 'utf8',
    env: { PATH: process.env.PATH, LANG: 'C.UTF-8' },
  });
  return { code: status, out: stdout, err: stderr };
}

describe('sexton check', () => {
  it('sexton check exits with 1 where it finds an error, and names the place', () => {
    const dir = temporaryDirectory();
    assert.equal(runIn(dir, { 'good.yaml': GOOD }, ['good.yaml']).code, 0);
    const { code, out } = runIn(dir, { 'bad.yaml': BAD }, ['bad.yaml']);
    assert.equal(code, 1);
    assert.match(out, /bad\.yaml:14:22 error SX101 web: a preStop of 35 s/);
    assert.match(out, /^web .*✖ {2}ends, or KILL at 32 s$/m);
    assert.match(out, /^1 error, 0 warnings, 0 info, in 1 workload$/m);
  });

  it('--fail-on sets the severity from which sexton check fails', () => {
    const dir = temporaryDirectory();
    assert.equal(runIn(dir, { 'a.yaml': WARNS }, ['a.yaml']).code, 0);
    assert.equal(runIn(dir, {}, ['--fail-on', 'warning', 'a.yaml']).code, 1);
    assert.equal(runIn(dir, { 'b.yaml': BAD }, ['--fail-on', 'never', 'b.yaml']).code, 0);
  });

  it('an unreadable input makes sexton check exit with 2 and check the others', () => {
    const dir = temporaryDirectory();
    const files = {
      'm/broken.yaml': 'a: [1\n',
      'm/helm.yaml': 'a: {{ .Values.a }}\n  {{- end }}\n---\nb: {{ .Values.b }}\n  {{- end }}\n',
      'm/go.yaml': 'a: {{.A}}\n  {{end}}\n',
      // In a directory that is no manifest.
      'm/tsconfig.json': '{\n  // strict\n  "strict": true\n}\n',
      'm/pod.json': '{"kind": "Pod",\n',
      'm/bad.yaml': BAD,
    };
    const { code, out } = runIn(dir, files, ['m', 'missing.yaml']);
    assert.equal(code, 2);
    assert.match(out, /SX101/);
    assert.match(out, /m\/broken\.yaml:\d+ not read: not YAML/);
    assert.equal(out.match(/m\/helm\.yaml:\d+ not read: a template, not YAML; render it first/g)?.length, 1, out);
    assert.match(out, /m\/go\.yaml:\d+ not read: a template/);
    assert.match(out, /m\/pod\.json:\d+ not read: not YAML/);
    assert.doesNotMatch(out, /tsconfig/);
    assert.match(out, /missing\.yaml not read: no such file or directory/);
  });

  it('a named input with nothing to check exits with 2, unless --allow-empty is given', () => {
    const dir = temporaryDirectory();
    const files = { 'README.md': '# Title\n\nText\n', 'values.yaml': 'replicas: 2\n', 'd/deep/notes.txt': 'no\n' };
    const told = (name: string) => new RegExp(`^${name} not read: nothing to check in it; .*--allow-empty`, 'm');
    for (const name of ['README.md', 'values.yaml', 'd', '-']) {
      const { code, out } = runIn(dir, files, [name]);
      assert.equal(code, 2, name);
      assert.match(out, told(name));
      assert.equal(runIn(dir, {}, ['--allow-empty', name]).code, 0);
    }
    const { code, out } = runIn(dir, { 'bad.yaml': BAD, 'd/more.yaml': 'a: 1\n' }, ['bad.yaml', 'd', 'missing.yaml']);
    assert.equal(code, 2);
    assert.match(out, /error SX101/);
    assert.match(out, told('d'));
    assert.equal(out.match(/missing\.yaml not read/g)?.length, 1);
  });

  it('a text with objects of other kinds only counts as checked', () => {
    const dir = temporaryDirectory();
    const crd = 'apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: a}\n';
    assert.equal(runIn(dir, { 'crd.yaml': crd, 'service.yaml': SERVICE }, ['crd.yaml']).code, 0);
    assert.equal(runIn(dir, {}, ['service.yaml']).code, 0);
    assert.equal(runIn(dir, {}, ['-'], 'apiVersion: v1\nkind: List\nitems: []\n').code, 0);
    // One that holds something is enough for its directory.
    assert.equal(runIn(dir, { 'values.yaml': 'a: 1\n' }, ['.']).code, 0);
  });

  it('sexton check follows links of a directory and checks each file once', () => {
    const dir = temporaryDirectory();
    runIn(dir, { 'elsewhere/bad.yaml': BAD, 'real/warns.yaml': WARNS }, ['elsewhere']);
    // As the kubelet lays out a ConfigMap, and a link that leads back.
    const links = { '..data': '../elsewhere', 'bad.yaml': '..data/bad.yaml', 'again.yaml': '../elsewhere/bad.yaml' };
    mkdirSync(join(dir, 'm'));
    for (const [name, target] of Object.entries({ ...links, up: '..', 'gone.yaml': 'nowhere.yaml', gone: 'nowhere' }))
      symlinkSync(target, join(dir, 'm', name));
    const { code, out } = runIn(dir, {}, ['m', 'elsewhere/bad.yaml']);
    assert.equal(code, 2);
    assert.equal(out.match(/error SX101/g)?.length, 1, out);
    assert.equal(out.match(/warning SX109/g)?.length, 1, out);
    assert.match(out, /^m\/gone\.yaml not read: no such file or directory$/m);
    assert.equal(out.match(/not read/g)?.length, 2, out);
  });

  it('an input whose pods are all of unknown kinds is not read, and its kinds are named', () => {
    const dir = temporaryDirectory();
    const release = 'apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: a}\n';
    const service =
      'apiVersion: serving.knative.dev/v1\nkind: Service\nspec: {template: {spec: {containers: [{image: a}]}}}\n';
    const role = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n';
    writeFileSync(join(dir, 'a.yaml'), `${release}---\n${service}---\n${role}`);
    const { code, out } = runIn(dir, {}, ['.']);
    assert.equal(code, 2);
    assert.match(
      out,
      /^\. not read: nothing was checked: kind HelmRelease of helm\.toolkit\.fluxcd\.io\/v2: .*; kind Service of serving/,
    );
    assert.equal(runIn(dir, {}, ['--allow-empty', '.']).code, 0);
    writeFileSync(join(dir, 'b.yaml'), 'apiVersion: v1\nkind: Pod\nspec: {containers: [{name: a, image: a}]}\n');
    assert.equal(runIn(dir, {}, ['.']).code, 0);
    assert.equal(runIn(dir, {}, ['a.yaml', 'b.yaml']).code, 2);
    writeFileSync(join(dir, 'a.yaml'), role);
    assert.equal(runIn(dir, {}, ['a.yaml']).code, 0);
  });

  it('--diff of an absolute path has a patch that applies in the root', () => {
    const dir = temporaryDirectory();
    const path = join(dir, 'a.yaml');
    writeFileSync(path, examples('SX101').bad);
    const { out } = runIn(dir, {}, ['--diff', path]);
    assert.ok(out.startsWith(`--- a${path}\n+++ b${path}\n`), out);
  });

  it('a template by its name is reported as one', () => {
    const dir = temporaryDirectory();
    writeFileSync(join(dir, 'a.yaml.tpl'), `kind: {name: \${name}}\n%{ for a in b }\n`);
    const { code, out } = runIn(dir, {}, ['a.yaml.tpl']);
    assert.equal(code, 2);
    assert.match(out, /^a\.yaml\.tpl:1 not read: a template, not YAML; render it first/);
  });

  it('a wrong flag exits with 125 and names the flag, the value and the remedy', () => {
    const dir = temporaryDirectory();
    writeFileSync(join(dir, 'text'), 'hello\n[\n');
    const wrong: readonly (readonly [readonly string[], RegExp])[] = [
      [[], /nothing to check; name a file/],
      [['--fail-on', 'warnings', 'a'], /--fail-on warnings: must be one of .*; did you mean warning\?/],
      [['-o', 'xml', 'a'], /--output xml: must be one of text, json/],
      [['-o', 'json=', 'a'], /names no file; write json=FILE/],
      [['--only', 'SX9999', 'a'], /--only SX9999: no rule begins so/],
      [['--severity', 'SX9999', 'a'], /--severity SX9999: names no rule; write one such as SX301=error/],
      [['--severity', 'SX101', 'a'], /--severity SX101: names no severity; write SX101=error/],
      [['--severity', 'SX101=fatal', 'a'], /--severity SX101=fatal: must be one of info, warning, error/],
      [
        ['--images', 'text', 'a'],
        /--images text: Unexpected token 'h', "hello \[ " is not valid JSON; name a file in JSON/,
      ],
      [['--images', '.', 'a'], /--images \.: illegal operation on a directory; name a file in JSON/],
      [['--baseline', '.', 'a'], /--baseline \.: illegal operation on a directory; name a file in JSON/],
      [['-o', 'json=/no/x', 'text'], /--output: cannot write \/no\/x: no such file or directory$/],
      [['-o', 'json=.', 'text'], /--output: cannot write \.: illegal operation on a directory$/],
      [['--timeline', 'off', 'a'], /must be one of none, text, svg, html; did you mean none\?/],
      [['--kubernetes', '1.36', 'a'], /unknown flag --kubernetes; did you mean --kubernetes-version\?/],
      [['--hlep'], /unknown flag --hlep; did you mean --help\?/],
      [['--kubernetes-version', 'new', 'a'], /write one such as 1\.36/],
      [['--scenario', 'flood', 'a'], /flood: no such scenario; write some of delete/],
      [['--explain', 'SX11'], /no such rule/],
      [['--baseline', 'none.json', 'a'], /--baseline none\.json: no such file/],
      [['--timeline', 'htm', 'a'], /--timeline htm: must be one of none, text, svg, html; did you mean html\?/],
      [['--timeline', 'html', '-o', 'json', 'a'], /--timeline html: goes to standard output.*write --output json=FILE/],
      [['--timeline', 'svg', '--diff', 'a'], /--diff: prints a patch; leave --timeline svg out/],
      [['--fix', '-'], /cannot write standard input; take --diff/],
      [['--wide', 'a'], /unknown flag --wide; see sexton check --help/],
      [['--fixx', 'a'], /unknown flag --fixx; did you mean --fix\?/],
      [['--format', 'json', 'a'], /unknown flag --format; did you mean --output\?/],
      [['--scenario', 'spot=abc', 'a'], /spot=abc: abc is no number of seconds; write spot=25/],
    ];
    for (const [args, message] of wrong) {
      const { code, out, err } = runIn(dir, {}, args);
      assert.equal(code, 125, args.join(' '));
      assert.equal(out, '');
      assert.match(err.trimEnd(), message);
      assert.equal(err.match(/\n/g)?.length, 1, err);
    }
  });

  it('a path loses its leading ./, which CI systems do not accept', () => {
    const dir = temporaryDirectory();
    const { out } = runIn(dir, { 'bad.yaml': BAD }, ['-o', 'json', './bad.yaml']);
    assert.equal(JSON.parse(out).findings[0].path, 'bad.yaml');
    assert.match(runIn(dir, { '-': BAD }, ['./-']).out, /^\.\/-:\d+:\d+ error SX101/m);
  });

  it('--timeline svg draws one workload, and --timeline html draws them all', () => {
    const dir = temporaryDirectory();
    const svg = runIn(dir, { 'bad.yaml': BAD }, ['--timeline', 'svg', '-o', 'json=found.json', 'bad.yaml']);
    assert.equal(svg.code, 1);
    const title = 'How Deployment/web will stop: Ends after 30 to 32 s;';
    assert.match(svg.out, new RegExp(`^<svg xmlns=.*<title>${title}.*SX101: .*</svg>\n$`, 's'));
    assert.equal(JSON.parse(readFileSync(join(dir, 'found.json'), 'utf8')).findings.length, 1);
    const more = { 'good.yaml': GOOD, Dockerfile: 'FROM debian:12\nCMD serve\n' };
    const html = runIn(dir, more, ['--timeline', 'html', '.']);
    assert.equal(html.code, 1);
    assert.match(
      html.out,
      /^<!doctype html>.*How 2 workloads will stop.*bad\.yaml.*good\.yaml.*Other findings.*SX601/s,
    );
    for (const [flags, isTree] of [
      ['--drain, 5s', true] as const,
      ['--drain, 5s, --signal-to, group', false] as const,
    ]) {
      const page = runIn(dir, { '-': under(flags) }, ['--timeline', 'html', './-']).out;
      assert.equal(page.includes('s, parents first'), isTree);
    }
    const two = runIn(dir, {}, ['--timeline', 'svg', 'bad.yaml', 'good.yaml']);
    assert.deepEqual([two.code, two.out], [125, '']);
    assert.match(
      two.err,
      /--timeline svg: draws one workload, and there are 2; name a file that has one, or take html/,
    );
  });

  it('sexton check reads standard input, JSON, lists and several documents', () => {
    const dir = temporaryDirectory();
    const list = `apiVersion: v1\nkind: List\nitems:\n${BAD.replaceAll(/^/gm, '  ').replace('  apiVersion', '- apiVersion')}`;
    assert.match(runIn(dir, {}, ['-'], `${GOOD}---\n${BAD}`).out, /-:30:22 error SX101/);
    assert.match(runIn(dir, {}, ['-'], list.trimEnd()).out, /error SX101/);
    const json = podJson({ lifecycle: { preStop: { sleep: { seconds: 60 } } } }, {}, '\t');
    assert.match(runIn(dir, {}, ['-'], json).out, /-:\d+:\d+ error SX101/);
  });

  it('annotations and comments ignore findings with a reason, and unused ones are reported', () => {
    const dir = temporaryDirectory();
    const annotated = BAD.replace('{name: web}', '{name: web, annotations: {check.sexton.dev/ignore-SX101: internal}}');
    const above = BAD.replace(/^( *)lifecycle:/m, '$1# sexton-ignore SX101: it ends early\n$&');
    const behind = BAD.replace('seconds: 35}}', 'seconds: 35}} # sexton-ignore SX101: it ends early');
    const elsewhere = BAD.replace(/^( *)containers:/m, '$1# sexton-ignore SX101: not here\n$1dnsPolicy: Default\n$&');
    for (const text of [annotated, above, behind, `# sexton-ignore SX101: all of it\n${BAD}`]) {
      const { code, out } = runIn(dir, { 'a.yaml': text }, ['-o', 'json', 'a.yaml']);
      assert.equal(code, 0, text);
      const { findings, ignored } = JSON.parse(out);
      assert.deepEqual(findings, []);
      assert.equal(ignored[0].rule, 'SX101');
      assert.match(ignored[0].reason, /internal|ends early|all of it/);
    }
    const { code, out } = runIn(dir, { 'a.yaml': elsewhere }, ['a.yaml']);
    assert.equal(code, 1);
    assert.match(out, /info SX901 this ignore ignores nothing: SX101 finds nothing here/);
  });

  it('flags override the .sexton-check.yaml of a directory above', () => {
    const dir = temporaryDirectory();
    writeFileSync(join(dir, '.sexton-check.yaml'), 'fail-on: warning\nskip: [SX101]\nseverity: {SX109: error}\n');
    mkdirSync(join(dir, 'deep/er'), { recursive: true });
    const deep = join(dir, 'deep/er');
    assert.equal(runIn(deep, { 'a.yaml': BAD }, ['a.yaml']).code, 0);
    assert.match(runIn(deep, { 'b.yaml': WARNS }, ['b.yaml']).out, /error SX109/);
    assert.equal(runIn(deep, {}, ['--skip', 'SX3', 'a.yaml']).code, 1);
    writeFileSync(join(dir, '.sexton-check.yaml'), 'fail_on: warning\n');
    assert.match(runIn(deep, {}, ['a.yaml']).err, /fail_on: no such key; did you mean fail-on\?/);
  });

  it('a baseline hides its findings even when their lines have moved', () => {
    const dir = temporaryDirectory();
    runIn(dir, { 'a.yaml': BAD }, ['-o', 'json=base.json', 'a.yaml']);
    writeFileSync(join(dir, 'a.yaml'), `# moved\n\n${BAD}`);
    const args = ['--baseline', 'base.json', '-o', 'json', 'a.yaml'];
    const { code, out } = runIn(dir, {}, args);
    assert.equal(code, 0);
    assert.deepEqual(JSON.parse(out).findings, []);
    writeFileSync(join(dir, 'a.yaml'), BAD.replaceAll('name: web', 'name: other'));
    assert.equal(runIn(dir, {}, args).code, 1);
  });

  it('--fix writes the repaired files, and --diff prints the same as a patch', () => {
    const dir = temporaryDirectory();
    const { out, code } = runIn(dir, { 'a.yaml': BAD }, ['--diff', 'a.yaml']);
    assert.equal(code, 1);
    assert.equal(readFileSync(join(dir, 'a.yaml'), 'utf8'), BAD);
    assert.equal(runIn(dir, {}, ['--fix', 'a.yaml']).code, 0);
    const repaired = readFileSync(join(dir, 'a.yaml'), 'utf8');
    assert.equal(runIn(dir, {}, ['a.yaml']).code, 0);
    writeFileSync(join(dir, 'a.yaml'), BAD);
    execFileSync('git', ['apply'], { cwd: dir, input: out });
    assert.equal(readFileSync(join(dir, 'a.yaml'), 'utf8'), repaired);
  });

  it('--fix repairs a finding of severity info only where that is asked for', () => {
    const dir = temporaryDirectory();
    const { bad } = examples('SX301');
    const text = `${bad}---\n${BAD}`;
    const fixedBy = (...args: readonly string[]): string => {
      runIn(dir, { 'a.yaml': text }, ['--fix', ...args, 'a.yaml']);
      return readFileSync(join(dir, 'a.yaml'), 'utf8');
    };
    const [worse, sleep] = [/terminationGracePeriodSeconds: 65/, /lifecycle: \{preStop: \{sleep: \{seconds: 5\}\}\}/];
    assert.match(fixedBy(), worse);
    assert.doesNotMatch(fixedBy(), sleep);
    assert.match(fixedBy('--fail-on', 'info'), sleep);
    assert.match(fixedBy('--only', 'SX301'), sleep);
    assert.doesNotMatch(fixedBy('--only', 'SX301'), worse);
    assert.match(fixedBy('--severity', 'SX301=warning'), sleep);
    assert.doesNotMatch(fixedBy('--severity', 'SX901=warning'), sleep);
    const { out } = runIn(dir, { 'a.yaml': text }, ['a.yaml']);
    assert.match(out, /error SX101 .* \(--fix\)$/m);
    assert.match(out, /info SX301 .* \(--fix --severity SX301=warning\)$/m);
    assert.match(runIn(dir, {}, ['--diff', 'a.yaml']).out, /^\+ +terminationGracePeriodSeconds: 65$/m);
    assert.doesNotMatch(runIn(dir, {}, ['--diff', 'a.yaml']).out, sleep);
  });

  it('a long report ends with the number of findings of each rule', () => {
    const dir = temporaryDirectory();
    const file = (index: number, text: string) => [`${index}.yaml`, text.replaceAll('web', `web${index}`)] as const;
    const files = Object.fromEntries([
      ...Array.from({ length: 9 }, (_, index) => file(index, WARNS)),
      file(9, BAD),
      file(10, BAD),
    ]);
    const { out } = runIn(dir, files, ['--timeline', 'none', '.']);
    const { title } = ruleNamed('SX109');
    assert.match(out, new RegExp(`\\n\\n +9 SX109 ${title}\\n +2 SX101 .*\\n\\n2 errors, 9 warnings`));
    assert.doesNotMatch(runIn(dir, {}, ['--timeline', 'none', '1.yaml', '9.yaml']).out, /^ +1 SX/m);
  });

  it('--fix repairs what another fix makes necessary in the same run', () => {
    const dir = temporaryDirectory();
    const gunicorn = '- name: web\n  image: a/b:1\n  command: [gunicorn, --graceful-timeout, "30", app]';
    const text = deployment(gunicorn) + SERVICE;
    const { out } = runIn(dir, { 'a.yaml': text }, ['--diff', '--fail-on', 'info', '.']);
    for (const added of ['lifecycle:', 'terminationGracePeriodSeconds: 40'])
      assert.match(out, new RegExp(`^\\+ +${added}`, 'm'));
    assert.equal(runIn(dir, {}, ['--fix', '--fail-on', 'info', '--skip', 'SX302', '.']).code, 0);
    assert.equal(runIn(dir, {}, ['--diff', '--fail-on', 'info', '.']).out, '');
  });

  it('sexton check refuses a file that is not UTF-8 and leaves its bytes alone', () => {
    const dir = temporaryDirectory();
    const files = {
      'latin.yaml': Buffer.from(`# caf\u00e9\n${BAD}`, 'latin1'),
      'wide.yaml': Buffer.from(BAD, 'utf16le'),
    };
    for (const [name, bytes] of Object.entries(files)) writeFileSync(join(dir, name), bytes);
    const { code, out } = runIn(dir, {}, ['--fix', '.']);
    assert.equal(code, 2);
    for (const [name, bytes] of Object.entries(files)) {
      assert.match(out, new RegExp(`^${name} not read: no text in UTF-8; save it as such$`, 'm'));
      assert.deepEqual(readFileSync(join(dir, name)), bytes);
    }
    assert.equal(runIn(dir, {}, ['-'], files['latin.yaml']).code, 2);
  });

  it('the output of -o json matches its schema', () => {
    const dir = temporaryDirectory();
    const { out } = runIn(dir, { 'a.yaml': BAD_YAML.join('---\n'), 'b.yaml': 'a: [\n' }, ['-o', 'json', '.']);
    const value: { readonly findings: readonly { readonly fingerprint: string }[] } = JSON.parse(out);
    const isRight: ValidateFunction = new Ajv2020().compile(CHECK_SCHEMA);
    assert.ok(isRight(value), JSON.stringify(isRight.errors));
    assert.ok(value.findings.length > RULES.length / 2);
    assert.ok(!isRight({ ...value, version: 2 }));
    assert.equal(new Set(value.findings.map(({ fingerprint }) => fingerprint)).size, value.findings.length);
  });

  it('--explain explains a rule, and --list-rules lists all of them', () => {
    const dir = temporaryDirectory();
    const list = runIn(dir, {}, ['--list-rules']);
    for (const { id } of RULES) assert.match(list.out, new RegExp(`^${id} `, 'm'));
    const { out, code } = runIn(dir, {}, ['--explain', 'sx101']);
    assert.equal(code, 0);
    assert.match(out, /^SX101 \(error, --fix\): The preStop hook takes the whole grace period\./);
    assert.match(out, /check\.sexton\.dev\/ignore-SX101/);
  });

  it('sexton check uses the facts of --images and refuses invalid ones', () => {
    const dir = temporaryDirectory();
    const text = deployment('- {name: web, image: "example.com/web:1"}');
    const facts = { entrypoint: ['sh', '-c', 'prepare && server'], shell: 'dash' };
    const write = (value: unknown): void =>
      writeFileSync(join(dir, 'images.json'), JSON.stringify({ images: { 'example.com/web:1': value } }));
    write(facts);
    assert.equal(runIn(dir, { 'a.yaml': text }, ['a.yaml']).code, 0);
    assert.match(runIn(dir, {}, ['--images', 'images.json', 'a.yaml']).out, /error SX201 web: sh -c stays PID 1/);
    write({ ...facts, shell: 'fish' });
    const { err } = runIn(dir, {}, ['--images', 'images.json', 'a.yaml']);
    assert.match(err, /example\.com\/web:1: shell must be one of dash, busybox, bash, none/);
  });

  it('the size that SX806 assumes is that of the built directory', () => {
    const whole = dirname(SEXTON);
    const files = readdirSync(whole, { recursive: true, encoding: 'utf8' }).map((name) => statSync(join(whole, name)));
    const mib = files.reduce((sum, file) => sum + (file.isFile() ? file.size : 0), 0) / 2 ** 20;
    assert.ok(mib <= INSTALLED_MIB && mib > INSTALLED_MIB * 0.9, `${mib} MiB`);
  });

  it('a budget guards the pods of its own file first', () => {
    const dir = temporaryDirectory();
    const { bad, good } = examples('SX501');
    const one = good.replace('replicas: 2', 'replicas: 1').replace('minAvailable: 1', 'maxUnavailable: 1');
    assert.equal(runIn(dir, { 'variants/two.yaml': good, 'variants/one.yaml': one }, ['variants']).code, 0);
    assert.equal(runIn(dir, { 'bad/a.yaml': bad }, ['bad']).code, 1);
  });
});
