import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type DropIn, dropInOf } from '../../src/config/dropin/dropin.ts';
import type { Env } from '../../src/config/env.ts';
import { FLAGS, KEYS, variableOf } from '../../src/config/flags.ts';
import { filesOf, problemsOf, type Resolved, resolved, resolvedWithFile } from './files.ts';

function sourceOf({ sources }: Resolved, key: string): string {
  const row = sources.find((source) => source.key === key);
  return `${row?.value} from ${row?.source}`;
}

describe('the configuration of `sexton -- command`', () => {
  it('the configuration is complete by defaults alone', () => {
    assert.deepEqual(resolved(['--', '/bin/Sleep', '9']).run, {
      member: {
        name: 'sleep',
        role: 'main',
        restartPolicy: 'Never',
        restartRules: [],
        mains: [],
        when: 'all',
        startAfter: [],
        startReady: [],
        startTimeoutMs: 60_000,
        startTimeoutAction: 'fail',
        signals: {},
        ladder: undefined,
        stopSignals: [15, 2],
        gracePeriodMs: undefined,
        graceFloorMs: undefined,
        platformPreStopMs: undefined,
        hold: { kind: 'always' },
        drain: undefined,
        idleWhen: undefined,
        lingerMs: 0,
        probes: { startup: undefined, readiness: undefined, liveness: undefined },
        notifies: false,
        watchdogMs: undefined,
        postStart: undefined,
        preStop: undefined,
        reload: [],
        quit: [],
        restart: 'never',
        restartPodOn: { codes: [], liveness: false, max: undefined },
        exitCode: { kind: 'keep' },
        startFailureCode: undefined,
        session: undefined,
        solo: true,
      },
      graveyard: undefined,
      makesGraveyard: false,
      program: { fromIndex: 2, argv: ['/bin/Sleep', '9'] },
      logLevel: 'info',
      logFormat: 'json',
      host: { signalTo: 'tree', commands: [] },
      http: undefined,
      terminationLog: { path: '/dev/termination-log', isNamed: false },
      otlp: undefined,
      sleepAfterMs: 5_000,
    });
  });

  it('B6 a graveyard is created only if the user named it', () => {
    const makes = (argv: readonly string[], env: Env = {}, as?: DropIn): boolean => {
      return resolved(argv, env, filesOf(), as).run.makesGraveyard;
    };
    assert.equal(makes(['--graveyard', '/g', 'x']), true);
    assert.equal(makes(['x'], { SEXTON_GRAVEYARD: '/g' }), true);
    assert.equal(makes(['x'], { KUBEXIT_GRAVEYARD: '/g' }), true);
    assert.equal(makes(['x'], { KUBEXIT_NAME: 'x' }), false);
    assert.equal(makes(['--', 'true'], {}, dropInOf('kubexit --graveyard /graveyard')), false);
  });

  it('B6 a graveyard without a parent directory is refused with a remedy', async () => {
    const missing = filesOf({}, [], false, ['/shared']);
    const problems = (argv: readonly string[], env: Env = {}) => problemsOf(argv, env, missing);
    const why = 'there is no directory /shared; mount the shared volume, or name another directory';
    assert.deepEqual(await problems(['--graveyard', '/shared/g', 'x']), [`--graveyard /shared/g: ${why}`]);
    assert.deepEqual(await problems(['x'], { SEXTON_GRAVEYARD: '/shared/g' }), [`SEXTON_GRAVEYARD=/shared/g: ${why}`]);
    assert.deepEqual(await problems(['--graveyard', '/shared', 'x']), []);
  });

  it('the configuration is frozen to its last part', () => {
    const { run } = resolved(['--stop', 'TERM:5s,KILL', '--start-after', 'a=started', '--graveyard', '/g', 'x']);
    const parts: object[] = [run];
    for (const part of parts) {
      assert.ok(Object.isFrozen(part), JSON.stringify(part));
      parts.push(...Object.values(part).filter((inner) => typeof inner === 'object' && inner !== null));
    }
    assert.ok(parts.length > 10);
  });

  it('the configuration of a sidecar has the defaults of a sidecar', () => {
    const { run } = resolved(['--role', 'sidecar', '--graveyard', '/g', 'x']);
    assert.equal(run.member.restart, 'auto');
    assert.deepEqual(run.member.exitCode, { kind: 'zero-when-stopped' });
  });

  it('sexton takes /graveyard only where it exists', () => {
    assert.equal(resolved(['x']).run.graveyard, undefined);
    const { run } = resolved(['x'], {}, filesOf({}, ['/graveyard']));
    assert.equal(run.graveyard, '/graveyard');
    assert.equal(run.member.solo, false);
  });

  it('sexton logs text only on a terminal', () => {
    assert.equal(resolved(['x'], {}, filesOf({}, [], true)).run.logFormat, 'text');
    assert.equal(resolved(['x'], {}, filesOf({}, [], false)).run.logFormat, 'json');
  });
});

