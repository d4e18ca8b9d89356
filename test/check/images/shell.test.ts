import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, it } from 'node:test';
import { imagesOf } from '../../../src/check/images/lock.ts';
import { directoryOf, type Files, ociFiles, PACKED, type Packing, tarOf } from './layouts.ts';

/** As Debian lays it: usr/bin is the one directory, and bin a link. */
const DEBIAN: Files = {
  'usr/bin/': '/',
  'usr/bin/dash': 'ELF',
  'usr/bin/sh': '-> dash',
  'usr/bin/sleep': 'ELF',
  'usr/bin/bash': 'ELF',
  bin: '-> usr/bin',
};
const BUSYBOX: Files = { 'bin/[': 'ELF', 'bin/busybox': '= bin/[', 'bin/sh': '= bin/[', 'bin/sleep': '= bin/[' };
/** It needs several blocks of zstd, and cannot be made smaller. */
const BIG = randomBytes(300_000).toString('latin1');
const COPIED = 'ELF .. BusyBox v1.37.0 (2025-01-01) .. ELF';

interface Case {
  readonly layers: readonly Files[];
  readonly shell: string | undefined;
  readonly path?: string;
}

const CASES: Readonly<Record<string, Case>> = {
  'dash behind two links': { layers: [DEBIAN], shell: 'dash' },
  'bash, to which an absolute link leads': {
    layers: [{ 'usr/bin/bash': 'ELF', 'usr/bin/sh': '-> /usr/bin/bash', bin: '-> /usr/bin' }],
    shell: 'bash',
  },
  'busybox, to which hard links lead': { layers: [BUSYBOX], shell: 'busybox' },
  'busybox as Alpine has it': { layers: [{ 'bin/busybox': 'ELF', 'bin/sh': '-> /bin/busybox' }], shell: 'busybox' },
  'a copy of busybox without its name': { layers: [{ 'bin/sh': COPIED }], shell: 'busybox' },
  'a copy of bash without its name': { layers: [{ 'bin/sh': 'x GNU bash, version %s x' }], shell: 'bash' },
  'another shell': { layers: [{ 'bin/mksh': 'ELF', 'bin/sh': '-> mksh' }], shell: undefined },
  'no shell': { layers: [{ 'bin/server': 'ELF', 'etc/sh': 'no' }], shell: 'none' },
  'no layer': { layers: [], shell: 'none' },
  'a link that leads nowhere': { layers: [{ 'bin/sh': '-> dash' }], shell: 'none' },
  'links in a circle': { layers: [{ bin: '-> usr/bin', 'usr/bin': '-> ../bin' }], shell: 'none' },
  'a link that leads above the root': {
    layers: [{ 'bin/dash': 'ELF', 'bin/sh': '-> ../../../../bin/dash' }],
    shell: 'dash',
  },
  'a shell in a layer above': { layers: [{ 'etc/x': '' }, { 'bin/dash': '', 'bin/sh': '-> dash' }], shell: 'dash' },
  'a shell that a layer above replaces': { layers: [DEBIAN, { 'usr/bin/sh': '-> bash' }], shell: 'bash' },
  'a file behind the link of a layer below': { layers: [DEBIAN, { 'bin/sh': COPIED }], shell: 'busybox' },
  'a whiteout of the shell': { layers: [DEBIAN, { 'usr/bin/.wh.sh': '' }], shell: 'none' },
  'a whiteout behind a link': { layers: [DEBIAN, { 'bin/.wh.sh': '' }], shell: 'none' },
  'a whiteout of what the link leads to': { layers: [DEBIAN, { 'usr/bin/.wh.dash': '' }], shell: 'none' },
  'a whiteout of the directory': { layers: [DEBIAN, { 'usr/.wh.bin': '' }], shell: 'none' },
  'a whiteout and another shell in one layer': {
    layers: [DEBIAN, { 'usr/bin/sh': '-> bash', 'usr/bin/.wh.dash': '' }],
    shell: 'bash',
  },
  'a whiteout that a layer above undoes': {
    layers: [DEBIAN, { 'usr/bin/.wh.sh': '' }, { 'usr/bin/sh': '-> bash' }],
    shell: 'bash',
  },
  'an opaque directory': { layers: [DEBIAN, { 'usr/bin/': '/', 'usr/bin/.wh..wh..opq': '' }], shell: 'none' },
  'an opaque directory with a shell of its own, which stands before the mark': {
    layers: [DEBIAN, { 'usr/bin/': '/', 'usr/bin/sh': COPIED, 'usr/bin/.wh..wh..opq': '' }],
    shell: 'busybox',
  },
  'a directory in the place of the link': { layers: [DEBIAN, { 'bin/': '/', 'bin/server': 'ELF' }], shell: 'dash' },
  'a link in the place of the directory': {
    layers: [BUSYBOX, { 'usr/bin/dash': 'ELF', 'usr/bin/sh': '-> dash', bin: '-> usr/bin' }],
    shell: 'dash',
  },
  'a file whose name and content tell nothing': { layers: [DEBIAN, { 'usr/bin/sh': 'x' }], shell: undefined },
  'no /bin/sh but one in the PATH of the image': {
    layers: [{ 'busybox/busybox': 'ELF', 'busybox/sh': '-> busybox' }],
    path: '/usr/bin:/busybox',
    shell: 'busybox',
  },
  'a shell where the PATH does not lead': { layers: [{ 'busybox/sh': COPIED }], shell: 'none' },
};

describe('the shell of an image', () => {
  for (const [what, { layers, shell, path }] of Object.entries(CASES))
    it(`is ${shell ?? 'left open'}: ${what}`, async () => assert.equal((await factsOf(layers, path)).shell, shell));

  it('comes with the programs that hooks can run, by the PATH of the image', async () => {
    assert.deepEqual((await factsOf([DEBIAN])).programs, ['bash', 'dash', 'sh', 'sleep']);
    assert.deepEqual((await factsOf([DEBIAN], '/usr/local/bin')).programs, []);
    assert.deepEqual((await factsOf([DEBIAN, { 'usr/bin/.wh.sleep': '' }])).programs, ['bash', 'dash', 'sh']);
    assert.deepEqual((await factsOf([{ 'bin/server': 'ELF' }])).programs, []);
  });

  it('is the same however layers are compressed', async () => {
    const images = [
      { name: 'example.com/web:1', layers: [tarOf({ ...DEBIAN, 'usr/big': BIG }), tarOf({ 'usr/bin/sh': COPIED })] },
    ];
    for (const packing of Object.keys(PACKED) as readonly Packing[]) {
      const [image] = await imagesOf(directoryOf(ociFiles(images, packing)));
      assert.equal(image?.facts.shell, 'busybox', packing);
    }
  });
});

async function factsOf(layers: readonly Files[], path?: string) {
  const config = path === undefined ? {} : { Env: ['A=1', `PATH=${path}`] };
  const files = ociFiles([{ name: 'example.com/web:1', config, layers: layers.map((files) => tarOf(files)) }]);
  const [image] = await imagesOf(directoryOf(files));
  assert.ok(image);
  return image.facts;
}
