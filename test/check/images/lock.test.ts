import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { SEXTON } from '../../helpers/paths.ts';
import { temporaryDirectory } from '../../helpers/temporary.ts';
import { deployment } from '../workloads.ts';
import { archiveOf, directoryOf, dockerFiles, type ImageOf, ociFiles } from './layouts.ts';

const CONFIG = {
  Entrypoint: ['/entry', '--flag'],
  Cmd: ['serve'],
  StopSignal: 'SIGQUIT',
  User: '1000:1000',
  Env: ['SEXTON_DRAIN=5s', 'PATH=/usr/bin', 'TOKEN=secret', 'SEXTON_CONFIG='],
};
const WEB: ImageOf = { name: 'example.com/web:1', config: CONFIG };
const API: ImageOf = { name: 'docker.io/library/api:2' };
const FACTS = {
  entrypoint: ['/entry', '--flag'],
  cmd: ['serve'],
  stopSignal: 'SIGQUIT',
  user: '1000:1000',
  env: { SEXTON_CONFIG: '', SEXTON_DRAIN: '5s' },
};

/** As docker image inspect prints it. */
function inspect(names: readonly string[], config: object, digests: readonly string[] = []): string {
  return JSON.stringify([{ Id: 'sha256:1', RepoTags: names, RepoDigests: digests, Config: config }]);
}

function file(name: string, content: string | Buffer): string {
  const path = join(temporaryDirectory(), name);
  writeFileSync(path, content);
  return path;
}

function lock(args: readonly string[], input: string | Buffer = '') {
  const { status, stdout, stderr } = spawnSync(SEXTON, ['images', 'lock', ...args], {
    input,
    encoding: 'utf8',
    env: { PATH: process.env.PATH, LANG: 'C.UTF-8' },
  });
  return { code: status, out: stdout, err: stderr };
}

function locked(args: readonly string[], input: string | Buffer = ''): Record<string, unknown> {
  const { code, out, err } = lock(args, input);
  assert.equal(code, 0, err);
  const { images } = JSON.parse(out) as { readonly images: Record<string, Record<string, unknown>> };
  // One test of its own looks at where they come from.
  const bare = Object.entries(images).map(([name, { digest, platform, from, ...facts }]) => [name, facts]);
  return Object.fromEntries(bare);
}

