/** Variables that are not twins of flags: kubexit's, OpenKruise's, the pod's, and those that Kubernetes adds. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { dropInOf } from '../../src/config/dropin/dropin.ts';
import type { Env } from '../../src/config/env.ts';
import { filesOf, type Resolved, resolved as resolve, resolvedWithFile } from './files.ts';

function resolved(env: Env, argv: readonly string[] = ['x'], files = filesOf()): Promise<Resolved> {
  return resolvedWithFile(argv, env, files);
}

describe("kubexit's variables", () => {
  it("C02 kubexit's variables mean a sidecar that any death ends", async () => {
    const { run } = await resolved({
      KUBEXIT_NAME: 'proxy',
      KUBEXIT_DEATH_DEPS: 'work,more',
      KUBEXIT_GRACE_PERIOD: '1.5m',
      KUBEXIT_POD_NAME: 'pod-1',
      KUBEXIT_NAMESPACE: 'default',
      KUBEXIT_VERBOSE_LEVEL: '2',
    });
    assert.equal(run.member.name, 'proxy');
    assert.equal(run.member.role, 'sidecar');
    assert.deepEqual(run.member.mains, ['work', 'more']);
    assert.equal(run.member.when, 'any');
    assert.equal(run.member.gracePeriodMs, 90_000);
    assert.equal(run.graveyard, '/graveyard');
  });

  it("C02 kubexit's variables mean a main that waits for births as long as kubexit would", async () => {
    const { run } = await resolved({ KUBEXIT_NAME: 'work', KUBEXIT_BIRTH_DEPS: 'proxy,db', KUBEXIT_GRAVEYARD: '/g/' });
    assert.equal(run.member.role, 'main');
    assert.deepEqual(run.member.startAfter, [
      { name: 'proxy', condition: 'healthy', optional: false },
      { name: 'db', condition: 'healthy', optional: false },
    ]);
    assert.equal(run.member.startTimeoutMs, 30_000);
    assert.equal(run.graveyard, '/g');
    const slow = await resolved({ KUBEXIT_NAME: 'work', KUBEXIT_BIRTH_DEPS: 'db', KUBEXIT_BIRTH_TIMEOUT: '100s' });
    assert.equal(slow.run.member.startTimeoutMs, 100_000);
  });

  it("kubexit's variables give way to the same variables of sexton", async () => {
    const { run } = await resolved({
      KUBEXIT_NAME: 'not/valid',
      SEXTON_NAME: 'ours',
      KUBEXIT_DEATH_DEPS: 'work',
      SEXTON_ROLE: 'main',
      KUBEXIT_GRACE_PERIOD: 'soon',
      SEXTON_GRACE_PERIOD: '10s',
    });
    assert.equal(run.member.name, 'ours');
    assert.equal(run.member.role, 'main');
    assert.equal(run.member.gracePeriodMs, 10_000);
  });

  it("kubexit's variables that are empty are not set, as for kubexit", async () => {
    const { run } = await resolved({ KUBEXIT_NAME: '', KUBEXIT_DEATH_DEPS: '', KUBEXIT_GRACE_PERIOD: '' });
    assert.equal(run.member.role, 'main');
    assert.equal(run.graveyard, undefined);
  });

  it("kubexit's variables that kubexit does not know get a warning", async () => {
    const { warnings } = await resolved({ KUBEXIT_DEATH_DEP: 'a', KUBEXIT_SERVICE_HOST: '10.0.0.1' });
    assert.deepEqual(warnings, [
      'unknown variable KUBEXIT_DEATH_DEP of kubexit has no effect; did you mean KUBEXIT_DEATH_DEPS?',
    ]);
  });
});

describe('variables SEXTON_* of an image (D8)', () => {
  it('variables SEXTON_* of an image bring a warning and nothing else', async () => {
    const env = { SEXTON_VERSION: '1.2', SEXTON_HOME: '/sexton', SEXTON_SHA256: 'ab', SEXTON_NAMESPACE: 'default' };
    const { warnings, run } = await resolved(env);
    assert.deepEqual(
      warnings,
      Object.keys(env).map((name) => `unknown variable ${name} has no effect; sexton help environment lists all`),
    );
    assert.equal(run.member.name, 'x');
  });

  it('do not change what tini does in its place', () => {
    const { run, warnings } = resolve(['--', 'x'], { SEXTON_VERSION: '1.2' }, filesOf(), dropInOf('tini'));
    assert.deepEqual(run.member.stopSignals, []);
    assert.equal(warnings.length, 1);
  });
});

describe("OpenKruise's marker", () => {
  const KRUISE = 'KRUISE_TERMINATE_SIDECAR_WHEN_JOB_EXIT';
  const files = filesOf({ '/c.json': '{"role": "main"}' }, ['/graveyard']);

  for (const value of ['true', 'TRUE', 'True']) {
    it(`J12 ${value} alone makes a sidecar`, async () => {
      assert.equal((await resolved({ [KRUISE]: value }, ['x'], files)).run.member.role, 'sidecar');
    });
  }

  it('J12 any other value makes no sidecar', async () => {
    for (const value of ['false', '', '1', 'yes']) {
      assert.equal((await resolved({ [KRUISE]: value }, ['x'], files)).run.member.role, 'main', value);
    }
  });

  it("OpenKruise's marker gives way to a declared role, wherever that is", async () => {
    const env = { [KRUISE]: 'true' };
    assert.equal((await resolved(env, ['--role', 'main', 'x'], files)).run.member.role, 'main');
    assert.equal((await resolved({ ...env, SEXTON_ROLE: 'main' }, ['x'], files)).run.member.role, 'main');
    assert.equal((await resolved(env, ['--config', '/c.json', 'x'], files)).run.member.role, 'main');
  });
});

describe('other variables', () => {
  it("the pod's uid is the session unless there is another", async () => {
    assert.equal((await resolved({ SEXTON_POD_UID: 'uid-1' })).run.member.session, 'uid-1');
    assert.equal((await resolved({ SEXTON_POD_UID: 'uid-1', SEXTON_SESSION: 's' })).run.member.session, 's');
    assert.equal((await resolved({ SEXTON_POD_UID: '' })).run.member.session, undefined);
  });

  it('an empty twin counts as not set', async () => {
    assert.equal((await resolved({ SEXTON_DRAIN: '', SEXTON_CONFIG: '' })).run.member.drain, undefined);
  });

  it('what Kubernetes sets for Services called sexton and sexton-stop is not ours', async () => {
    await resolved({
      SEXTON_SERVICE_HOST: '10.0.0.1',
      SEXTON_SERVICE_PORT: '80',
      SEXTON_SERVICE_PORT_HTTP: '80',
      SEXTON_PORT: 'tcp://10.0.0.1:80',
      SEXTON_PORT_80_TCP: 'tcp://10.0.0.1:80',
      SEXTON_PORT_80_TCP_PROTO: 'tcp',
      SEXTON_STOP_SERVICE_HOST: '10.0.0.2',
      SEXTON_STOP_PORT_53_UDP_ADDR: '10.0.0.2',
    });
  });

  it('the variables of sexton-init are not a mistake', async () => {
    await resolved({ SEXTON_INIT_FD: '3' });
  });
});
