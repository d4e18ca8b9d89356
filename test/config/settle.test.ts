import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Key } from '../../src/config/flag.ts';
import type { Given } from '../../src/config/given.ts';
import { type Surroundings, settle } from '../../src/config/settle.ts';

const NOWHERE: Surroundings = { command: '/usr/bin/My_App', isTerminal: false, isDirectory: () => false };

function given(source: string, key: Key, text: string): Given {
  return { key, text, label: `${source} ${text}`, source };
}

describe('a setting', () => {
  it('has the value of the strongest source, and names it', () => {
    const { settings, problems } = settle([[given('flag', 'drain', '5s')], [given('file', 'drain', '9s')]], NOWHERE);
    const { value, source, isGiven } = settings.drain;
    assert.deepEqual([value, source, isGiven], [{ kind: 'fixed', ms: 5_000 }, 'flag', true]);
    assert.deepEqual(problems, []);
  });

  it('that no source gives has its default, which may depend on the role and on the machine', () => {
    const main = settle([], NOWHERE).settings;
    const { restart, name, graveyard, logFormat } = main;
    assert.deepEqual(
      [restart.value, name.value, graveyard.value, logFormat.value],
      ['never', 'my-app', undefined, 'json'],
    );
    assert.equal(name.isGiven, false);
    const around: Surroundings = { ...NOWHERE, isTerminal: true, isDirectory: (path) => path === '/graveyard' };
    const sidecar = settle([[given('flag', 'role', 'sidecar')]], around).settings;
    assert.deepEqual(
      [sidecar.restart.value, sidecar.graveyard.value, sidecar.logFormat.value],
      ['auto', '/graveyard', 'text'],
    );
  });

  it('that is wrong is a problem, also where a stronger source overrides it, and is broken where none does', () => {
    const layers = [[given('flag', 'drain', '5s')], [given('file', 'drain', '9'), given('file', 'linger', 'x')]];
    const { settings, problems } = settle(layers, NOWHERE);
    assert.deepEqual(problems, [
      'file 9: a duration needs a unit; write 9s or 9ms',
      'file x: must be a duration; write one such as 500ms, 30s or 1m30s',
    ]);
    assert.deepEqual(
      [settings.drain.isBroken, settings.linger.isBroken, settings.linger.value],
      [false, true, undefined],
    );
  });

  it('that still holds $(NAME) is a mistake, but not where a command may hold it', () => {
    const { problems } = settle([[given('flag', 'name', '$(POD)')]], NOWHERE);
    assert.deepEqual(problems, [
      "flag $(POD): $(POD) was not expanded; declare that variable before this one in the Pod's env",
    ]);
    const exec = given('flag', 'preStop', "exec:sh -c 'echo $(date)'");
    assert.deepEqual(settle([[exec]], NOWHERE).problems, []);
  });

  it('that may be given several times joins the values of one source, and not those of two', () => {
    const one = [given('flag', 'reload', '/a=HUP'), given('flag', 'reload', '/b=HUP')];
    const paths = (layers: readonly (readonly Given[])[]) =>
      settle(layers, NOWHERE).settings.reload.value?.map(({ path }) => path);
    assert.deepEqual(paths([one, [given('file', 'reload', '/c=HUP')]]), ['/a', '/b']);
    const broken = settle([[...one, given('flag', 'reload', 'c')]], NOWHERE);
    assert.deepEqual([broken.settings.reload.isBroken, broken.problems.length], [true, 1]);
  });
});
