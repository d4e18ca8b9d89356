/**
 * Wrong inputs: a configuration file in the shape of a container of a Pod.
 */

import { file, IN_FILE } from './around.ts';
import type { WrongInput } from './wrong.ts';

export function wrongContainers(): readonly WrongInput[] {
  const handlers = 'exec, httpGet, tcpSocket, grpc';
  const at = (path: string, why: string): string => `${path} in ${IN_FILE}: ${why}`;
  return [
    file(
      'a misspelt key deep in a probe',
      'readinessProbe: {httpGet: {prot: 80}}\n',
      at('readinessProbe.httpGet.prot', 'unknown key; did you mean port?'),
    ),
    file(
      'a misspelt key of a probe',
      'livenessProbe: {periodSecond: 3, tcpSocket: {port: 80}}\n',
      at('livenessProbe.periodSecond', 'unknown key; did you mean periodSeconds?'),
    ),
    file(
      'a misspelt probe',
      'livenesProbe: {tcpSocket: {port: 80}}\n',
      at('livenesProbe', 'unknown key; did you mean livenessProbe?'),
    ),
    file(
      'a misspelt hook',
      'lifecycle: {prestop: {sleep: {seconds: 1}}}\n',
      at('lifecycle.prestop', 'unknown key; did you mean preStop?'),
    ),
    file(
      'a probe that does nothing',
      'startupProbe: {periodSeconds: 1}\n',
      at('startupProbe', `does nothing; add one of ${handlers}`),
    ),
    file(
      'a probe without a value',
      'startupProbe:\n',
      at('startupProbe: null', `must be a map with one of ${handlers}`),
    ),
    file(
      'a probe that does two things',
      'startupProbe: {exec: {command: [a]}, tcpSocket: {port: 80}}\n',
      at('startupProbe', 'has exec and tcpSocket, but can do only one thing; keep one of them'),
    ),
    file(
      'an http probe without a port',
      'livenessProbe: {httpGet: {path: /up}}\n',
      at('livenessProbe.httpGet', 'has no port; add it'),
    ),
    file(
      'a port by a name that ports do not have',
      'ports: [{name: web, containerPort: 80}]\nlivenessProbe: {httpGet: {port: http}}\n',
      at(
        'livenessProbe.httpGet.port: http',
        'no port has this name, ports names web; write its number, or add {name, containerPort} to ports',
      ),
    ),
    file(
      'a grpc probe of a port by name',
      'livenessProbe: {grpc: {port: api}}\n',
      at('livenessProbe.grpc.port: api', 'must be a whole number from 1 to 65535; write one such as 8080'),
    ),
    file(
      'a probe every 0 seconds',
      'livenessProbe: {tcpSocket: {port: 80}, periodSeconds: 0}\n',
      at('livenessProbe.periodSeconds: 0', 'must be a whole number from 1 on; write one such as 10'),
    ),
    file(
      'a probe every 5s',
      'livenessProbe: {tcpSocket: {port: 80}, periodSeconds: 5s}\n',
      at('livenessProbe.periodSeconds: 5s', 'must be a whole number from 1 on; write one such as 10'),
    ),
    file(
      'a liveness probe with two successes',
      'livenessProbe: {tcpSocket: {port: 80}, successThreshold: 2}\n',
      at('livenessProbe.successThreshold: 2', 'can only be 1; leave it out'),
    ),
    file(
      'a readiness probe with a grace period',
      'readinessProbe: {tcpSocket: {port: 80}, terminationGracePeriodSeconds: 3}\n',
      at(
        'readinessProbe.terminationGracePeriodSeconds',
        'a readiness probe stops nothing, so it has no grace period; leave it out',
      ),
    ),
    file(
      'a scheme in lowercase',
      'readinessProbe: {httpGet: {port: 80, scheme: https}}\n',
      at('readinessProbe.httpGet.scheme: https', 'must be one of HTTP, HTTPS; did you mean HTTPS?'),
    ),
    file(
      'a command of a probe as one text',
      'readinessProbe: {exec: {command: cat x}}\n',
      at('readinessProbe.exec.command: "cat x"', 'must be a list; write [cat, /tmp/ready]'),
    ),
    file(
      'a header with a blank in its name',
      'readinessProbe: {httpGet: {port: 80, httpHeaders: [{name: a b, value: c}]}}\n',
      at(
        'readinessProbe.httpGet.httpHeaders[0].name: "a b"',
        'must be the name of a header; write one such as X-Probe',
      ),
    ),
    file(
      'a hook by grpc',
      'lifecycle: {preStop: {grpc: {port: 80}}}\n',
      at('lifecycle.preStop.grpc', 'a hook cannot be grpc; write exec, httpGet or sleep'),
    ),
    file(
      'a stop signal of the Pod that nobody can receive',
      'lifecycle: {stopSignal: SIGKILL}\n',
      at(
        'lifecycle.stopSignal: SIGKILL',
        'must be a signal that can be received; write one such as SIGTERM or SIGUSR1',
      ),
    ),
    file(
      'a restart rule without codes',
      'restartPolicyRules: [{action: Restart, exitCodes: {operator: In, values: []}}]\n',
      at('restartPolicyRules[0].exitCodes.values: []', 'must be a list; write [42]'),
    ),
    file(
      'a restart rule with an action that is none',
      'restartPolicyRules: [{action: restart, exitCodes: {operator: In, values: [42]}}]\n',
      at(
        'restartPolicyRules[0].action: restart',
        'must be one of Restart, RestartAllContainers; did you mean Restart?',
      ),
    ),
    file(
      'a restart rule for a code beyond all',
      'restartPolicyRules: [{action: Restart, exitCodes: {operator: NotIn, values: [256]}}]\n',
      at(
        'restartPolicyRules[0].exitCodes.values[0]: 256',
        'must be a whole number from 0 to 255; write one such as 42',
      ),
    ),
    file(
      'a restart rule that matches nothing',
      'restartPolicyRules: [{action: Restart}]\n',
      at('restartPolicyRules[0]', 'has no exitCodes; add it'),
    ),
    file(
      'a sleep of less than nothing',
      'lifecycle: {preStop: {sleep: {seconds: -1}}}\n',
      at('lifecycle.preStop.sleep.seconds: -1', 'must be a whole number from 0 on; write one such as 5'),
    ),
    file(
      'a probe in the shape of a Pod under the key for texts',
      'liveness: {tcpSocket: {port: 80}}\n',
      `liveness: "{\\"tcpSocket\\":{\\"port\\":\\"80\\"}}" in ${IN_FILE}: must be a string, write PROBE; the shape of a Pod belongs under livenessProbe`,
    ),
    file(
      'a probe as a text under the key of a Pod',
      'livenessProbe: tcp://:80\n',
      at('livenessProbe: tcp://:80', 'must be a map as in a Pod; a string belongs under liveness'),
    ),
    file(
      'a hook in both notations',
      'preStop: sleep:3s\nlifecycle: {preStop: {sleep: {seconds: 3}}}\n',
      at('preStop', 'lifecycle.preStop is given as well; keep one of them'),
    ),
    file(
      'a reload with a misspelt key',
      'reload: [{path: /a, sigal: HUP}]\n',
      at('reload[0].sigal', 'unknown key; did you mean signal?'),
    ),
    file(
      'a reload without a signal',
      'reload: [/a=HUP, /b]\n',
      at('reload[1]: /b', 'must be a path with a signal; write /etc/app.conf=HUP'),
    ),
    file(
      'a directory to start in',
      'workingDir: /srv\n',
      at('workingDir', 'belongs to the platform, the command starts where sexton does; leave it in the Pod'),
    ),
    file(
      'a sleep as long as the grace period',
      'terminationGracePeriodSeconds: 10\nlifecycle: {preStop: {sleep: {seconds: 10}}}\n',
      `lifecycle.preStop in ${IN_FILE}: must be shorter than terminationGracePeriodSeconds: 10 in ${IN_FILE}, or no time is left to stop; write a shorter sleep`,
    ),
  ];
}
