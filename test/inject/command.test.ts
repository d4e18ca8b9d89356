import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { parse, parseAllDocuments } from 'yaml';
import { versionNumber } from '../../src/text/version.ts';
import { SEXTON } from '../helpers/paths.ts';
import { temporaryDirectory } from '../helpers/temporary.ts';

const POD = 'apiVersion: v1\nkind: Pod\nmetadata: {name: p} # it\nspec:\n  containers:\n  - name: a\n    image: app\n';
const UNKNOWN = POD.replace('image: app', 'image: who');
const LOCK = JSON.stringify({ images: { 'app:latest': { entrypoint: ['/app'] } } });
const IMAGE = ['--image', 'example.com/sexton:1'];

function directoryOf(files: Readonly<Record<string, string>>) {
  const dir = temporaryDirectory();
  for (const [name, text] of Object.entries({ 'lock.json': LOCK, ...files })) writeFileSync(join(dir, name), text);
  const run = (args: readonly string[], input = '') => {
    const { status, stdout, stderr } = spawnSync(SEXTON, args, { cwd: dir, input, encoding: 'utf8' });
    return { code: status, out: stdout, err: stderr };
  };
  return { dir, run, text: (name: string) => readFileSync(join(dir, name), 'utf8') };
}

describe('sexton inject and sexton uninject', () => {
  it('--in-place writes the file, one line names the container, and uninject restores it', () => {
    const { run, text } = directoryOf({ 'p.yaml': POD });
    const first = run(['inject', ...IMAGE, '--images', 'lock.json', '--in-place', 'p.yaml']);
    assert.deepEqual(first, {
      code: 0,
      out: '',
      err: 'sexton: p.yaml:1 Pod/p a: wrapped as main: ["/app"] of app\n',
    });
    assert.match(text('p.yaml'), /command: \[\/sexton\/sexton, run, .*, --, \/app\]/);
    assert.equal(run(['uninject', '--in-place', 'p.yaml']).code, 0);
    assert.equal(text('p.yaml'), POD);
  });

  it('a named file that is not there is an error of the arguments', () => {
    const { run } = directoryOf({});
    for (const args of [['uninject'], ['inject', ...IMAGE, '--images', 'lock.json']]) {
      const { code, out, err } = run([...args, 'nope']);
      assert.deepEqual([code, out], [125, '']);
      assert.equal(err, `sexton: cannot run sexton ${args[0]}: nope: no such file or directory\n`);
    }
  });

  it('standard input comes out injected, and a second time as it is', () => {
    const { run } = directoryOf({});
    const args = ['inject', ...IMAGE, '--images', 'lock.json', '-'];
    const { out } = run(args, POD);
    assert.notEqual(out, POD);
    assert.equal(run(args, out).out, out);
    assert.equal(run(['uninject', '-'], out).out, POD);
  });

  it('a directory comes out as one stream of documents', () => {
    const { run } = directoryOf({ 'p.yaml': POD, 'q.yaml': UNKNOWN });
    const { out, code } = run(['inject', ...IMAGE, '--images', 'lock.json', '.']);
    assert.equal(code, 1);
    assert.ok(out.endsWith(`---\n${UNKNOWN}`));
  });

  it('the stream of a directory has its manifests alone, and is YAML whatever they begin with', () => {
    const named = (name: string): string => POD.replace('name: p', `name: ${name}`);
    const { run } = directoryOf({
      'a.yaml': `%YAML 1.1\n---\n${named('a')}`.replace(/\n$/, ''),
      'b.yaml': `# about it\n%YAML 1.1\n---\n${named('b')}`,
      'c.yaml': `---\n${named('c')}`,
      'd.yaml': named('d'),
      'e.yaml': '{{- if .Values.on }}\napiVersion: v1\n{{- end }}\n',
      Dockerfile: 'FROM app\n',
      'compose.yaml': 'services: {a: {image: app}}\n',
      'values.yaml': 'replicas: 3\n',
    });
    for (const args of [
      ['inject', ...IMAGE, '--images', 'lock.json', '.'],
      ['uninject', '.'],
    ]) {
      const { out, err } = run(args);
      const documents = parseAllDocuments(out);
      assert.deepEqual(
        documents.flatMap(({ errors }) => errors),
        [],
      );
      assert.deepEqual(
        documents.map((one) => one.getIn(['metadata', 'name'])),
        ['a', 'b', 'c', 'd'],
      );
      assert.match(err, /e\.yaml:1 refused: a template/);
    }
  });

  it('--in-place names each file that cannot be written, and goes on with the others', () => {
    // The name of what is written beside it would be too long for a file system.
    const long = ['a', 'c'].map((letter) => `${letter.repeat(250)}.yaml`);
    const { run, text } = directoryOf({ 'b.yaml': POD, ...Object.fromEntries(long.map((name) => [name, POD])) });
    const { code, err } = run(['inject', ...IMAGE, '--images', 'lock.json', '--in-place', '.']);
    assert.equal(code, 125);
    for (const name of long) assert.match(err, new RegExp(`cannot write ${name.slice(0, 70)}.*: name too long`));
    assert.match(text('b.yaml'), /sexton/);
    for (const name of long) assert.equal(text(name), POD);
  });

  it('an object of a kind that it does not know is named in one line where it has containers', () => {
    const { run } = directoryOf({});
    const unknown = POD.replace('kind: Pod', 'kind: Sandbox');
    const list = `apiVersion: v1\nitems:\n${POD.replace(/^/, '- ').replaceAll(/\n(?=.)/g, '\n  ')}`;
    const service = 'apiVersion: v1\nkind: Service\nmetadata: {name: s}\nspec: {ports: [{name: a, port: 80}]}\n';
    const { code, err } = run(['inject', ...IMAGE, '-'], `${service}---\n${unknown}---\n${list}`);
    assert.deepEqual(err.split('\n'), [
      'sexton: -:6 Sandbox/p skipped: kind Sandbox of v1: sexton does not know where its pod is',
      'sexton: -:14 skipped: it has no kind, so Kubernetes does not read it',
      '',
    ]);
    assert.equal(code, 0);
  });

  it('-o diff prints a patch of the added lines, and -o json what becomes of each container', () => {
    const { run } = directoryOf({ 'p.yaml': POD });
    const { out } = run(['inject', ...IMAGE, '--images', 'lock.json', '-o', 'diff', 'p.yaml']);
    assert.match(out, /^--- a\/p\.yaml\n\+\+\+ b\/p\.yaml\n@@ /);
    assert.match(out, /^\+ {4}command: \[\/sexton\/sexton, run/m);
    const { workloads } = JSON.parse(run(['inject', ...IMAGE, '--images', 'lock.json', '-o', 'json', 'p.yaml']).out);
    const containers = [{ name: 'a', role: 'main', wrapped: ['/app'], from: 'app' }];
    assert.deepEqual(workloads, [{ path: 'p.yaml', line: 1, subject: 'Pod/p', containers }]);
  });

  it('the default delivery is the one of any Kubernetes, with manifests and with a policy', () => {
    const { run } = directoryOf({ 'p.yaml': POD });
    for (const args of [['p.yaml'], ['-o', 'policy']]) {
      const flags = ['inject', ...IMAGE, '--images', 'lock.json'];
      const { out, code } = run([...flags, ...args]);
      assert.equal(code, 0);
      assert.equal(out, run([...flags, '--deliver', 'init-container', ...args]).out);
    }
  });

  it('a refusal ends with exit code 1, unless --skip-unresolved passes the image over', () => {
    const { run } = directoryOf({ 'p.yaml': UNKNOWN });
    const { code, out, err } = run(['inject', ...IMAGE, '--images', 'lock.json', 'p.yaml']);
    assert.deepEqual([code, out], [1, UNKNOWN]);
    assert.match(
      err,
      /^sexton: p\.yaml:1 Pod\/p refused: a: the image who is not in the lock; docker image inspect who/,
    );
    const passed = run(['inject', ...IMAGE, '--skip-unresolved', 'p.yaml']);
    assert.deepEqual([passed.code, passed.out], [0, UNKNOWN]);
    assert.match(passed.err, /Pod\/p passed over: /);
  });

  it('a template of Helm is refused, and stays as it is', () => {
    const template = '{{- if .Values.on }}\napiVersion: v1\n{{- end }}\n';
    const { run } = directoryOf({ 't.yaml': template });
    const { code, out, err } = run(['inject', ...IMAGE, 't.yaml']);
    assert.deepEqual([code, out], [1, template]);
    assert.match(err, /^sexton: t\.yaml:1 refused: a template, not YAML; render it first \(helm template\)/);
  });

  it('--print-helm-plugin writes a post-renderer of Helm 4 that does what the command line says', () => {
    const { run, text, dir } = directoryOf({});
    const flags = [...IMAGE, '--images', 'lock.json', '--deliver', 'init-container', '--skip-unresolved'];
    assert.deepEqual(run(['inject', ...flags, '--print-helm-plugin', 'a/plugin']), { code: 0, out: '', err: '' });
    const { runtimeConfig, ...about } = parse(text('a/plugin/plugin.yaml'));
    assert.deepEqual(about, {
      name: 'sexton',
      version: versionNumber(),
      apiVersion: 'v1',
      type: 'postrenderer/v1',
      runtime: 'subprocess',
    });
    const [{ command, args }] = runtimeConfig.platformCommand;
    assert.equal(command, 'sexton');
    assert.ok(args.includes(join(dir, 'lock.json')));
    // Helm finds by its annotation which template a manifest comes from.
    const rendered = POD.replace(
      '{name: p}',
      "\n  name: p\n  annotations:\n    postrenderer.helm.sh/postrender-filename: 'templates/p.yaml'",
    );
    const { out, code } = run(args, rendered);
    assert.equal(code, 0);
    assert.equal(out, run(['inject', ...flags, '-'], rendered).out);
    const { metadata, spec } = parse(out);
    assert.equal(metadata.annotations['postrenderer.helm.sh/postrender-filename'], 'templates/p.yaml');
    assert.equal(spec.initContainers[0].name, 'sexton');
  });

  it('--print-helm-plugin without --images takes the lock that .sexton-check.yaml names', () => {
    const { run, text, dir } = directoryOf({ '.sexton-check.yaml': 'images: lock.json\n' });
    assert.equal(run(['inject', ...IMAGE, '--print-helm-plugin', 'plugin']).code, 0);
    const [{ args }] = parse(text('plugin/plugin.yaml')).runtimeConfig.platformCommand;
    assert.deepEqual(args, ['inject', ...IMAGE, '--images', join(dir, 'lock.json'), '-']);
  });

  it('a wrong command line makes sexton inject exit with 125, with the remedy', () => {
    const { run } = directoryOf({ 'p.yaml': POD });
    const wrong: readonly (readonly [readonly string[], RegExp])[] = [
      [['inject', ...IMAGE], /nothing to read; name a file, a directory, or - for/],
      [['inject', 'p.yaml'], /no image of sexton; write --image/],
      [['inject', ...IMAGE, '--in-place', '-'], /--in-place: cannot write standard input; leave it out/],
      [['inject', ...IMAGE, '--in-place', '-o', 'diff', 'p.yaml'], /--output diff: prints, and --in-place does not/],
      [['inject', ...IMAGE, '--images', 'none.json', 'p.yaml'], /--images none\.json: no such file/],
      [
        ['inject', ...IMAGE, '--print-helm-plugin', 'x', 'p.yaml'],
        /--print-helm-plugin: reads no manifests; leave p\.yaml out/,
      ],
      [['inject', ...IMAGE, '--print-helm-plugin', 'p.yaml/x'], /cannot write into p\.yaml\/x: /],
      [['uninject', '--in-place', '-'], /cannot write standard input/],
    ];
    for (const [args, message] of wrong) {
      const { code, err } = run(args);
      assert.equal(code, 125);
      assert.match(err, message);
    }
  });
});
