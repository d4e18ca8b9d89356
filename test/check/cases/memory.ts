import { deployment } from '../../../src/check/rules/examples.ts';
import type { Case } from './case.ts';

function limited(resources: string, command = '/bin/server', more = '', flags = '--drain, 5s, '): string {
  return deployment(
    `- name: web\n  image: example.com/web:1\n  command: [/sexton/sexton, run, ${flags}--, ${command}]\n  resources: {${resources}}\n${more}`,
  );
}

const MIB_16 = 16 * 1024 * 1024;

export const MEMORY_CASES: readonly Case[] = [
  {
    rule: 'SX809',
    what: 'a limit that the supervisor alone does not fit into',
    text: limited('limits: {memory: 15Mi}'),
    says: [/^warning @0 \[15Mi\] web: a limit of 15Mi: less than 16 MiB are left/],
  },
  {
    rule: 'SX809',
    what: 'a limit of which nothing else is known',
    text: limited(`limits: {memory: ${MIB_16}}`),
    says: [],
  },
  { rule: 'SX809', what: 'a container without a limit', text: limited('requests: {memory: 1Mi}'), says: [] },
  { rule: 'SX809', what: 'a limit that cannot be read', text: limited('limits: {memory: 1e3}'), says: [] },
  {
    rule: 'SX809',
    what: 'a request that leaves less, which is a guess',
    text: limited('limits: {memory: 64Mi}, requests: {memory: 50Mi}'),
    says: [/^info @0 \[64Mi\] web: a limit of 64Mi, and a request of 50Mi: /],
  },
  {
    rule: 'SX809',
    what: 'a request beside a limit that is too low in any case',
    text: limited('limits: {memory: 15Mi}, requests: {memory: 1Mi}'),
    says: [/^warning /],
  },
  {
    rule: 'SX809',
    what: 'a request beside a limit that just fits the supervisor',
    text: limited('limits: {memory: 16Mi}, requests: {memory: 1Mi}'),
    says: [/^info /],
  },
  {
    rule: 'SX809',
    what: 'a request that leaves just enough',
    text: limited('limits: {memory: 66Mi}, requests: {memory: 50Mi}'),
    says: [],
  },
  {
    rule: 'SX809',
    what: 'a request that is the limit',
    text: limited('limits: {memory: 64Mi}, requests: {memory: 64Mi}'),
    says: [],
  },
  {
    rule: 'SX809',
    what: 'the limit of the Go runtime',
    text: limited('limits: {memory: 64Mi}', '/bin/server', '  env: [{name: GOMEMLIMIT, value: 60MiB}]\n'),
    says: [/^warning .* a limit of 64Mi, and GOMEMLIMIT=60MiB: /],
  },
  ...['60', 'off', '60MiBx', 'x60MiB'].map(
    (value): Case => ({
      rule: 'SX809',
      what: `GOMEMLIMIT=${value}, which is no such text`,
      text: limited('limits: {memory: 64Mi}', '/bin/server', `  env: [{name: GOMEMLIMIT, value: "${value}"}]\n`),
      says: [],
    }),
  ),
  {
    rule: 'SX809',
    what: 'the last of several heaps of Java',
    text: limited('limits: {memory: 1Gi}', 'java, -Xmx10m, -Xmx1023M, -jar, a.jar'),
    says: [/and -Xmx1023M: /],
  },
  {
    rule: 'SX809',
    what: 'a heap of Java that is given before a smaller one',
    text: limited('limits: {memory: 1Gi}', 'java, -Xmx1023m, -Xmx10m'),
    says: [],
  },
  {
    rule: 'SX809',
    what: 'a heap of Java by its variable',
    text: limited('limits: {memory: 2Gi}', 'java', '  env: [{name: JAVA_TOOL_OPTIONS, value: "-ea -Xmx2g"}]\n'),
    says: [/and -Xmx2g: /],
  },
  {
    rule: 'SX809',
    what: 'a program that is not Java',
    text: limited('limits: {memory: 64Mi}', 'tool, -Xmx60m'),
    says: [],
  },
  {
    rule: 'SX809',
    what: 'words that are almost a heap',
    text: limited('limits: {memory: 64Mi}', 'java, a-Xmx60m, -Xmx60ma'),
    says: [],
  },
  {
    rule: 'SX809',
    what: 'the heap of Node',
    text: limited('limits: {memory: 64Mi}', 'node, --max-old-space-size=50, a.js'),
    says: [/and --max-old-space-size=50: /],
  },
  {
    rule: 'SX809',
    what: 'the heap of Node by its variable',
    text: limited(
      'limits: {memory: 64Mi}',
      'node, a.js',
      '  env: [{name: NODE_OPTIONS, value: --max-old-space-size=50}]\n',
    ),
    says: [/and --max-old-space-size=50: /],
  },
  {
    rule: 'SX809',
    what: 'a heap of Node that leaves just enough',
    text: limited('limits: {memory: 66Mi}', 'node, --max-old-space-size=50'),
    says: [],
  },
  {
    rule: 'SX809',
    what: 'a program that is not Node',
    text: limited('limits: {memory: 64Mi}', 'tool, --max-old-space-size=50'),
    says: [],
  },
  {
    rule: 'SX809',
    what: 'words that are almost a heap of Node',
    text: limited('limits: {memory: 64Mi}', 'node, a--max-old-space-size=50, --max-old-space-size=50a'),
    says: [],
  },
  {
    rule: 'SX809',
    what: 'a plain command, which has no supervisor',
    text: limited('limits: {memory: 15Mi}', '/bin/server', '', ''),
    says: [],
  },
  {
    rule: 'SX809',
    what: 'a member without a drain',
    text: limited('limits: {memory: 15Mi}', '/bin/server', '', '--graveyard, /graveyard, '),
    says: [/^warning /],
  },
  {
    rule: 'SX809',
    what: 'a pre-stop hook',
    text: limited('limits: {memory: 15Mi}', '/bin/server', '', '--pre-stop, "exec:bye", '),
    says: [/^warning /],
  },
  {
    rule: 'SX809',
    what: 'a container that is not under sexton',
    text: deployment('- {name: web, image: "example.com/web:1", command: [a], resources: {limits: {memory: 8Mi}}}'),
    says: [],
  },
];
