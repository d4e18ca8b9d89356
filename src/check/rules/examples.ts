/**
 * Manifests of the examples: what a rule is not about is the same in all.
 */

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

export const SERVICE = `---
apiVersion: v1
kind: Service
metadata: {name: web}
spec:
  selector: {app: web}
  ports: [{port: 80}]
`;

/** The beginning of a container's command line under sexton. */
export function sexton(flags: string): string {
  return `command: [/sexton/sexton, run, ${flags}, --, /bin/server]`;
}

function indented(text: string, by: number): string {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => `${' '.repeat(by)}${line}\n`)
    .join('');
}