describe('the command', () => {
  const WHERE: readonly (readonly [readonly string[], number])[] = [
    [['x', '--drain', '5s'], 1],
    [['run', 'x'], 2],
    [['--', '--drain'], 2],
    [['run', '--drain', '5s', '--linger=1s', '--role=sidecar', '--graveyard', '/g', '--', 'x', '--'], 9],
    [['--drain', '5s', 'x', '--drain', 'y'], 3],
    [['-'], 1],
    [['run', 'run'], 2],
  ];
  for (const [argv, index] of WHERE) {
    it(`the command of \`sexton ${argv.join(' ')}\` begins at ${index} of the whole command line`, () => {
      const { program } = resolved(argv).run;
      assert.equal(program.fromIndex, index);
      assert.deepEqual(['sexton', ...argv].slice(index), program.argv);
    });
  }

  it('a command on the command line replaces command and args of the file', async () => {
    const files = filesOf({ '/c.json': '{"command": ["nginx"], "args": ["-g", "daemon off;"]}' });
    const ofFile = await resolvedWithFile(['--config', '/c.json'], {}, files);
    assert.deepEqual(ofFile.run.program, { fromIndex: 0, argv: ['nginx', '-g', 'daemon off;'] });
    const ofLine = await resolvedWithFile(['--config', '/c.json', 'sh'], {}, files);
    assert.deepEqual(ofLine.run.program, { fromIndex: 3, argv: ['sh'] });
  });
});

describe('a value', () => {
  const files = filesOf({ '/c.json': '{"drain": "3s", "linger": "3s", "hold": "3s", "mains": ["file"]}' });
  const argv = ['--graveyard', '/g', '--role=sidecar', '--config', '/c.json', '--drain', '1s', 'x'];
  const env = { SEXTON_DRAIN: '2s', SEXTON_LINGER: '2s', KUBEXIT_DEATH_DEPS: 'kubexit' };
  const resolving = resolvedWithFile(argv, env, files);

  it('a value comes from the flag, else the variable, else the file, else the default', async () => {
    const resolution = await resolving;
    assert.equal(sourceOf(resolution, 'drain'), '1s from --drain');
    assert.equal(sourceOf(resolution, 'linger'), '2s from SEXTON_LINGER');
    assert.equal(sourceOf(resolution, 'hold'), '3s from /c.json');
    assert.equal(sourceOf(resolution, 'restart'), 'auto from default');
  });

  it("kubexit's variable comes before the file, but not before the same variable of sexton", async () => {
    assert.equal(sourceOf(await resolving, 'mains'), 'kubexit from KUBEXIT_DEATH_DEPS');
    const twin = await resolvedWithFile(argv, { ...env, SEXTON_MAINS: 'ours' }, files);
    assert.equal(sourceOf(twin, 'mains'), 'ours from SEXTON_MAINS');
    assert.equal(sourceOf(twin, 'when'), 'all from default');
  });

  it('that another source overrides is checked all the same', async () => {
    const problems = await problemsOf(['--drain', '1s', 'x'], { SEXTON_DRAIN: '9' });
    assert.deepEqual(problems, ['SEXTON_DRAIN=9: a duration needs a unit; write 9s or 9ms']);
  });

  it('a value that is a command may hold $(NAME)', () => {
    const { run } = resolved(['--pre-stop', "exec:sh -c 'echo $(date)'", 'x']);
    assert.deepEqual(run.member.preStop, { kind: 'exec', argv: ['sh', '-c', 'echo $(date)'] });
  });

  it('R03, R04 restart rules and the policy of a container are taken as they stand in its Pod', async () => {
    const file = `
restartPolicy: Never
restartPolicyRules:
  - action: Restart
    exitCodes: {operator: In, values: [42, 43]}
  - action: RestartAllContainers
    exitCodes: {operator: NotIn, values: [0]}
`;
    const { run } = await resolvedWithFile(['--config', '/c', 'x'], {}, filesOf({ '/c': file }));
    const byFlag = resolved(['--restart-policy', 'Never', '--restart-rules', '42|43=restart,!0=restart-all', 'x']);
    assert.deepEqual(run.member, byFlag.run.member);
  });

  it('the stop signal of the Pod is added to the stop signals, wherever those are given', async () => {
    const files = filesOf({ '/c': 'lifecycle: {stopSignal: SIGUSR1}\n' });
    const signalsOf = async (...argv: string[]) =>
      (await resolvedWithFile(['--config', '/c', ...argv, 'x'], {}, files)).run.member.stopSignals;
    assert.deepEqual(await signalsOf(), [15, 2, 10]);
    assert.deepEqual(await signalsOf('--stop-signals', 'QUIT'), [3, 10]);
    assert.deepEqual(await signalsOf('--stop-signals', 'USR1'), [10]);
  });

  it('a value means the same in each of the three ways to give it', async () => {
    const texts: Readonly<Record<string, string>> = {
      name: 'n',
      graveyard: '/g',
      role: 'sidecar',
      restartPolicy: 'OnFailure',
      restartRules: '42|43=restart,88=restart-all,!0=restart',
      mains: 'a,b',
      when: 'any',
      startAfter: 'a=started,c=completed?,istio=ready,http://127.0.0.1:81/up=ready?',
      startTimeout: '5s',
      startTimeoutAction: 'continue',
      signals: 'HUP:USR1,TERM:QUIT',
      signalTo: 'first',
      stop: 'QUIT:5s,KILL',
      gracePeriod: '25s',
      graceFloor: '15s',
      platformPreStop: '20s',
      stopSignals: 'INT,QUIT',
      hold: '2s',
      drain: 'min=1s,quiet=2s,max=9s',
      idleWhen: 'http://127.0.0.1:8000/metrics,metric=running+waiting,for=5s',
      linger: '4s',
      startup: 'tcp://127.0.0.1:5432,failures=30',
      readiness: 'http://127.0.0.1:8080/healthz,period=2s,timeout=500ms,successes=2',
      liveness: "exec:sh -c 'test -e /tmp/alive, || exit 1',delay=5s,grace=3s",
      notify: 'all,watchdog=30s',
      postStart: 'POST http://127.0.0.1:8080/started',
      preStop: 'sleep:5s',
      reload: "/etc/app,d=HUP,validate=sh -c 'app --check, /etc/app,d'",
      quit: 'istio,envoy:9902,http://127.0.0.1:8080/quit',
      restart: 'on-failure',
      restartPodOn: 'exit:70,liveness,max=3',
      exitCode: '3=0,143=0',
      session: 's-1',
      http: '[::1]:8081',
      readyzOnDrain: 'fail',
      terminationLog: '/evidence/web',
      otlp: 'http://127.0.0.1:4318/v1/traces',
      sleepAfter: '20s',
      logLevel: 'debug',
      logFormat: 'text',
    };
    assert.deepEqual(Object.keys(texts), [...KEYS]);
    const byFlags = resolved([...KEYS.flatMap((key) => [`--${FLAGS[key].name}`, texts[key] ?? '']), 'x']);
    const variables = Object.fromEntries(KEYS.map((key) => [variableOf(FLAGS[key].name), texts[key]]));
    const byVariables = resolved(['x'], variables);
    const { gracePeriod: _, terminationLog: path, ...rest } = texts;
    const asTexts = { ...rest, terminationGracePeriodSeconds: 25, terminationMessagePath: path };
    const asYaml = {
      ...asTexts,
      mains: ['a', 'b'],
      startAfter: { a: 'started', c: 'completed?', istio: 'ready', 'http://127.0.0.1:81/up': 'ready?' },
      signals: { HUP: 'USR1', TERM: 'QUIT' },
      stop: ['QUIT:5s', 'KILL'],
      stopSignals: ['INT', 'QUIT'],
      exitCode: { 3: 0, 143: 0 },
    };
    const yaml = Object.entries(asYaml).map(([key, value]) => `${key}: ${JSON.stringify(value)}\n`);
    const files = filesOf({ '/c.json': JSON.stringify(asTexts) });
    const byFile = await resolvedWithFile(['--config', '/c.json', 'x'], {}, files);
    const byYaml = await resolvedWithFile(['x'], { SEXTON_CONFIG: '/c' }, filesOf({ '/c': yaml.join('') }));
    for (const other of [byVariables, byFile, byYaml]) {
      assert.deepEqual(other.run.member, byFlags.run.member);
      assert.deepEqual(other.run.http, byFlags.run.http);
      assert.deepEqual(other.run.host, {
        signalTo: 'first',
        commands: [{ type: 'notify', all: true, watchdogMs: 30_000 }],
      });
      assert.deepEqual(other.run.terminationLog, byFlags.run.terminationLog);
      assert.deepEqual(other.run.otlp, byFlags.run.otlp);
      assert.deepEqual(
        other.sources.map(({ key, value }) => [key, value]),
        byFlags.sources.map(({ key, value }) => [key, value]),
      );
    }
    assert.ok(byFlags.sources.every(({ key, source }) => source === `--${key}` || key === 'command'));
  });
});

