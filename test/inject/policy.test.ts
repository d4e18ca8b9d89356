import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { familiarName, type ImageFacts } from '../../src/check/stop/images.ts';
import { imageVariables } from '../../src/inject/policy/images.ts';
import { literal } from '../../src/inject/policy/literal.ts';
import { type PolicyOptions, policyText } from '../../src/inject/policy/policy.ts';
import { SEXTON } from '../helpers/paths.ts';
import { temporaryDirectory } from '../helpers/temporary.ts';
import { OPTIONS } from './inject.ts';

interface Named {
  readonly name: string;
  readonly expression: string;
}

interface Policy {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly failurePolicy: string;
    readonly reinvocationPolicy?: string;
    readonly matchConstraints: Readonly<Record<string, readonly unknown[]>>;
    readonly matchConditions: readonly Named[];
    readonly variables: readonly Named[];
    readonly mutations: readonly [{ readonly jsonPatch: { readonly expression: string } }];
    readonly validationActions: readonly string[];
  };
}

const ALL = { ...OPTIONS, isStrict: false };

function objectsOf(options: Partial<PolicyOptions> = {}): readonly [Policy, Policy, Policy, Policy] {
  const [a, b, c, d, ...more] = parseAllDocuments(policyText({ ...ALL, ...options })).map((one) => one.toJS());
  assert.equal(more.length, 0);
  return [a, b, c, d];
}

const imagesOf = (facts: Readonly<Record<string, ImageFacts>>) =>
  imageVariables(new Map(Object.entries(facts).map(([name, one]) => [familiarName(name), one])));

