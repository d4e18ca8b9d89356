/**
 * Wrong inputs: probes as flags.
 */

import { one } from './flags.ts';
import type { WrongInput } from './wrong.ts';

const PROBES = 'exec:CMD, http://:8080/healthz, tcp://:5432 or grpc://:50051';
export const SHELL = "needs a shell, and none runs this; write exec:sh -c '...', or quote it";

export function wrongProbes(): readonly WrongInput[] {
  return [
    one('a probe that is only a port', 'liveness', '8080', `is not a probe; write one such as ${PROBES}`),
    one(
      'a probe of a kind that is misspelt',
      'startup',
      'htp://:80/',
      'htp is not a kind of probe; did you mean http?',
    ),
    one('a probe that sleeps', 'liveness', 'sleep:5s', `a probe cannot be sleep; write one such as ${PROBES}`),
    one('a probe that posts', 'readiness', 'POST http://:80/', 'POST is not possible for a probe; write GET'),
    one(
      'a probe without slashes',
      'readiness',
      'tcp:5432',
      'tcp:5432 has no // after tcp:; write one such as tcp://:8080',
    ),
    one(
      'a probe without a port',
      'liveness',
      'http://localhost/up',
      'has no port; write one such as http://localhost:8080/up',
    ),
    one('a probe of a port by name', 'liveness', 'http://:web/', 'web is not a port; write a number from 1 to 65535'),
    one('a probe of port 0', 'liveness', 'tcp://:0', '0 is not a port; write a number from 1 to 65535'),
    one(
      'a probe of a port beyond all',
      'liveness',
      'grpc://:65536',
      '65536 is not a port; write a number from 1 to 65535',
    ),
    one('a tcp probe with a path', 'liveness', 'tcp://:80/up', '/up has no meaning for tcp; leave it out'),
    one(
      'a probe of a host with a blank',
      'liveness',
      'http://a b:80/',
      '"a b" is not a host; write a name or an address, or leave it out for 127.0.0.1',
    ),
    one(
      'a probe with a fragment',
      'liveness',
      'http://:80/#up',
      'a server never receives what follows a #; leave it out',
    ),
    one('a probe without a command', 'readiness', 'exec:', 'it has no command; write a program and its arguments'),
    one('a probe with an open quote', 'readiness', 'exec:cat "x', `the quote '"' is never closed; close it`),
    one(
      'a probe with a backslash at its end',
      'readiness',
      'exec:cat \\',
      'a backslash at the end protects nothing; leave it out, or double it',
    ),
    one('a probe that needs a shell for a pipe', 'readiness', 'exec:ping|grep PONG', `| ${SHELL}`),
    one('a probe that needs a shell for a variable', 'readiness', 'exec:cat $HOME/up', `$ ${SHELL}`),
    one(
      'a probe with a period without a unit',
      'liveness',
      'tcp://:80,period=5',
      'period=5: a duration needs a unit; write 5s or 5ms',
    ),
    one(
      'a probe with a timeout of nothing',
      'liveness',
      'tcp://:80,timeout=0',
      'timeout=0: must be longer than 0; write a duration such as 30s',
    ),
    one(
      'a probe that fails after no failure',
      'liveness',
      'tcp://:80,failures=0',
      'failures=0: must be a whole number from 1 on; write one such as 3',
    ),
    one(
      'a liveness probe with two successes',
      'liveness',
      'tcp://:80,successes=2',
      'successes=2: a liveness probe takes only 1, as in Kubernetes; leave it out',
    ),
    one(
      'a startup probe with two successes',
      'startup',
      'tcp://:80,successes=2',
      'successes=2: a startup probe takes only 1, as in Kubernetes; leave it out',
    ),
    one(
      'a readiness probe with a grace period',
      'readiness',
      'tcp://:80,period=1s,grace=5s',
      'grace: a readiness probe stops nothing, so it has no grace period; leave it out',
    ),
    one(
      'a misspelt option of a probe',
      'liveness',
      'exec:up,perod=2s',
      'perod is not an option; did you mean period? (if it is part of the action: quote it)',
    ),
    one(
      "an option in Kubernetes' words",
      'liveness',
      'http://:80/,periodSeconds=2',
      'periodSeconds: write period=10s (if it is part of the action: write %2C for the comma)',
    ),
    one('an option twice', 'liveness', 'tcp://:80,delay=2s,delay=3s', 'delay is given twice; give it once'),
    one(
      'a word behind the options',
      'liveness',
      'tcp://:80,delay=2s,quick',
      'quick is not an option; options are period=, timeout=, failures=, successes=, delay=, grace=',
    ),
    one(
      'a header without a value',
      'liveness',
      'http://:80/,header=Accept',
      "header=Accept is not a header; write one such as header='Accept: text/plain'",
    ),
    one(
      'a probe that Kubernetes did not expand',
      'liveness',
      'http://:80/$(POD)',
      "$(POD) was not expanded; declare that variable before this one in the Pod's env",
    ),
    {
      title: 'a probe twice',
      argv: ['--liveness', 'tcp://:1', '--liveness=tcp://:2'],
      message: '--liveness tcp://:2: --liveness tcp://:1 was given before; give it once',
    },
  ];
}
