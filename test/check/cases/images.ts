import type { ImageFacts } from '../../../src/check/stop/images.ts';
import { deployment } from '../workloads.ts';
import { type Cases, FOUND } from './case.ts';

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

export const IMAGE_CASES: Cases = {
  SX207: {
    'bash where there is busybox': [hook('[bash, -c, "sleep 5"]'), FOUND, BUSYBOX],
    'bash by its path': [hook('[/bin/bash, -c, "sleep 5"]'), FOUND, BUSYBOX],
    'sleep where there is only a shell': [hook('[sleep, "5"]'), FOUND, SHELL_ONLY],
    'sleep in a script': [hook('[sh, -c, "sleep 5; work"]'), FOUND, SHELL_ONLY],
    'a shell in a bare image': [hook('[sh, -c, "sleep 5"]'), FOUND, BARE],
    'kill by itself': [hook('[kill, -QUIT, "1"]'), FOUND, SHELL_ONLY],
    'a probe by curl': [web('livenessProbe: {exec: {command: [curl, -f, "localhost"]}}'), FOUND, BUSYBOX],
    'an image by its digest, and not by its tag': [
      hook('[sleep, "5"]', `${IMAGE}@sha256:abc`),
      FOUND,
      { images: { [IMAGE]: { programs: ['sleep'] }, 'example.com/web@sha256:abc': { programs: [] } } },
    ],
    'bash where it is': [hook('[/bin/bash, -c, "exec work"]'), SHELL_ONLY],
    'sleep where it is': [hook('[sh, -c, "sleep 5; work"]'), BUSYBOX],
    'what the shell has itself': [hook('[sh, -c, "kill -QUIT 1; wait"]'), SHELL_ONLY],
    'a program with another one in its stead': [hook('[sh, -c, "curl a || wget a"]'), BUSYBOX],
    'a program that comes on a volume': [hook('[/tools/curl, "a"]'), BUSYBOX],
    'a program of its own': [hook('[/bin/drain]'), BARE],
    'an image known only by another tag': [hook('[sleep, "5"]', 'example.com/web:2'), BARE],
    'an image whose files are unknown': [hook('[sleep, "5"]'), known({ cmd: ['x'] })],
  },
  SX201: {
    'a list in a shell that is dash': [web('command: [sh, -c, "a && b"]'), FOUND, known({ shell: 'dash' })],
    'the command of the image': [
      web('ports: []'),
      FOUND,
      known({ cmd: ['/bin/sh', '-c', 'prepare && server'], shell: 'dash' }),
    ],
    'the command of the image beside an empty list': [
      web('args: []'),
      FOUND,
      known({ cmd: ['/bin/sh', '-c', 'prepare && server'], shell: 'dash' }),
    ],
    'an image by another of its names': [
      web('command: [sh, -c, "a && b"]', 'docker.io/library/web'),
      FOUND,
      known({ shell: 'dash' }, 'web:latest'),
    ],
    'a shell that becomes its last command': [web('command: [sh, -c, "a && b"]'), known({ shell: 'busybox' })],
  },
  SX202: {
    'an nginx whose image declares no signal': [web('ports: []'), FOUND, known(NGINX)],
    'an nginx with its signal': [web('ports: []'), known({ ...NGINX, stopSignal: 'SIGQUIT' })],
  },
  SX801: {
    'a grace period in the variables of the image': [web('ports: []'), FOUND, known(SEXTON)],
    'a command that is empty, in which no flag can stand': [web('command: []'), FOUND, false, known(SEXTON)],
    'a variable of the manifest, which beats that of the image': [
      web('env: [{name: SEXTON_GRACE_PERIOD, value: 30s}]'),
      known(SEXTON),
    ],
  },
  SX601: {
    'a shell form on a dash': [`FROM ${IMAGE}\nCMD server\n`, FOUND, known({ shell: 'dash' })],
    'a shell form behind an entrypoint that execs it': [
      `FROM ${IMAGE}\nCMD server\n`,
      FOUND,
      known({ entrypoint: ['docker-entrypoint.sh'], shell: 'dash' }),
    ],
    'a shell form under an init': [
      `FROM ${IMAGE}\nCMD server\n`,
      known({ entrypoint: ['/usr/bin/tini', '--'], shell: 'dash' }),
    ],
    'a shell form behind an entrypoint that is not known': [
      `FROM ${IMAGE}\nCMD server\n`,
      known({ entrypoint: ['/start'], shell: 'dash' }),
    ],
  },
  SX602: {
    'a list on a dash': [`FROM ${IMAGE}\nCMD ["sh", "-c", "a && b"]\n`, FOUND, known({ shell: 'dash' })],
    'a list under an init': [
      `FROM ${IMAGE}\nCMD ["sh", "-c", "a && b"]\n`,
      known({ entrypoint: ['tini', '--'], shell: 'dash' }),
    ],
    'a list on a busybox': [`FROM ${IMAGE}\nCMD ["sh", "-c", "a && b"]\n`, known({ shell: 'busybox' })],
  },
  SX603: {
    'a STOPSIGNAL against the program of the image below': [`FROM ${IMAGE}\nSTOPSIGNAL SIGTERM\n`, FOUND, known(NGINX)],
    'a STOPSIGNAL for another program than that of the image below': [
      `FROM ${IMAGE}\nSTOPSIGNAL SIGTERM\nENTRYPOINT ["server"]\n`,
      known(NGINX),
    ],
  },
  SX604: {
    'the signal of an image that is not official': [
      `FROM ${IMAGE}\nCMD ["node", "server.js"]\n`,
      FOUND,
      known({ stopSignal: 'SIGQUIT' }),
    ],
    'arguments for the program of the image below': [
      `FROM ${IMAGE}\nCMD ["--port", "80"]\n`,
      known({ entrypoint: ['server'], stopSignal: 'SIGQUIT' }),
    ],
    'an image below without a signal': [`FROM ${IMAGE}\nCMD ["node"]\n`, known({})],
  },
  SX651: {
    'a drain in the entrypoint of the image': [compose(''), FOUND, DRAINS],
    'a drain that fits': [compose('    stop_grace_period: 30s\n'), DRAINS],
    'another entrypoint than that of the image': [compose('    entrypoint: [server]\n'), DRAINS],
  },
  SX652: {
    'an nginx whose image declares no signal': [compose(''), FOUND, known(NGINX)],
    'an nginx with its signal': [compose(''), known({ ...NGINX, stopSignal: 'SIGQUIT' })],
    'another program than that of the image': [compose('    entrypoint: [server]\n'), known(NGINX)],
  },
};
