/**
 * The near misses of rules that know more by `--images`.
 */
import { deployment } from '../../src/check/rules/examples.ts';
import type { ImageFacts } from '../../src/check/stop/images.ts';
import type { Around } from './rules.ts';

export interface CaseAround extends Around {
  readonly rule: string;
  readonly what: string;
  readonly text: string;
}

const IMAGE = 'example.com/web:1';
const web = (keys: string, image = IMAGE, spec = '') => deployment(`- name: web\n  image: ${image}\n  ${keys}`, spec);
const hook = (argv: string, image = IMAGE) => web(`lifecycle: {preStop: {exec: {command: ${argv}}}}`, image);
const known = (facts: ImageFacts, image = IMAGE) => ({ images: { [image]: facts } });
const BUSYBOX = known({ shell: 'busybox', programs: ['ash', 'kill', 'sh', 'sleep', 'test', 'wget'] });
const SHELL_ONLY = known({ shell: 'bash', programs: ['bash', 'sh'] });
const BARE = known({ shell: 'none', programs: [] });
const NGINX: ImageFacts = { entrypoint: ['nginx'], cmd: ['-g', 'daemon off;'] };
const SEXTON: ImageFacts = { entrypoint: ['/sexton/sexton', '--', '/bin/server'], env: { SEXTON_GRACE_PERIOD: '60s' } };
const compose = (keys: string) => `services:\n  web:\n    image: ${IMAGE}\n${keys}`;
const DRAINS = known({ entrypoint: ['/sexton/sexton', 'run', '--drain', '15s', '--'], cmd: ['/bin/server'] });

export const FOUND_BY_IMAGE: readonly CaseAround[] = [
  { rule: 'SX207', what: 'bash where there is busybox', text: hook('[bash, -c, "sleep 5"]'), ...BUSYBOX },
  { rule: 'SX207', what: 'bash by its path', text: hook('[/bin/bash, -c, "sleep 5"]'), ...BUSYBOX },
  { rule: 'SX207', what: 'sleep where there is only a shell', text: hook('[sleep, "5"]'), ...SHELL_ONLY },
  { rule: 'SX207', what: 'sleep in a script', text: hook('[sh, -c, "sleep 5; work"]'), ...SHELL_ONLY },
  { rule: 'SX207', what: 'a shell in a bare image', text: hook('[sh, -c, "sleep 5"]'), ...BARE },
  { rule: 'SX207', what: 'kill by itself', text: hook('[kill, -QUIT, "1"]'), ...SHELL_ONLY },
  {
    rule: 'SX207',
    what: 'a probe by curl',
    text: web('livenessProbe: {exec: {command: [curl, -f, "localhost"]}}'),
    ...BUSYBOX,
  },
  {
    rule: 'SX201',
    what: 'a list in a shell that is dash',
    text: web('command: [sh, -c, "a && b"]'),
    ...known({ shell: 'dash' }),
  },
  {
    rule: 'SX201',
    what: 'the command of the image',
    text: web('ports: []'),
    ...known({ cmd: ['/bin/sh', '-c', 'prepare && server'], shell: 'dash' }),
  },
  {
    rule: 'SX201',
    what: 'an image by another of its names',
    text: web('command: [sh, -c, "a && b"]', 'docker.io/library/web'),
    ...known({ shell: 'dash' }, 'web:latest'),
  },
  {
    rule: 'SX207',
    what: 'an image by its digest, and not by its tag',
    text: hook('[sleep, "5"]', `${IMAGE}@sha256:abc`),
    images: { [IMAGE]: { programs: ['sleep'] }, 'example.com/web@sha256:abc': { programs: [] } },
  },
  { rule: 'SX202', what: 'an nginx whose image declares no signal', text: web('ports: []'), ...known(NGINX) },
  { rule: 'SX801', what: 'a grace period in the variables of the image', text: web('ports: []'), ...known(SEXTON) },
  { rule: 'SX601', what: 'a shell form on a dash', text: `FROM ${IMAGE}\nCMD server\n`, ...known({ shell: 'dash' }) },
  {
    rule: 'SX601',
    what: 'a shell form behind an entrypoint that execs it',
    text: `FROM ${IMAGE}\nCMD server\n`,
    ...known({ entrypoint: ['docker-entrypoint.sh'], shell: 'dash' }),
  },
  {
    rule: 'SX602',
    what: 'a list on a dash',
    text: `FROM ${IMAGE}\nCMD ["sh", "-c", "a && b"]\n`,
    ...known({ shell: 'dash' }),
  },
  {
    rule: 'SX603',
    what: 'a STOPSIGNAL against the program of the image below',
    text: `FROM ${IMAGE}\nSTOPSIGNAL SIGTERM\n`,
    ...known(NGINX),
  },
  {
    rule: 'SX604',
    what: 'the signal of an image that is not official',
    text: `FROM ${IMAGE}\nCMD ["node", "server.js"]\n`,
    ...known({ stopSignal: 'SIGQUIT' }),
  },
  { rule: 'SX651', what: 'a drain in the entrypoint of the image', text: compose(''), ...DRAINS },
  { rule: 'SX652', what: 'an nginx whose image declares no signal', text: compose(''), ...known(NGINX) },
];

