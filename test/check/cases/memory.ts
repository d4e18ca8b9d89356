import { deployment } from '../workloads.ts';
import { type Cases, each } from './case.ts';

function limited(resources: string, command = '/bin/server', more = '', flags = '--drain, 5s, '): string {
  return deployment(
    `- name: web\n  image: example.com/web:1\n  command: [/sexton/sexton, run, ${flags}--, ${command}]\n  resources: {${resources}}\n${more}`,
  );
}

const MIB_16 = 16 * 1024 * 1024;

export const MEMORY_CASES: Cases = {
  SX809: {
    'a limit that the supervisor alone does not fit into': [
      limited('limits: {memory: 15Mi}'),
      /^warning @0 \[15Mi\] web: a limit of 15Mi: less than 16 MiB are left/,
    ],
    'a limit with nothing else known about it': limited(`limits: {memory: ${MIB_16}}`),
    'a container without a limit': limited('requests: {memory: 1Mi}'),
    'a limit that cannot be read': limited('limits: {memory: 1e3}'),
    'a request that leaves less, which is a guess': [
      limited('limits: {memory: 64Mi}, requests: {memory: 50Mi}'),
      /^info @0 \[64Mi\] web: a limit of 64Mi, and a request of 50Mi: /,
    ],
    'a request beside a limit that is too low in any case': [
      limited('limits: {memory: 15Mi}, requests: {memory: 1Mi}'),
      /^warning /,
    ],
    'a request beside a limit that just fits the supervisor': [
      limited('limits: {memory: 16Mi}, requests: {memory: 1Mi}'),
      /^info /,
    ],
    'a request that leaves just enough': limited('limits: {memory: 66Mi}, requests: {memory: 50Mi}'),
    'a request that is the limit': limited('limits: {memory: 64Mi}, requests: {memory: 64Mi}'),
    'the limit of the Go runtime': [
      limited('limits: {memory: 64Mi}', '/bin/server', '  env: [{name: GOMEMLIMIT, value: 60MiB}]\n'),
      /^warning .* a limit of 64Mi, and GOMEMLIMIT=60MiB: /,
    ],
    'the last of several heaps of Java': [
      limited('limits: {memory: 1Gi}', 'java, -Xmx10m, -Xmx1023M, -jar, a.jar'),
      /and -Xmx1023M: /,
    ],
    'a heap of Java that is given before a smaller one': limited('limits: {memory: 1Gi}', 'java, -Xmx1023m, -Xmx10m'),
    'a heap of Java by its variable': [
      limited('limits: {memory: 2Gi}', 'java', '  env: [{name: JAVA_TOOL_OPTIONS, value: "-ea -Xmx2g"}]\n'),
      /and -Xmx2g: /,
    ],
    'a program that is not Java': limited('limits: {memory: 64Mi}', 'tool, -Xmx60m'),
    'words that are almost a heap': limited('limits: {memory: 64Mi}', 'java, a-Xmx60m, -Xmx60ma'),
    'the heap of Node': [
      limited('limits: {memory: 64Mi}', 'node, --max-old-space-size=50, a.js'),
      /and --max-old-space-size=50: /,
    ],
    'the heap of Node by its variable': [
      limited(
        'limits: {memory: 64Mi}',
        'node, a.js',
        '  env: [{name: NODE_OPTIONS, value: --max-old-space-size=50}]\n',
      ),
      /and --max-old-space-size=50: /,
    ],
    'a heap of Java that begins the variable': [
      limited('limits: {memory: 64Mi}', 'java', '  env: [{name: JAVA_TOOL_OPTIONS, value: -Xmx60m}]\n'),
      /and -Xmx60m: /,
    ],
    'two heap flags for Node: the last one counts': [
      limited('limits: {memory: 64Mi}', 'node, --max-old-space-size=20, --max-old-space-size=50, a.js'),
      /and --max-old-space-size=50: /,
    ],
    'a heap of Node that leaves just enough': limited('limits: {memory: 66Mi}', 'node, --max-old-space-size=50'),
    'a program that is not Node': limited('limits: {memory: 64Mi}', 'tool, --max-old-space-size=50'),
    'words that are almost a heap of Node': limited(
      'limits: {memory: 64Mi}',
      'node, a--max-old-space-size=50, --max-old-space-size=50a',
    ),
    'a plain command, which has no supervisor': limited('limits: {memory: 15Mi}', '/bin/server', '', ''),
    'a member without a drain': [
      limited('limits: {memory: 15Mi}', '/bin/server', '', '--graveyard, /graveyard, '),
      /^warning /,
    ],
    'a pre-stop hook': [limited('limits: {memory: 15Mi}', '/bin/server', '', '--pre-stop, "exec:bye", '), /^warning /],
    'a container that is not under sexton': deployment(
      '- {name: web, image: "example.com/web:1", command: [a], resources: {limits: {memory: 8Mi}}}',
    ),
    ...each(['60', 'off', '60MiBx', 'x60MiB'], (value) => [
      `GOMEMLIMIT=${value}, which is no such text`,
      limited('limits: {memory: 64Mi}', '/bin/server', `  env: [{name: GOMEMLIMIT, value: "${value}"}]\n`),
    ]),
  },
};
