import { deployment, hooked, started, WEB } from '../workloads.ts';
import { type Cases, version } from './case.ts';

const nginx = (flags: string, more = ''): string =>
  deployment(
    `- name: web\n  image: nginx:1.29\n  command: [/sexton/sexton, ${flags}--drain, 5s, --, nginx, -g, daemon off;]\n${more}`,
  );
const stopSignal = (signal: string, spec = 'os: {name: linux}\n'): string =>
  deployment(`${WEB}  lifecycle: {stopSignal: ${signal}}`, spec);

export const STOP_SIGNAL_CASES: Cases = {
  SX202: {
    'sexton that does not say its configuration': deployment(
      '- name: web\n  image: alpine:3.20\n  command: [/sexton/sexton, run, --config, /etc/sexton.json, --, nginx]',
    ),
    'a program with a warning of another kind': started(
      '[squid]',
      'alpine:3.20',
      'terminationGracePeriodSeconds: 20\n',
    ),
    'uwsgi that was told to end': started(
      '[uwsgi, --hook-master-start, "unix_signal:15 gracefully_kill_them_all"]',
      'alpine:3.20',
    ),
    'when it is told, behind its hook': [
      deployment(
        `- {name: other, image: "example.com/o:1"}\n- {name: web, image: "alpine:3.20", command: [nginx], lifecycle: {preStop: {sleep: {seconds: 7}}}}`,
      ),
      /^warning @7000 /,
    ],
  },
  SX203: {
    'TERM on Windows': stopSignal('SIGTERM', 'os: {name: windows}\n'),
    'another system': [stopSignal('SIGTERM', 'os: {name: plan9}\n'), /^error .*on plan9/, false],
    'a signal that begins like TERM': [stopSignal('SIGTERMINATE', 'os: {name: windows}\n'), /^error /],
    'a signal that ends like TERM': [stopSignal('XSIGTERM', 'os: {name: windows}\n'), /^error /],
    'a signal of a pod that names no system': [
      stopSignal('SIGQUIT', ''),
      /^error .*stopSignal SIGQUIT without spec\.os\.name is refused/,
      'os: {name: linux}\n',
    ],
    'a signal without SIG': [
      stopSignal('QUIT'),
      /^error .*stopSignal QUIT is refused by the API server, which wants SIGQUIT/,
      'stopSignal: SIGQUIT}',
    ],
    'the number of a signal': [
      stopSignal('3'),
      /^error .*stopSignal 3 is refused by the API server, which wants SIGQUIT/,
      'stopSignal: SIGQUIT}',
    ],
    'a real-time signal': stopSignal('SIGRTMIN+3'),
    'what is no signal': [stopSignal('SIGNONE'), /^error .*stopSignal SIGNONE is no signal/, false],
    'a lifecycle without a signal': hooked('{sleep: {seconds: 5}}'),
    'a signal that is empty': deployment(`${WEB}  lifecycle: {stopSignal: {a: b}}`),
  },
  SX204: {
    'Kubernetes 1.36': [stopSignal('SIGQUIT'), /^warning .*1.36/, version('1.36')],
    'Kubernetes 1.37': [stopSignal('SIGQUIT'), version('1.37')],
    'Kubernetes 1.38': [stopSignal('SIGQUIT'), version('1.38')],
  },
  SX205: {
    'a container without flags, and gives one': [
      nginx('run, '),
      /^error @0 /,
      '[/sexton/sexton, run, "--stop-signals=TERM,INT,QUIT", --drain, 5s, --,',
    ],
    'sexton that runs without saying so': [
      nginx(''),
      /^error /,
      '[/sexton/sexton, "--stop-signals=TERM,INT,QUIT", --drain, 5s, --,',
    ],
    'a Secret, which may name the signals': nginx('run, ', '  envFrom: [{secretRef: {name: secret}}]\n'),
    'a flag with its value behind it': [
      nginx('run, --stop-signals, INT, '),
      /^error /,
      '--stop-signals, "INT,QUIT", --drain',
    ],
    'a flag with its value behind an equals sign': [
      nginx('run, --stop-signals=INT, '),
      /^error /,
      'run, "--stop-signals=INT,QUIT", --drain',
    ],
    'a flag behind others': [
      nginx('run, --linger, 1s, "--stop-signals", "INT", '),
      /^error /,
      '"--stop-signals", "INT,QUIT", --drain',
    ],
    'a flag of that name of the program, which is none of sexton': [
      nginx('run, ').replace('-g, daemon off;', '--stop-signals=INT'),
      /^error /,
      '"--stop-signals=TERM,INT,QUIT", --drain, 5s, --, nginx, --stop-signals=INT',
    ],
  },
};
