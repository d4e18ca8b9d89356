import { deployment, hooked, podJson, WEB } from '../workloads.ts';
import { type Cases, each, FOUND, version } from './case.ts';

const DASH = 'debian:12';
const sleeps = (words: string): string => hooked(`{exec: {command: ${words}}}`);
const SHARED = 'shareProcessNamespace: true\n';

/** In an image without a shell. */
const bare = (preStop: string): string => hooked(preStop, '', 'gcr.io/distroless/base');

export const HOOK_CASES: Cases = {
  SX207: {
    'a program in a directory of a name like a shell': bare('{exec: {command: [sh/drain]}}'),
    'a shell in an image that has one': hooked('{exec: {command: [sh, -c, drain]}}', '', DASH),
    'programs that are called almost so': bare('{exec: {command: [crash]}}'),
    'programs that begin so': bare('{exec: {command: [sleeper]}}'),
    'a probe beside a hook that is well, which it does not touch': [
      deployment(
        '- name: web\n  image: gcr.io/distroless/base\n  lifecycle:\n    preStop: {sleep: {seconds: 5}}\n    postStart: {exec: {command: [sleep, "5"]}}',
      ),
      /^error @0 .*postStart runs sleep/,
      false,
    ],
    'a probe that cannot be repaired beside a hook that can': [
      deployment(
        '- name: web\n  image: gcr.io/distroless/base\n  readinessProbe: {exec: {command: [cat, /ready]}}\n  lifecycle:\n    preStop: {exec: {command: [sleep, "5"]}}',
      ),
      /readinessProbe runs cat/,
      /preStop runs sleep/,
      'preStop: {sleep: {seconds: 5}}',
    ],
    'a postStart beside a hook that can be repaired, each with its own fix': [
      deployment(
        '- name: web\n  image: gcr.io/distroless/base\n  lifecycle:\n    postStart: {exec: {command: [sleep, "5"]}}\n    preStop: {exec: {command: [sleep, "5"]}}',
      ),
      /postStart runs sleep, which \S+ does not have$/,
      /preStop runs sleep.*\(fix\)$/,
    ],
    'a hook on Kubernetes 1.29, which has no other sleep': [
      bare('{exec: {command: [sleep, "5"]}}'),
      /^error @0 .*preStop runs sleep/,
      false,
      version('1.29'),
    ],
    'a hook on Kubernetes 1.30': [
      bare('{exec: {command: [sleep, "5"]}}'),
      /^error @0 .*preStop runs sleep/,
      '{preStop: {sleep: {seconds: 5}}}',
      version('1.30'),
    ],
    'a hook that does more than sleep': [
      bare('{exec: {command: [cat, /ready]}}'),
      /^error @0 .*preStop runs cat/,
      false,
    ],
    'a program of a directory like the usual ones, which a volume may bring': bare(
      '{exec: {command: [/opt/bin/sleep, "5"]}}',
    ),
    'a program of a directory below the usual ones, which a volume may bring': bare(
      '{exec: {command: [/bin/tools/sleep, "5"]}}',
    ),
  },
  SX208: {
    'a hook that waits in a loop': sleeps('[sh, -c, "nginx -s quit; while pgrep nginx; do true; done"]'),
    'a hook that sleeps before': [sleeps('[sh, -c, "sleep 5; nginx -s quit"]'), /^warning @0 /],
    'a hook that asks no program to stop': sleeps('[deregister]'),
  },
  SX209: {
    'a hook that kills something else': hooked('{exec: {command: [kill, "12"]}}', SHARED),
    'a hook that sends signal 1 to something else': hooked('{exec: {command: [kill, -s, "1", "12"]}}', SHARED),
    ...each(['-QUIT 1', '-s QUIT 1', '-n 3 1', '-s QUIT -- 1'], (words) => [
      `kill ${words}`,
      [hooked(`{exec: {command: [sh, -c, kill ${words}]}}`, SHARED), FOUND],
    ]),
  },
  SX210: {
    'Kubernetes 1.29, which cannot': [sleeps('[sleep, "5"]'), version('1.29')],
    'Kubernetes 1.30, which can': [sleeps('[sleep, "5"]'), /^info .*seconds: 5/, version('1.30')],
    'a hook that sleeps already': hooked('{sleep: {seconds: 5}}'),
    'an image without sleep, which SX207 reports': bare('{exec: {command: [sleep, "5"]}}'),
    'a shell that only sleeps': [sleeps('[sh, -c, " /bin/sleep 5; "]'), /^info .*seconds: 5/, '{sleep: {seconds: 5}}'],
    'a shell that sleeps twice': sleeps('[sh, -c, "sleep 2; sleep 3"]'),
    'a shell that says something, then sleeps': sleeps('[sh, -c, "echo bye; sleep 5"]'),
    'a shell that says something, then sleeps, without a blank between': sleeps('[sh, -c, "log;sleep 5"]'),
    'a shell that sleeps, then goes': sleeps('[sh, -c, "sleep 5; exit 0"]'),
    'a part of a second': sleeps('[sleep, "0.5"]'),
    'no time at all': sleeps('[sleep, "0"]'),
    'a time that comes from a variable': sleeps('[sh, -c, "sleep $TIME"]'),
    'JSON, which it keeps': [
      podJson({ lifecycle: { preStop: { exec: { command: ['sleep', '5'] } } } }),
      /^info /,
      '"preStop":{"sleep":{"seconds": 5}}',
    ],
    'a comment within, which would be lost': [
      deployment(`${WEB}  lifecycle:\n    preStop:\n      exec:\n        command: [sleep, # a while\n          "5"]`),
      /^info /,
      false,
    ],
    ...each(['sleep 5', ' sleep 5 ; '], (script) => [
      `a shell that only runs "${script}"`,
      [hooked(`{exec: {command: [sh, -c, "${script}"]}}`), / sleep: \{seconds: 5\} /],
    ]),
  },
};
