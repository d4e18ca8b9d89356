import { deployment, job } from '../../../src/check/rules/examples.ts';
import { type Case, hooked, started, under, WEB } from './case.ts';

const DASH = 'debian:12';
const UNKNOWN = 'example.com/any:1';
const LIST = '[sh, -c, "a && b"]';
const nginx = (flags: string, more = ''): string =>
  deployment(
    `- name: web\n  image: nginx:1.29\n  command: [/sexton/sexton, ${flags}--drain, 5s, --, nginx, -g, daemon off;]\n${more}`,
  );
const stopSignal = (signal: string, spec = 'os: {name: linux}\n'): string =>
  deployment(`${WEB}  lifecycle: {stopSignal: ${signal}}`, spec);
const sleeps = (words: string): string => hooked(`{exec: {command: ${words}}}`);
const SHARED = 'shareProcessNamespace: true\n';

export const SIGNAL_CASES: readonly Case[] = [
  {
    rule: 'SX201',
    what: 'a list in dash',
    text: started(LIST),
    says: [/^error @30000 \["a && b"\] .*sh -c stays PID 1/],
  },
  {
    rule: 'SX201',
    what: 'dash in an image of another shell',
    text: started('[dash, -c, "a && b"]', 'fedora:40'),
    says: [/^error .*dash -c stays/],
  },
  {
    rule: 'SX201',
    what: 'a pipe in busybox',
    text: started('[sh, -c, "a | b"]', 'alpine:3.20'),
    says: [/^warning .*sh -c stays/],
  },
  {
    rule: 'SX201',
    what: 'a list in a shell that is not known',
    text: started(LIST, UNKNOWN),
    says: [/^info .*may stay PID 1/],
  },
  {
    rule: 'SX201',
    what: 'the work of a Job',
    text: job(`- name: web\n  image: ${DASH}\n  command: ${LIST}`),
    says: [/^info /],
  },
  {
    rule: 'SX201',
    what: 'a shell behind its hook by the time of its own KILL',
    text: deployment(
      `- {name: other, image: "example.com/o:1"}\n- name: web\n  image: ${DASH}\n  command: ${LIST}\n  lifecycle: {preStop: {sleep: {seconds: 30}}}`,
    ),
    says: [/^error @32000 /],
  },
  {
    rule: 'SX201',
    what: 'a shell with one variable',
    text: started('[sh, -c, "x=1"]'),
    says: [/^error /],
    fixed: false,
  },
  {
    rule: 'SX201',
    what: 'a word of the shell itself',
    text: started('[sh, -c, "a; cd /"]'),
    says: [/^error /],
    fixed: false,
  },
  {
    rule: 'SX201',
    what: 'a program alone, and writes before it',
    text: started('[sh, -c, server --port 80]'),
    says: [/^error /],
    fixed: 'exec server --port 80',
  },
  {
    rule: 'SX201',
    what: 'a block, and writes before its last command',
    text: deployment(
      `- name: web\n  image: ${DASH}\n  command:\n    - sh\n    - -c\n    - |\n      prepare\n      server --port 80\n`,
    ),
    says: [/^error /],
    fixed: false,
  },
  {
    rule: 'SX201',
    what: 'a script whose text has escapes',
    text: started('[sh, -c, "a; b \\x63"]'),
    says: [/^error /],
    fixed: false,
  },
  {
    rule: 'SX201',
    what: 'a command that stands there twice',
    text: started('[sh, -c, "run; run"]'),
    says: [/^error /],
    fixed: false,
  },
  {
    rule: 'SX201',
    what: 'blanks behind the last command',
    text: started('[sh, -c, "a; b "]'),
    says: [/^error /],
    fixed: 'a; exec b ',
  },
  {
    rule: 'SX201',
    what: 'a folded script with a number sign',
    text: deployment(
      `- name: web\n  image: ${DASH}\n  command:\n    - sh\n    - -c\n    - >-\n      prepare '#';\n      server\n`,
    ),
    says: [/^error /],
    fixed: 'exec server',
  },
  {
    rule: 'SX202',
    what: 'sexton that does not say its configuration',
    text: deployment(
      '- name: web\n  image: alpine:3.20\n  command: [/sexton/sexton, run, --config, /etc/sexton.json, --, nginx]',
    ),
    says: [],
  },
  {
    rule: 'SX202',
    what: 'a program with a warning of another kind',
    text: started('[squid]', 'alpine:3.20', 'terminationGracePeriodSeconds: 20\n'),
    says: [],
  },
  {
    rule: 'SX202',
    what: 'uwsgi that was told to end',
    text: started('[uwsgi, --hook-master-start, "unix_signal:15 gracefully_kill_them_all"]', 'alpine:3.20'),
    says: [],
  },
  {
    rule: 'SX202',
    what: 'when it is told, behind its hook',
    text: deployment(
      `- {name: other, image: "example.com/o:1"}\n- {name: web, image: "alpine:3.20", command: [nginx], lifecycle: {preStop: {sleep: {seconds: 7}}}}`,
    ),
    says: [/^warning @7000 /],
  },
  { rule: 'SX203', what: 'TERM on Windows', text: stopSignal('SIGTERM', 'os: {name: windows}\n'), says: [] },
  {
    rule: 'SX203',
    what: 'another system',
    text: stopSignal('SIGTERM', 'os: {name: plan9}\n'),
    says: [/^error .*on plan9/],
    fixed: false,
  },
  {
    rule: 'SX203',
    what: 'a signal that begins like TERM',
    text: stopSignal('SIGTERMINATE', 'os: {name: windows}\n'),
    says: [/^error /],
  },
  {
    rule: 'SX203',
    what: 'a signal that ends like TERM',
    text: stopSignal('XSIGTERM', 'os: {name: windows}\n'),
    says: [/^error /],
  },
  { rule: 'SX203', what: 'a lifecycle without a signal', text: hooked('{sleep: {seconds: 5}}'), says: [] },
  {
    rule: 'SX203',
    what: 'a signal that is empty',
    text: deployment(`${WEB}  lifecycle: {stopSignal: {a: b}}`),
    says: [],
  },
  {
    rule: 'SX204',
    what: 'Kubernetes 1.36',
    text: stopSignal('SIGQUIT'),
    flags: ['--kubernetes-version', '1.36'],
    says: [/^warning .*1.36/],
  },
  {
    rule: 'SX204',
    what: 'Kubernetes 1.37',
    text: stopSignal('SIGQUIT'),
    flags: ['--kubernetes-version', '1.37'],
    says: [],
  },
  {
    rule: 'SX204',
    what: 'Kubernetes 1.38',
    text: stopSignal('SIGQUIT'),
    flags: ['--kubernetes-version', '1.38'],
    says: [],
  },
  {
    rule: 'SX205',
    what: 'a container without flags, and gives one',
    text: nginx('run, '),
    says: [/^error @0 /],
    fixed: '[/sexton/sexton, run, "--stop-signals=TERM,INT,QUIT", --drain, 5s, --,',
  },
  {
    rule: 'SX205',
    what: 'sexton that runs without saying so',
    text: nginx(''),
    says: [/^error /],
    fixed: '[/sexton/sexton, "--stop-signals=TERM,INT,QUIT", --drain, 5s, --,',
  },
  {
    rule: 'SX205',
    what: 'a flag with its value behind it',
    text: nginx('run, --stop-signals, INT, '),
    says: [/^error /],
    fixed: '--stop-signals, "INT,QUIT", --drain',
  },
  {
    rule: 'SX205',
    what: 'a flag with its value behind an equals sign',
    text: nginx('run, --stop-signals=INT, '),
    says: [/^error /],
    fixed: 'run, "--stop-signals=INT,QUIT", --drain',
  },
  {
    rule: 'SX205',
    what: 'a flag behind others',
    text: nginx('run, --linger, 1s, "--stop-signals", "INT", '),
    says: [/^error /],
    fixed: '"--stop-signals", "INT,QUIT", --drain',
  },
  {
    rule: 'SX205',
    what: 'a flag of that name of the program, which is none of sexton',
    text: nginx('run, ').replace('-g, daemon off;', '--stop-signals=INT'),
    says: [/^error /],
    fixed: '"--stop-signals=TERM,INT,QUIT", --drain, 5s, --, nginx, --stop-signals=INT',
  },
  {
    rule: 'SX801',
    what: 'a flag whose value is quoted',
    text: under('--grace-period, "60s"'),
    says: [/^error /],
    fixed: '--grace-period, "30s"',
  },
  {
    rule: 'SX801',
    what: 'a flag whose value is plain',
    text: under('--grace-period, 60s'),
    says: [/^error /],
    fixed: '--grace-period, 30s,',
  },
  {
    rule: 'SX801',
    what: 'a flag with an equals sign',
    text: under('--grace-period=60s'),
    says: [/^error /],
    fixed: 'run, --grace-period=30s, --',
  },
  {
    rule: 'SX801',
    what: 'a flag with an equals sign that is quoted',
    text: under('"--grace-period=60s"'),
    says: [/^error /],
    fixed: 'run, "--grace-period=30s", --',
  },
  { rule: 'SX206', what: 'a program that is called almost so', text: started('[cnpm, start]'), says: [] },
  { rule: 'SX206', what: 'another one that is called almost so', text: started('[npmrc, start]'), says: [] },
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
