/** Each example that checks itself does what its README says, and clears everything away. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ENGINE, titled } from '../helpers/engine.ts';
import { NODE, ROOT } from '../helpers/paths.ts';
import { runExample } from './run-example.ts';

interface Example {
  readonly title: string;
  /** Seconds that are ample for a slow machine. */
  readonly seconds?: string;
  readonly prints: readonly RegExp[];
  /** Programs that it starts. */
  readonly needs?: readonly string[];
  /** The example also runs with a container engine. */
  readonly isForEngines?: true;
}

const EXAMPLES: Readonly<Record<string, Example>> = {
  'agent-sandbox': {
    title: 'what execs leave behind stays as zombies under sleep, and is reaped under sexton',
    prints: [/^sleep infinity +20 +1000$/m, /^the same under sexton +20 +0$/m],
  },
  'controller-demo': {
    title: 'a lease that a pre-stop hook releases is taken at once, another only after its expiry',
    // A leader that stands still for most of this time loses its lease.
    seconds: '12',
    prints: [/^as they are +[0-9]+ ms +expiry +no +143$/m, /^with sexton and a hook +[0-9]+ ms +release +no +143$/m],
  },
  'istio-job': {
    title: 'the work waits for a proxy that cannot be wrapped, and asks it to leave at the end',
    isForEngines: true,
    prints: [
      /^without sexton +exit code 9 +runs on +never ends$/m,
      /^with sexton +exit code 0 +gone, 0 +complete$/m,
      /^with sexton, the work fails +exit code 3 +gone, 0 +failed, tried again$/m,
    ],
  },
  'long-answers': {
    title: 'a stop behind haproxy cuts no long answer with --idle-when, and some without',
    // An answer has to outlast the drain that watches connections, which takes 6 s on a busy machine.
    seconds: '12',
    needs: ['/usr/sbin/haproxy'],
    isForEngines: true,
    prints: [
      /^as it is +[1-9]\d* +\d+ /m,
      /^sexton, --drain +[1-9]\d* +\d+ /m,
      /^sexton, --drain and --idle-when +0 +0 /m,
    ],
  },
  'restart-in-place': {
    title: 'a replica that is restarted in place fails no request, unlike killed containers',
    seconds: '12',
    prints: [
      /^all containers killed at once, one of two replicas +[1-9][0-9]* /m,
      /^sexton restart, one of two replicas +0 +[1-9][0-9]* /m,
      /^sexton restart, the only replica +[1-9][0-9]* +[1-9][0-9]* /m,
      /^pod of web \(session example\): restart in place: graceful, /m,
    ],
  },
  'server-demo': {
    title: 'a rolling restart fails no request with probe and drain, and some without either',
    seconds: '12',
    prints: [
      /^as it is +[1-9][0-9]* /m,
      /^with a readiness probe +[1-9][0-9]* /m,
      /^with sexton: probe and drain +0 +[1-9][0-9]* /m,
    ],
  },
  'sidecar-restarts-while-main-drains': {
    title: titled('N31 a proxy that dies while its main drains comes back; as a native sidecar it does not'),
    // The proxy has to be back within half of it.
    seconds: '20',
    prints: [
      /^with sexton .* away for [0-9]+ ms; the last request succeeded$/m,
      /; proxy: exit 1 after [0-9.]+ s,\s+restarted,\s+away\s+for\s+[0-9]+\s+ms;/,
      /^as a native sidecar .* away for good; the last request failed$/m,
    ],
  },
  'signal-demo': {
    title: 'a program without a handler, or behind a shell, waits for KILL as PID 1; under sexton it does not',
    // A program that stops by TERM has this long for it.
    seconds: '15',
    prints: [
      /^a program without a handler +[0-9]+ +137 +has none$/m,
      /^a shell around a careful program +[0-9]+ +137 +no$/m,
      /^the same under sexton +[0-9]+ +143 +yes$/m,
    ],
  },
  'web-server': {
    title: 'two nginx behind haproxy lose no request in a restart under load with sexton, and some without',
    seconds: '1',
    needs: ['/usr/sbin/nginx', '/usr/sbin/haproxy'],
    isForEngines: true,
    prints: [/^with sexton +0 of \d+ requests failed$/m, /^without sexton +[1-9]\d* of \d+ requests failed$/m],
  },
};

const OUTSIDE_ENGINES = ENGINE === 'podman' ? 'not in podman: the example is for machines without an engine' : false;

for (const [name, { title, seconds, prints, needs = [], isForEngines = false }] of Object.entries(EXAMPLES)) {
  const missing = needs.find((program) => !existsSync(program));
  const uninstalled = missing !== undefined && `${missing} is not installed (apt-get install nginx-light haproxy)`;
  test(title, { skip: isForEngines ? uninstalled : OUTSIDE_ENGINES }, async (t) => {
    const shown = await runExample(t, name, ...(seconds === undefined ? [] : [seconds]));
    for (const line of prints) assert.match(shown, line);
  });
}

for (const name of ['signal-demo', 'agent-sandbox'])
  test(`examples/${name} says what it needs where no PID namespace can be made`, { skip: OUTSIDE_ENGINES }, () => {
    const example = join(ROOT, 'examples', name, 'run.ts');
    const { status, stdout, stderr } = spawnSync(NODE, [example], { env: { PATH: '/nonexistent' }, encoding: 'utf8' });
    assert.equal(status, 2);
    assert.equal(stdout, '');
    assert.match(stderr, /^cannot make a PID namespace: the demo needs Linux, unshare and setpriv/);
  });