describe('sexton inject -o policy', () => {
  it('it is a policy that injects and one that warns, each with its binding', () => {
    const objects = objectsOf();
    assert.deepEqual(
      objects.map(({ apiVersion, kind, metadata }) => [apiVersion, kind, metadata.name]),
      ['Mutating', 'Validating'].flatMap((verb) =>
        ['', 'Binding'].map((end) => [
          'admissionregistration.k8s.io/v1',
          `${verb}AdmissionPolicy${end}`,
          'sexton-inject',
        ]),
      ),
    );
    const [mutating, , validating, binding] = objects;
    assert.deepEqual([mutating.spec.failurePolicy, mutating.spec.reinvocationPolicy], ['Ignore', 'IfNeeded']);
    assert.deepEqual(binding.spec.validationActions, ['Warn', 'Audit']);
    assert.deepEqual(validating.spec.matchConditions, mutating.spec.matchConditions);
    assert.deepEqual(mutating.spec.matchConstraints.resourceRules, [
      { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] },
    ]);
    assert.match(JSON.stringify(mutating.spec.matchConstraints), /"NotIn","values":\["kube-system"\]/);
  });

  it('--strict refuses what it cannot inject, also where a policy fails', () => {
    const [mutating, , validating, binding] = objectsOf({ isStrict: true });
    assert.deepEqual([mutating.spec.failurePolicy, validating.spec.failurePolicy], ['Fail', 'Fail']);
    assert.deepEqual(binding.spec.validationActions, ['Deny']);
  });

  it('it is the same text for the same lock, whose order does not matter', () => {
    const text = policyText(ALL);
    assert.equal(policyText({ ...ALL, images: new Map([...ALL.images].reverse()) }), text);
    assert.doesNotMatch(text, /[&*]a\d|\t/);
  });

  it('a variable stands behind those that it names, and each is used', () => {
    const { variables, mutations } = objectsOf()[0].spec;
    variables.forEach(({ name, expression }, at) => {
      const before = variables.slice(0, at).map((one) => one.name);
      for (const [, used = ''] of expression.matchAll(/variables\.(\w+)/g))
        assert.ok(before.includes(used), `${name} uses ${used}`);
      const after = [...variables.slice(at + 1).map((one) => one.expression), mutations[0].jsonPatch.expression];
      assert.ok(
        after.some((text) => text.includes(`variables.${name}`)),
        `${name} is not used`,
      );
    });
  });

  it('only the init container is an addition of the other delivery', () => {
    const [image, init] = (['image-volume', 'init-container'] as const).map(
      (deliver) => objectsOf({ deliver })[0].spec,
    );
    assert.match(image?.mutations[0].jsonPatch.expression ?? '', /"reference": "example\.com\/sexton:1"/);
    assert.doesNotMatch(image?.mutations[0].jsonPatch.expression ?? '', /initContainers/);
    assert.match(init?.mutations[0].jsonPatch.expression ?? '', /\/spec\/initContainers.*"args": dyn\(\["install"/s);
    assert.deepEqual(
      init?.matchConditions.filter((one) => !image?.matchConditions.some(({ name }) => name === one.name)).length,
      1,
    );
  });

  it('an image is found by its name and by its digest, and one that starts nothing is left out', () => {
    const digest = `sha256:${'a'.repeat(64)}`;
    const { images, digests } = imagesOf({
      'docker.io/library/app:1': { entrypoint: ['/app', '$HOME'], cmd: ["it's", '"x"\n'], digest },
      [`app@${digest}`]: { entrypoint: ['/app'], digest },
      [`other@sha256:${'b'.repeat(64)}`]: { cmd: ['x'] },
      empty: {},
    });
    assert.equal(
      images,
      `{\n  "app:1": {"entrypoint": ["/app", "$$HOME"], "cmd": ["it's", "\\"x\\"\\n"]},\n` +
        `  "other@sha256:${'b'.repeat(64)}": {"cmd": ["x"]}\n}`,
    );
    assert.equal(
      digests,
      `{\n  "${digest}": "app:1",\n  "sha256:${'b'.repeat(64)}": "other@sha256:${'b'.repeat(64)}"\n}`,
    );
  });

  it('an image says its stop signal if it is not one of all, and that it is a sidecar', () => {
    const { images } = imagesOf({
      'istio/proxyv2:1': { cmd: ['a'], stopSignal: 'sigusr1' },
      'web:1': { cmd: ['a'], stopSignal: '15' },
      'fluent/fluent-bit:1': { cmd: ['a'] },
    });
    assert.match(images, /"istio\/proxyv2:1": \{"cmd": \["a"\], "signal": \["USR1"\], "role": \["known"\]\}/);
    assert.match(images, /"web:1": \{"cmd": \["a"\]\}/);
    assert.match(images, /"fluent\/fluent-bit:1": \{"cmd": \["a"\], "role": \["known"\]\}/);
  });

  it('an image that starts something else on another platform has an entry for each', () => {
    const { images } = imagesOf({
      'two:1': { cmd: ['a'], platform: 'linux/amd64', platforms: { 'linux/arm64': { cmd: ['b'] } } },
      'same:1': { cmd: ['a'], platforms: { 'linux/arm64': { cmd: ['a'], user: 'b' } } },
    });
    assert.equal(
      images,
      '{\n  "same:1": {"cmd": ["a"]},\n  "two:1 on amd64": {"cmd": ["a"]},\n  "two:1 on arm64": {"cmd": ["b"]}\n}',
    );
  });

  it('the types of mixed values are hidden from CEL', () => {
    assert.equal(literal({ a: 'b', c: 'd' }), '{"a": "b", "c": "d"}');
    assert.equal(literal([{ a: 'b' }, { c: true, d: [1] }]), '[dyn({"a": "b"}), dyn({"c": dyn(true), "d": dyn([1])})]');
  });
});

describe('the command line of sexton inject -o policy', () => {
  const dir = temporaryDirectory();
  const many = Array.from({ length: 2_000 }, (_, at) => [`example.com/team/app-${at}:1`, { entrypoint: ['/app'] }]);
  for (const [name, images] of [
    ['lock', { app: { entrypoint: ['/app'] } }],
    ['none', {}],
    ['many', Object.fromEntries(many)],
  ] as const)
    writeFileSync(join(dir, `${name}.json`), JSON.stringify({ images }));
  const run = (...args: readonly string[]) => {
    const { status, stdout, stderr } = spawnSync(SEXTON, ['inject', ...args], { cwd: dir, encoding: 'utf8' });
    return { code: status, out: stdout, err: stderr };
  };
  const all = ['--image', 'example.com/sexton:1', '--images', 'lock.json', '-o', 'policy'];

  it('it prints the policy and no more', () => {
    const { code, out, err } = run(...all, '--deliver', 'init-container', '--strict');
    const images = new Map([['app:latest', { entrypoint: ['/app'] }]]);
    const image = 'example.com/sexton:1';
    assert.equal(out, policyText({ images, image, deliver: 'init-container', isStrict: true }));
    assert.deepEqual([code, err], [0, '']);
  });

  const wrong: readonly (readonly [string, readonly string[], RegExp])[] = [
    ['manifests', [...all, 'k8s/'], /-o policy: reads no manifests; leave out k8s\/$/m],
    ['--in-place', [...all, '--in-place'], /-o policy: reads no manifests; leave out --in-place$/m],
    ['--skip-unresolved', [...all, '--skip-unresolved'], /leave out --skip-unresolved$/m],
    ['no image of sexton', all.slice(2), /no image of sexton; write --image/],
    ['no lock', [...all.slice(0, 2), '-o', 'policy'], /-o policy: knows no image; write --images with an image lock/],
    ['an empty lock', all.with(3, 'none.json'), /knows no image/],
    ['a large lock', all.with(3, 'many.json'), /--images: the lock has 2000 images, which is more than a policy can/],
    ['--strict alone', [...all.slice(0, 4), '--strict', 'k8s/'], /--strict: is for -o policy alone; leave it out/],
  ];
  for (const [what, args, message] of wrong)
    it(`${what} makes it exit with 125, with the remedy`, () => {
      const { code, out, err } = run(...args);
      assert.deepEqual([code, out], [125, '']);
      assert.match(err, message);
    });
});