describe('a flag that repeats', () => {
  it('brings one problem when one of its values is wrong', async () => {
    assert.equal((await problemsOf(['--reload', '/a=HUP', '--reload', 'c', 'x'])).length, 1);
  });

  it('a repeated flag makes one list of one source, and a weaker source adds nothing', () => {
    const env = { SEXTON_RELOAD: '/c=HUP\n/d=HUP' };
    const paths = (resolution: Resolved) => resolution.run.member.reload.map(({ path }) => path);
    assert.deepEqual(paths(resolved(['--reload', '/a=HUP', '--reload=/b=USR1', 'x'], env)), ['/a', '/b']);
    assert.deepEqual(paths(resolved(['x'], env)), ['/c', '/d']);
  });
});

describe('explained values', () => {
  it('explained values read back as the flags they are', () => {
    const argv = ['--graveyard', '/g', '--signals', '1:-,15:3', '--stop', '15:90s,9', '--exit-code', '143=0', 'x'];
    const { sources, run } = resolved(argv);
    const isGiven = (source: string): boolean => source.startsWith('--');
    const again = sources.filter(({ source }) => isGiven(source)).flatMap(({ key, value }) => [`--${key}`, value]);
    assert.deepEqual(resolved([...again, 'x']).run.member, run.member);
  });
});
