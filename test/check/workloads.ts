export const WEB = '- name: web\n  image: example.com/web:1\n';

export function deployment(containers: string, spec = ''): string {
  return workload('apps/v1', 'Deployment', '  replicas: 2\n  selector: {matchLabels: {app: web}}\n', containers, spec);
}

export function job(containers: string, spec = ''): string {
  return workload('batch/v1', 'Job', '', containers, `restartPolicy: Never\n${spec}`);
}

function workload(apiVersion: string, kind: string, own: string, containers: string, spec: string): string {
  return `apiVersion: ${apiVersion}
kind: ${kind}
metadata: {name: web}
spec:
${own}  template:
    metadata: {labels: {app: web}}
    spec:
${indented(spec, 6)}      containers:
${indented(containers, 8)}`;
}

function indented(text: string, by: number): string {
  const lines = text.split('\n').filter((line) => line !== '');
  return lines.map((line) => `${' '.repeat(by)}${line}\n`).join('');
}

export const SERVICE = `---
apiVersion: v1
kind: Service
metadata: {name: web}
spec:
  selector: {app: web}
  ports: [{port: 80}]
`;

export function hooked(preStop: string, spec = '', image = 'example.com/web:1'): string {
  return deployment(`- name: web\n  image: ${image}\n  lifecycle: {preStop: ${preStop}}`, spec);
}

export function under(flags: string, spec = '', more = '', image = 'example.com/web:1'): string {
  const command = `[/sexton/sexton, run, ${flags}, --, /bin/server]`;
  return deployment(`- name: web\n  image: ${image}\n  command: ${command}\n${more}`, spec);
}

export function started(command: string, image = 'debian:12', spec = ''): string {
  return deployment(`- name: web\n  image: ${image}\n  command: ${command}`, spec);
}

export function budget(spec: string): string {
  return `---\napiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: web}\nspec: {selector: {matchLabels: {app: web}}, ${spec}}\n`;
}

/** A pod in JSON on one line. */
export function podJson(container: object, spec: object = {}, indent?: number | string): string {
  const containers = [{ name: 'web', image: 'debian:12', ...container }];
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web' }, spec: { containers, ...spec } };
  return JSON.stringify(pod, null, indent);
}

export function asCronJob(text: string): string {
  return text
    .replace('apiVersion: apps/v1\nkind: Deployment', 'apiVersion: batch/v1\nkind: CronJob')
    .replace(/spec:\n[\s\S]*? {2}template:\n([\s\S]*?)(?=---|$)/, (_, template: string) => {
      const deeper = template.replaceAll(/^(?=.)/gm, '    ');
      return `spec:\n  schedule: "* * * * *"\n  jobTemplate:\n    spec:\n      template:\n${deeper}`;
    });
}