export const CLEAN_BY_IMAGE: readonly CaseAround[] = [
  { rule: 'SX207', what: 'bash where it is', text: hook('[/bin/bash, -c, "exec work"]'), ...SHELL_ONLY },
  { rule: 'SX207', what: 'sleep where it is', text: hook('[sh, -c, "sleep 5; work"]'), ...BUSYBOX },
  { rule: 'SX207', what: 'what the shell has itself', text: hook('[sh, -c, "kill -QUIT 1; wait"]'), ...SHELL_ONLY },
  {
    rule: 'SX207',
    what: 'a program with another one in its stead',
    text: hook('[sh, -c, "curl a || wget a"]'),
    ...BUSYBOX,
  },
  { rule: 'SX207', what: 'a program that comes on a volume', text: hook('[/tools/curl, "a"]'), ...BUSYBOX },
  { rule: 'SX207', what: 'a program of its own', text: hook('[/bin/drain]'), ...BARE },
  {
    rule: 'SX207',
    what: 'an image of which another tag is known',
    text: hook('[sleep, "5"]', 'example.com/web:2'),
    ...BARE,
  },
  { rule: 'SX207', what: 'an image of which no files are known', text: hook('[sleep, "5"]'), ...known({ cmd: ['x'] }) },
  {
    rule: 'SX201',
    what: 'a shell that becomes its last command',
    text: web('command: [sh, -c, "a && b"]'),
    ...known({ shell: 'busybox' }),
  },
  {
    rule: 'SX202',
    what: 'an nginx with its signal',
    text: web('ports: []'),
    ...known({ ...NGINX, stopSignal: 'SIGQUIT' }),
  },
  {
    rule: 'SX801',
    what: 'a variable of the manifest, which beats that of the image',
    text: web('env: [{name: SEXTON_GRACE_PERIOD, value: 30s}]'),
    ...known(SEXTON),
  },
  {
    rule: 'SX601',
    what: 'a shell form under an init',
    text: `FROM ${IMAGE}\nCMD server\n`,
    ...known({ entrypoint: ['/usr/bin/tini', '--'], shell: 'dash' }),
  },
  {
    rule: 'SX601',
    what: 'a shell form behind an entrypoint that is not known',
    text: `FROM ${IMAGE}\nCMD server\n`,
    ...known({ entrypoint: ['/start'], shell: 'dash' }),
  },
  {
    rule: 'SX602',
    what: 'a list under an init',
    text: `FROM ${IMAGE}\nCMD ["sh", "-c", "a && b"]\n`,
    ...known({ entrypoint: ['tini', '--'], shell: 'dash' }),
  },
  {
    rule: 'SX602',
    what: 'a list on a busybox',
    text: `FROM ${IMAGE}\nCMD ["sh", "-c", "a && b"]\n`,
    ...known({ shell: 'busybox' }),
  },
  {
    rule: 'SX603',
    what: 'a STOPSIGNAL for another program than that of the image below',
    text: `FROM ${IMAGE}\nSTOPSIGNAL SIGTERM\nENTRYPOINT ["server"]\n`,
    ...known(NGINX),
  },
  {
    rule: 'SX604',
    what: 'arguments for the program of the image below',
    text: `FROM ${IMAGE}\nCMD ["--port", "80"]\n`,
    ...known({ entrypoint: ['server'], stopSignal: 'SIGQUIT' }),
  },
  { rule: 'SX604', what: 'an image below without a signal', text: `FROM ${IMAGE}\nCMD ["node"]\n`, ...known({}) },
  { rule: 'SX651', what: 'a drain that fits', text: compose('    stop_grace_period: 30s\n'), ...DRAINS },
  {
    rule: 'SX651',
    what: 'another entrypoint than that of the image',
    text: compose('    entrypoint: [server]\n'),
    ...DRAINS,
  },
  { rule: 'SX652', what: 'an nginx with its signal', text: compose(''), ...known({ ...NGINX, stopSignal: 'SIGQUIT' }) },
  { rule: 'SX652', what: 'an image of which nothing is known', text: compose('    entrypoint: [nginx]\n') },
  {
    rule: 'SX652',
    what: 'another program than that of the image',
    text: compose('    entrypoint: [server]\n'),
    ...known(NGINX),
  },
];
