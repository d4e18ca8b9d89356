import { deployment } from '../../../src/check/rules/examples.ts';
import { type Case, hooked, started, WEB } from './case.ts';

const nginx = (flags: string, more = ''): string =>
  deployment(
    `- name: web\n  image: nginx:1.29\n  command: [/sexton/sexton, ${flags}--drain, 5s, --, nginx, -g, daemon off;]\n${more}`,
  );
const stopSignal = (signal: string, spec = 'os: {name: linux}\n'): string =>
  deployment(`${WEB}  lifecycle: {stopSignal: ${signal}}`, spec);

export const STOP_SIGNAL_CASES: readonly Case[] = [
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
  {
    rule: 'SX203',
    what: 'a signal of a pod that names no system',
    text: stopSignal('SIGQUIT', ''),
    says: [/^error .*stopSignal SIGQUIT without spec\.os\.name is refused/],
    fixed: 'os: {name: linux}\n',
  },
  {
    rule: 'SX203',
    what: 'a signal without SIG',
    text: stopSignal('QUIT'),
    says: [/^error .*stopSignal QUIT is refused by the API server, which wants SIGQUIT/],
    fixed: 'stopSignal: SIGQUIT}',
  },
  {
    rule: 'SX203',
    what: 'the number of a signal',
    text: stopSignal('3'),
    says: [/^error .*stopSignal 3 is refused by the API server, which wants SIGQUIT/],
    fixed: 'stopSignal: SIGQUIT}',
  },
  { rule: 'SX203', what: 'a real-time signal', text: stopSignal('SIGRTMIN+3'), says: [] },
  {
    rule: 'SX203',
    what: 'what is no signal',
    text: stopSignal('SIGNONE'),
    says: [/^error .*stopSignal SIGNONE is no signal/],
    fixed: false,
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
];
