import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { check } from '../../src/check/check.ts';
import { budget, deployment, SERVICE, WEB } from './workloads.ts';

const WORKLOAD = deployment(WEB);
const kustomization = (text: string): string => `kind: Kustomization\n${text}\n`;
const CHART = 'apiVersion: v2\nname: web\n';

/** Whether what stands in `service` meets the workload in `workload`. */
const CASES: Readonly<Record<string, readonly [workload: string, service: string, meets: boolean, around?: object]>> = {
  'in one directory': ['a/web.yaml', 'a/service.yaml', true],
  'in two directories': ['a/web.yaml', 'b/service.yaml', false],
  'in a directory below': ['a/web.yaml', 'a/b/service.yaml', false],
  'in the working directory': ['web.yaml', './service.yaml', true],
  'of one kustomization': [
    'base/web.yaml',
    'overlay/service.yaml',
    true,
    {
      'base/kustomization.yaml': kustomization('resources: [web.yaml]'),
      'overlay/kustomization.yml': kustomization('resources: [../base/, ./service.yaml]'),
    },
  ],
  'of a component': [
    'app/base/web.yaml',
    'app/components/service/service.yaml',
    true,
    {
      'app/base/kustomization.yaml': kustomization('resources: [web.yaml]'),
      'app/components/service/kustomization.yaml': 'resources: [service.yaml]\n',
      'app/kustomization.yaml': 'bases: [base]\ncomponents: [components/service]\n',
    },
  ],
  'of two overlays of one base': [
    'dev/web.yaml',
    'prod/service.yaml',
    false,
    {
      'base/kustomization.yaml': kustomization('resources: []'),
      'dev/kustomization.yaml': kustomization('resources: [../base, web.yaml]'),
      'prod/kustomization.yaml': kustomization('resources: [../base, service.yaml]'),
    },
  ],
  'in a directory whose kustomization leaves one out': [
    'a/web.yaml',
    'a/service.yaml',
    false,
    { 'a/kustomization.yaml': kustomization('resources: [web.yaml]') },
  ],
  'of a kustomization that names itself': [
    'a/web.yaml',
    'a/service.yaml',
    true,
    {
      'a/kustomization.yaml': kustomization('resources: [".", web.yaml]\npatches: [{path: service.yaml}, {patch: x}]'),
    },
  ],
  'of one chart': ['c/templates/web.yaml', 'c/charts/d/templates/service.yaml', true, { 'c/Chart.yaml': CHART }],
  'of the chart in the working directory': [
    'templates/a/web.yaml',
    'templates/service.yaml',
    true,
    { 'Chart.yaml': CHART },
  ],
  'of two charts': [
    'c/templates/web.yaml',
    'd/templates/service.yaml',
    false,
    { 'c/Chart.yaml': CHART, 'd/Chart.yaml': CHART },
  ],
};

describe('objects that are joined', () => {
  for (const [what, [workload, service, meets, around = {}]] of Object.entries(CASES))
    it(`a Service and a workload ${what} ${meets ? '' : 'do not '}meet`, async () => {
      const said = await messages({ [workload]: WORKLOAD, [service]: SERVICE, ...around });
      const named = said.filter((message) => message.includes(`Service web of ${service}`));
      assert.equal(named.length, meets ? 2 : 0, said.join('\n'));
    });

  const OTHERS: Readonly<Record<string, readonly [text: string, says: RegExp]>> = {
    'a disruption budget': [budget('minAvailable: 2'), /minAvailable 2 with 2 replicas/],
    'a scaler': [
      'apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: web}\nspec: {scaleTargetRef: {name: web}, minReplicas: 2}\n',
      /minAvailable 2 with 2 minReplicas/,
    ],
    'an Ingress': [
      'apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: web}\nspec: {defaultBackend: {service: {name: web}}}\n',
      /Service web of a\/web.yaml still sends/,
    ],
    'a ConfigMap': [
      'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\ndata: {SEXTON_DRAIN: nonsense}\n',
      /nonsense/,
    ],
  };
  for (const [what, [text, says]] of Object.entries(OTHERS))
    it(`${what} counts in the directory of the workload and in no other one`, async () => {
      const command = 'command: [/sexton/sexton, run, --, /bin/server]\n  envFrom: [{configMapRef: {name: web}}]';
      const headless = SERVICE.replace('spec:', 'spec:\n  clusterIP: None');
      const isBudget = what === 'a disruption budget';
      const workload = deployment(`- {name: other, image: "example.com/web:1"}\n${WEB}  ${command}`);
      const own = `${workload}${headless}${isBudget ? '' : budget('minAvailable: 2')}`;
      const beside = await messages({ 'a/web.yaml': own, 'a/other.yaml': text });
      assert.ok(
        beside.some((message) => says.test(message)),
        beside.join('\n'),
      );
      const elsewhere = await messages({ 'a/web.yaml': own, 'b/other.yaml': text });
      assert.ok(!elsewhere.some((message) => says.test(message)), elsewhere.join('\n'));
    });
});

async function messages(texts: object): Promise<readonly string[]> {
  const inputs = Object.entries(texts).map(([path, text]) => ({ path, text }));
  return (await check(inputs)).findings.map(({ message }) => message);
}
