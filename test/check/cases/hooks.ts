import { deployment } from '../../../src/check/rules/examples.ts';
import { type Case, hooked, WEB } from './case.ts';

const DASH = 'debian:12';
const sleeps = (words: string): string => hooked(`{exec: {command: ${words}}}`);
const SHARED = 'shareProcessNamespace: true\n';

export const HOOK_CASES: readonly Case[] = [
  ...['sleep 5', ' sleep 5 ; '].map(
    (script): Case => ({
      rule: 'SX210',
      what: `a shell that only runs "${script}"`,
      text: hooked(`{exec: {command: [sh, -c, "${script}"]}}`),
      says: [/ sleep: \{seconds: 5\} /],
    }),
  ),
  {
    rule: 'SX207',
    what: 'a program in a directory of a name like a shell',
    text: hooked('{exec: {command: [sh/drain]}}', '', 'gcr.io/distroless/base'),
    says: [],
  },
  {
    rule: 'SX207',
    what: 'a shell in an image that has one',
    text: hooked('{exec: {command: [sh, -c, drain]}}', '', DASH),
    says: [],
  },
  {
    rule: 'SX207',
    what: 'programs that are called almost so',
    text: hooked('{exec: {command: [crash]}}', '', 'gcr.io/distroless/base'),
    says: [],
  },
  {
    rule: 'SX207',
    what: 'programs that begin so',
    text: hooked('{exec: {command: [sleeper]}}', '', 'gcr.io/distroless/base'),
    says: [],
  },
  {
    rule: 'SX207',
    what: 'a probe beside a hook that is well, which it does not touch',
    text: deployment(
      '- name: web\n  image: gcr.io/distroless/base\n  lifecycle:\n    preStop: {sleep: {seconds: 5}}\n    postStart: {exec: {command: [sleep, "5"]}}',
    ),
    says: [/^error @0 .*postStart runs sleep/],
    fixed: false,
  },
  {
    rule: 'SX207',
    what: 'a probe and a hook, of which only the hook can be repaired',
    text: deployment(
      '- name: web\n  image: gcr.io/distroless/base\n  readinessProbe: {exec: {command: [cat, /ready]}}\n  lifecycle:\n    preStop: {exec: {command: [sleep, "5"]}}',
    ),
    says: [/readinessProbe runs cat/, /preStop runs sleep/],
    fixed: 'preStop: {sleep: {seconds: 5}}',
  },
  {
    rule: 'SX207',
    what: 'a postStart beside a hook that can be repaired, each with its own fix',
    text: deployment(
      '- name: web\n  image: gcr.io/distroless/base\n  lifecycle:\n    postStart: {exec: {command: [sleep, "5"]}}\n    preStop: {exec: {command: [sleep, "5"]}}',
    ),
    says: [/postStart runs sleep, which \S+ does not have$/, /preStop runs sleep.*\(fix\)$/],
  },
  {
    rule: 'SX207',
    what: 'a hook on Kubernetes 1.29, which has no other sleep',
    text: hooked('{exec: {command: [sleep, "5"]}}', '', 'gcr.io/distroless/base'),
    flags: ['--kubernetes-version', '1.29'],
    says: [/^error @0 .*preStop runs sleep/],
    fixed: false,
  },
  {
    rule: 'SX207',
    what: 'a hook on Kubernetes 1.30',
    text: hooked('{exec: {command: [sleep, "5"]}}', '', 'gcr.io/distroless/base'),
    flags: ['--kubernetes-version', '1.30'],
    says: [/^error @0 .*preStop runs sleep/],
    fixed: '{preStop: {sleep: {seconds: 5}}}',
  },
  {
    rule: 'SX207',
    what: 'a hook that does more than sleep',
    text: hooked('{exec: {command: [cat, /ready]}}', '', 'gcr.io/distroless/base'),
    says: [/^error @0 .*preStop runs cat/],
    fixed: false,
  },
  {
    rule: 'SX207',
    what: 'a program of a directory like the usual ones, which a volume may bring',
    text: hooked('{exec: {command: [/opt/bin/sleep, "5"]}}', '', 'gcr.io/distroless/base'),
    says: [],
  },
  {
    rule: 'SX207',
    what: 'a program of a directory below the usual ones, which a volume may bring',
    text: hooked('{exec: {command: [/bin/tools/sleep, "5"]}}', '', 'gcr.io/distroless/base'),
    says: [],
  },
  {
    rule: 'SX208',
    what: 'a hook that waits in a loop',
    text: sleeps('[sh, -c, "nginx -s quit; while pgrep nginx; do true; done"]'),
    says: [],
  },
  {
    rule: 'SX208',
    what: 'a hook that sleeps before',
    text: sleeps('[sh, -c, "sleep 5; nginx -s quit"]'),
    says: [/^warning @0 /],
  },
  { rule: 'SX208', what: 'a hook that asks nobody to stop', text: sleeps('[deregister]'), says: [] },
  {
    rule: 'SX209',
    what: 'a hook that kills something else',
    text: hooked('{exec: {command: [kill, "12"]}}', SHARED),
    says: [],
  },
  {
    rule: 'SX210',
    what: 'Kubernetes 1.29, which cannot',
    text: sleeps('[sleep, "5"]'),
    flags: ['--kubernetes-version', '1.29'],
    says: [],
  },
  {
    rule: 'SX210',
    what: 'Kubernetes 1.30, which can',
    text: sleeps('[sleep, "5"]'),
    flags: ['--kubernetes-version', '1.30'],
    says: [/^info .*seconds: 5/],
  },
  { rule: 'SX210', what: 'a hook that sleeps already', text: hooked('{sleep: {seconds: 5}}'), says: [] },
  {
    rule: 'SX210',
    what: 'an image without sleep, of which SX207 tells',
    text: hooked('{exec: {command: [sleep, "5"]}}', '', 'gcr.io/distroless/base'),
    says: [],
  },
  {
    rule: 'SX210',
    what: 'a shell that only sleeps',
    text: sleeps('[sh, -c, " /bin/sleep 5; "]'),
    says: [/^info .*seconds: 5/],
    fixed: '{sleep: {seconds: 5}}',
  },
  { rule: 'SX210', what: 'a shell that sleeps twice', text: sleeps('[sh, -c, "sleep 2; sleep 3"]'), says: [] },
  {
    rule: 'SX210',
    what: 'a shell that says something, then sleeps',
    text: sleeps('[sh, -c, "echo bye; sleep 5"]'),
    says: [],
  },
  { rule: 'SX210', what: 'a shell that sleeps, then goes', text: sleeps('[sh, -c, "sleep 5; exit 0"]'), says: [] },
  { rule: 'SX210', what: 'a part of a second', text: sleeps('[sleep, "0.5"]'), says: [] },
  { rule: 'SX210', what: 'no time at all', text: sleeps('[sleep, "0"]'), says: [] },
  { rule: 'SX210', what: 'a time that comes from a variable', text: sleeps('[sh, -c, "sleep $TIME"]'), says: [] },
  {
    rule: 'SX210',
    what: 'JSON, which it keeps',
    text: JSON.stringify({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'web' },
      spec: {
        containers: [{ name: 'web', image: 'a/b:1', lifecycle: { preStop: { exec: { command: ['sleep', '5'] } } } }],
      },
    }),
    says: [/^info /],
    fixed: '"preStop":{"sleep":{"seconds": 5}}',
  },
  {
    rule: 'SX210',
    what: 'a comment within, which would be lost',
    text: deployment(
      `${WEB}  lifecycle:\n    preStop:\n      exec:\n        command: [sleep, # a while\n          "5"]`,
    ),
    says: [/^info /],
    fixed: false,
  },
];