describe('sexton images lock', () => {
  for (const [what, path] of Object.entries({
    'an OCI layout': directoryOf(ociFiles([WEB, API])),
    'an archive of one': archiveOf(ociFiles([WEB, API])),
    'an archive of docker save': archiveOf(dockerFiles([WEB, API])),
  }))
    it(`images lock reads ${what}, and only the variables of sexton`, () => {
      assert.deepEqual(locked([path]), { 'api:2': {}, 'example.com/web:1': FACTS });
    });

  it('images lock reads what docker inspect and podman inspect print', () => {
    const docker = inspect(['web:1', 'example.com/web:1'], CONFIG, ['web@sha256:abc']);
    const expected = { 'example.com/web:1': FACTS, 'web:1': FACTS, 'web@sha256:abc': FACTS };
    assert.deepEqual(locked(['-'], docker), expected);
    const names = ['docker.io/library/web:1', 'example.com/web:1'];
    assert.deepEqual(locked(['-'], inspect(names, CONFIG, ['docker.io/library/web@sha256:abc'])), expected);
  });

  it('images lock takes the shell from the base image that a label names', () => {
    const labels = { 'org.opencontainers.image.base.name': 'docker.io/library/alpine:3.20' };
    const image = { name: 'web:1', config: { Labels: labels } };
    assert.deepEqual(locked(['-'], inspect(['web:1'], image.config)), { 'web:1': { shell: 'busybox' } });
    assert.deepEqual(locked([directoryOf(ociFiles([image]))]), { 'web:1': { shell: 'busybox' } });
  });

  it('images lock writes the same bytes whatever the order of its inputs', () => {
    const paths = [API, WEB].map((image) => archiveOf(ociFiles([image])));
    const { out } = lock(paths);
    assert.equal(lock(paths.toReversed()).out, out);
    assert.match(out, /^\{\n {2}"images": \{\n {4}"api:2"/);
    const target = file('images.json', 'old');
    assert.deepEqual(lock(['-o', target, ...paths]), { code: 0, out: '', err: '' });
    assert.equal(readFileSync(target, 'utf8'), out);
  });

  it('images lock takes the later of two inputs for an image, and mixes no commands', () => {
    const { Cmd: _cmd, ...config } = CONFIG;
    const { cmd: _facts, ...facts } = FACTS;
    const path = archiveOf(ociFiles([{ ...WEB, config: { Cmd: ['old'] } }]));
    assert.deepEqual(locked([path, '-'], inspect(['example.com/web:1'], config)), { 'example.com/web:1': facts });
  });

  it('images lock chooses linux/amd64 among several platforms, and no attestation', () => {
    const other = (os: string, architecture: string): ImageOf => {
      return { ...WEB, config: { Cmd: [architecture] }, platform: { os, architecture } };
    };
    const files = ociFiles([other('linux', 'arm64'), other('linux', 'amd64'), other('unknown', 'unknown')]);
    const facts = { cmd: ['amd64'], platforms: { 'linux/arm64': { cmd: ['arm64'] } } };
    assert.deepEqual(locked([directoryOf(files)]), { 'example.com/web:1': facts });
    const arm = ociFiles([other('windows', 'amd64'), other('linux', 'arm64')]);
    assert.deepEqual(locked([directoryOf(arm)]), { 'example.com/web:1': { cmd: ['arm64'] } });
  });

  it('images lock writes only platforms that start something else and are there', () => {
    const other = (architecture: string, cmd: string): ImageOf => {
      return { ...WEB, config: { Cmd: [cmd] }, platform: { os: 'linux', architecture } };
    };
    const files = ociFiles([
      other('arm64', 'same'),
      other('amd64', 'same'),
      other('riscv64', 'x'),
      other('s390x', 'y'),
    ]);
    // As docker save writes it: the index names platforms that were not pulled.
    const [gone = ''] = Object.entries(files).find(([, bytes]) => bytes.includes('"Cmd":["y"]')) ?? [];
    const { [gone]: _config, ...rest } = files;
    const facts = { cmd: ['same'], platforms: { 'linux/riscv64': { cmd: ['x'] } } };
    assert.deepEqual(locked([directoryOf(rest)]), { 'example.com/web:1': facts });
  });

  it('images lock reads what docker buildx imagetools inspect prints as JSON', () => {
    const image = (Cmd: readonly string[]) => ({ os: 'linux', architecture: 'amd64', config: { Cmd } });
    const common = { name: 'docker.io/library/web:1', manifest: { digest: 'sha256:abc' } };
    const entry = { digest: 'sha256:abc', platform: 'linux/amd64', from: 'imagetools inspect' };
    const read = (whole: object): unknown => JSON.parse(lock(['-'], JSON.stringify(whole)).out).images['web:1'];
    assert.deepEqual(read({ ...common, image: image(['a']) }), { cmd: ['a'], ...entry });
    const several = { 'linux/arm64': image(['b']), 'linux/amd64': image(['a']), 'linux/386': image(['a']) };
    const platforms = { 'linux/arm64': { cmd: ['b'] } };
    assert.deepEqual(read({ ...common, image: several }), { cmd: ['a'], ...entry, platforms });
  });

  it('images lock says digest, platform and source of an image, whatever the source', () => {
    const entryOf = (args: readonly string[], input = '') =>
      JSON.parse(lock(args, input).out).images['example.com/web:1'];
    const where = {
      Os: 'linux',
      Architecture: 'amd64',
      RepoTags: ['example.com/web:1'],
      Config: { WorkingDir: '/srv' },
    };
    const inspected = [{ ...where, RepoDigests: ['example.com/web@sha256:abc'] }];
    const common = { platform: 'linux/amd64', workingDir: '/srv' };
    assert.deepEqual(entryOf(['-'], JSON.stringify(inspected)), {
      ...common,
      digest: 'sha256:abc',
      from: 'image inspect',
    });
    const config = { os: 'linux', architecture: 'amd64', config: { WorkingDir: '/srv' } };
    assert.deepEqual(entryOf(['example.com/web:1=-'], JSON.stringify(config)), { ...common, from: 'image config' });
    const image = { ...WEB, config: { WorkingDir: '/srv' } };
    const { digest, ...rest } = entryOf([directoryOf(ociFiles([image]))]);
    assert.match(digest, /^sha256:[0-9a-f]{64}$/);
    assert.deepEqual(rest, { ...common, from: 'OCI layout' });
    assert.deepEqual(entryOf([archiveOf(dockerFiles([image]))]), { ...common, from: 'docker archive' });
  });

  it('--check fails where an image is not as the lock has it, and says the difference', () => {
    const target = file('images.json', '');
    const before = inspect(['web:1'], CONFIG, ['web@sha256:abc']);
    assert.equal(lock(['-o', target, '-'], before).code, 0);
    const written = readFileSync(target, 'utf8');
    assert.deepEqual(lock(['--check', '-o', target, '-'], before), { code: 0, out: '', err: '' });
    const after = inspect(['web:1', 'new:1'], { ...CONFIG, Cmd: ['other'] }, ['web@sha256:abd']);
    const { code, out } = lock(['--check', '-o', target, '-'], after);
    assert.equal(code, 1);
    assert.match(
      out,
      /^web:1: digest was "sha256:abc", and is "sha256:abd"\nweb:1: cmd was \["serve"\], and is \["other"\]$/m,
    );
    assert.match(out, /^new:1 is not in the lock$/m);
    assert.equal(readFileSync(target, 'utf8'), written);
    const missing = lock(['--check', '-'], before);
    assert.equal(missing.code, 125);
    assert.match(missing.err, /--check: names no lock; write --output FILE/);
  });

  it('NAME= names an image that has no name of its own', () => {
    // As skopeo writes it: the tag alone.
    for (const image of [{ ...API, name: '2' }, {}]) {
      const path = directoryOf(ociFiles([image]));
      assert.deepEqual(locked([`example.com/api:2=${path}`]), { 'example.com/api:2': {} });
      const { code, err } = lock([path]);
      assert.equal(code, 2);
      assert.match(err, /it does not say what the image is called; write NAME= in front of it/);
    }
  });

  it('images lock passes over charts and other artifacts', () => {
    const files = ociFiles([API]);
    const index = JSON.parse(String(files['index.json']));
    const put = (value: unknown): { readonly digest: string } => {
      const bytes = Buffer.from(JSON.stringify(value));
      const hex = createHash('sha256').update(bytes).digest('hex');
      files[`blobs/sha256/${hex}`] = bytes;
      return { digest: `sha256:${hex}` };
    };
    const config = { ...put({ name: 'chart' }), mediaType: 'application/vnd.cncf.helm.config.v1+json' };
    const annotations = { 'org.opencontainers.image.ref.name': 'example.com/chart:1' };
    index.manifests.push({ ...put({ schemaVersion: 2, config, layers: [put('no tar')] }), annotations });
    files['index.json'] = Buffer.from(JSON.stringify(index));
    assert.deepEqual(Object.keys(locked([directoryOf(files)])), ['api:2']);
  });

  it('sexton check reads the file that images lock writes', () => {
    const path = file('a.yaml', deployment('- {name: web, image: "example.com/web:1"}'));
    const image = { ...WEB, config: { Cmd: ['bash', '-c', 'prepare && { server; }'] } };
    const images = file('images.json', '');
    assert.equal(lock(['-o', images, directoryOf(ociFiles([image]))]).code, 0);
    const { stdout } = spawnSync(SEXTON, ['check', '--images', images, path], { encoding: 'utf8' });
    assert.match(stdout, /SX201 web: bash -c stays PID 1/);
  });

  it('images lock says why it cannot read an input, reads the others, and exits with 2', () => {
    const broken = dockerFiles([WEB]);
    const layout = ociFiles([WEB]);
    const [blob = ''] = Object.keys(layout).filter((path) => path.startsWith('blobs/'));
    const { [blob]: _, ...holed } = layout;
    const outside = directoryOf({ a: Buffer.from('{"config": {"User": "stolen"}}') });
    const linked = directoryOf(holed);
    symlinkSync(file('blob', layout[blob] ?? ''), join(linked, blob));
    const indexed = (index: string) => directoryOf({ 'index.json': Buffer.from(index) });
    const wrong: [string, RegExp][] = [
      ['/none', /\/none: no such file or directory$/],
      [file('a.txt', 'text '.repeat(200)), /a\.txt: it is no tar archive; name what podman save or/],
      [file('empty', ''), /empty: it has neither index\.json nor manifest\.json; write it with podman save/],
      [file('a.json', '[{'), /it is not JSON; name what podman image inspect writes/],
      [file('b.json', '{}'), /it is no list of images; name what/],
      [file('c.json', '[]'), /it holds no image; name what/],
      [file('d.json', '[{"Id": "x"}]'), /it has no Config; name what/],
      [file('e.json', inspect([], {})), /it does not say what the image is called; write NAME=/],
      [file('f.tar.gz', gzipSync('image')), /it is compressed as a whole; unpack it with gunzip/],
      [temporaryDirectory(), /it has neither index\.json nor manifest\.json/],
      [`web:1=${directoryOf(ociFiles([WEB, API]))}`, /it holds 2 images, which cannot all be web:1; leave web:1= out/],
      [`=${directoryOf(layout)}`, /there is no name in front of the =/],
      [directoryOf(holed), /blobs\/sha256\/[0-9a-f]{64} is missing; save the whole image/],
      [
        indexed('{"manifests":[{"digest":"sha256:../../../etc/passwd"}]}'),
        /it names a blob by "sha256:\.\.\/\.\.\/\.\.\/etc\/passwd", which is no digest/,
      ],
      [
        directoryOf({
          ...broken,
          'manifest.json': Buffer.from(`[{"Config": "../${basename(outside)}/a", "RepoTags": ["a:1"], "Layers": []}]`),
        }),
        /\.\.\/[^ ]*\/a leads out of the directory; copy it with its links followed/,
      ],
      [
        directoryOf({ 'manifest.json': Buffer.from('[{"Config": "\\u001b[2J\\n::error::", "Layers": []}]') }),
        /: \?\[2J\?::error:: is missing; save the whole image/,
      ],
      [indexed('{"manifests":'), /index\.json is not JSON/],
      [indexed('{"manifests":[]}'), /it holds no image; name what/],
      [linked, /blobs\/sha256\/[0-9a-f]{64} leads out of the directory; copy it with its links followed/],
    ];
    const good = archiveOf(ociFiles([API]));
    for (const [input, message] of wrong) {
      const { code, out, err } = lock([input, good]);
      assert.equal(code, 2, err);
      assert.match(err, /^sexton: images lock: [^\n]+\n$/);
      assert.match(err.trimEnd(), message);
      assert.deepEqual(Object.keys(JSON.parse(out).images), ['api:2']);
    }
  });

  it('images lock leaves its file alone where it can read nothing', () => {
    const target = file('images.json', 'old');
    assert.equal(lock(['-o', target, '/none']).code, 2);
    assert.equal(readFileSync(target, 'utf8'), 'old');
  });

  it('a wrong command line or an unwritable file makes images lock exit with 125', () => {
    const good = archiveOf(ociFiles([API]));
    const wrong: readonly (readonly [readonly string[], RegExp])[] = [
      [['lock'], /nothing to read; name a file, a directory, or - for standard input/],
      [[], /it needs a word; write sexton images lock FILE/],
      [['lokc', good], /lokc: must be lock; did you mean lock\?/],
      [['lock', '--out', 'x', good], /unknown flag --out; did you mean --output\?/],
      [['lock', '-', 'web:1=-'], /-: was given before; give it once/],
      [['lock', '-o', '/none/x', good], /--output: cannot write \/none\/x: no such file or directory; name a file in/],
    ];
    for (const [args, message] of wrong) {
      const { status, stderr, stdout } = spawnSync(SEXTON, ['images', ...args], { encoding: 'utf8', input: '' });
      assert.equal(status, 125, stderr);
      assert.equal(stdout, '');
      assert.match(stderr, message);
    }
  });

  it('images lock leaves nothing behind of an archive on standard input', () => {
    const tmp = temporaryDirectory();
    const { status, stdout } = spawnSync(SEXTON, ['images', 'lock', '-'], {
      input: readFileSync(archiveOf(ociFiles([API]))),
      encoding: 'utf8',
      env: { PATH: process.env.PATH, TMPDIR: tmp },
    });
    assert.equal(status, 0);
    assert.match(stdout, /"api:2"/);
    assert.ok(existsSync(tmp));
    assert.deepEqual(spawnSync('ls', ['-A', tmp], { encoding: 'utf8' }).stdout, '');
  });
});
