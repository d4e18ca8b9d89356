/** What `sexton images lock` reads of real images, as podman saves them and as podman inspects them. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { ImageFacts } from '../../src/check/stop/images.ts';
import { SEXTON } from '../helpers/paths.ts';
import { podman } from '../helpers/podman.ts';
import { temporaryDirectory } from '../helpers/temporary.ts';
import { removeImages } from './images.ts';

const MARK = randomBytes(4).toString('hex');
const tag = (name: string): string => `localhost/sexton-test:${name}-${MARK}`;
const made: string[] = [];

const ENTRYPOINT = ['/bin/sh', '-c'];
/** What each is made by, and what is known of it. */
const IMAGES: Readonly<Record<string, { readonly lines: readonly string[]; readonly facts: ImageFacts }>> = {
  plain: { lines: [], facts: {} },
  entry: {
    lines: ['ENTRYPOINT ["/bin/sh", "-c"]', 'CMD ["server"]', 'USER 1000:1000'],
    facts: { entrypoint: ENTRYPOINT, cmd: ['server'], user: '1000:1000' },
  },
  signal: { lines: ['STOPSIGNAL SIGQUIT'], facts: { stopSignal: 'SIGQUIT' } },
  variables: { lines: ['ENV SEXTON_DRAIN=1s TOKEN=secret'], facts: { env: { SEXTON_DRAIN: '1s' } } },
  labelled: { lines: ['LABEL org.opencontainers.image.base.name=alpine:3.20'], facts: { shell: 'busybox' } },
};
const NAMES = Object.keys(IMAGES);

before(async () => {
  const context = temporaryDirectory();
  writeFileSync(join(context, 'file'), 'a layer');
  for (const [name, { lines }] of Object.entries(IMAGES)) {
    const file = join(context, `${name}.Dockerfile`);
    writeFileSync(file, ['FROM scratch', 'COPY file /', ...lines, ''].join('\n'));
    await podman('build', '--network=none', `--tag=${tag(name)}`, `--file=${file}`, context);
    made.push(tag(name));
  }
});
after(() => removeImages(made));

function lock(...inputs: readonly string[]): Readonly<Record<string, ImageFacts>> {
  const text = execFileSync(SEXTON, ['images', 'lock', ...inputs], { encoding: 'utf8' });
  const { images } = JSON.parse(text) as { readonly images: Record<string, ImageFacts> };
  // Where they come from differs; what they say does not.
  const bare = Object.entries(images).map(([name, { digest, platform, from, workingDir, ...facts }]) => [name, facts]);
  return Object.fromEntries(bare);
}

describe('sexton images lock', () => {
  for (const format of ['docker-archive', 'oci-archive', 'oci-dir'] as const)
    it(`reads the same from podman save --format ${format} as from podman image inspect`, async () => {
      for (const name of NAMES) {
        const saved = join(temporaryDirectory(), 'saved');
        await podman('save', `--format=${format}`, `--output=${saved}`, tag(name));
        const inspected = join(temporaryDirectory(), 'inspected');
        writeFileSync(inspected, await podman('image', 'inspect', tag(name)));
        assert.deepEqual(lock(saved)[tag(name)], IMAGES[name]?.facts, name);
        assert.deepEqual(lock(inspected)[tag(name)], IMAGES[name]?.facts, name);
      }
    });

  it('reads an archive of several images', async () => {
    const saved = join(temporaryDirectory(), 'saved');
    await podman('save', '--multi-image-archive', `--output=${saved}`, ...NAMES.map(tag));
    assert.deepEqual(lock(saved), Object.fromEntries(NAMES.map((name) => [tag(name), IMAGES[name]?.facts] as const)));
  });
});
