/** Predicted stops to look at: of one workload that has all that can be drawn, and of all examples of the rules. */
import { check } from '../../src/check/check.ts';
import { checkPage, workloadSvg } from '../../src/check/formats/pictures.ts';
import { BAD_YAML } from './rules.ts';
import { deployment } from './workloads.ts';

const BUSY = deployment(
  `- name: web
  image: example.com/web:1
  lifecycle: {preStop: {sleep: {seconds: 35}}}
- {name: ui-with-a-name-as-long-as-a-name-may-ever-be-in-kubernetes-abc, image: "debian:12", command: [sh, -c, "prepare && serve"]}
- name: api
  image: example.com/api:1
  command: [/sexton/sexton, run, --name, api, --graveyard, /graveyard, --drain, 10s, --stop, "TERM:5s,KILL", --, /bin/server]
- name: proxy
  image: example.com/proxy:1
  command: [/sexton/sexton, run, --name, proxy, --role, sidecar, --mains, api, --graveyard, /graveyard, --, /bin/proxy]`,
  'initContainers: [{name: envoy, image: "example.com/envoy:1", restartPolicy: Always}]\n',
);
const QUIET = deployment('- {name: web, image: "nginx:1.29"}');
const ALL = BAD_YAML.join('---\n');

async function resultOf(text: string) {
  return check([{ path: 'shop/web.yaml', text }]);
}

async function pictureOf(text: string): Promise<string> {
  const result = await resultOf(text);
  const [only] = result.workloads;
  if (only === undefined) throw new Error('no workload');
  return workloadSvg(only, result);
}

export const CHECK_DOCUMENTS: Readonly<Record<string, string>> = {
  'check-busy.svg': await pictureOf(BUSY),
  'check-quiet.svg': await pictureOf(QUIET),
  'check-busy.html': checkPage(await resultOf(BUSY)),
  'check-all.html': checkPage(
    await check([
      { path: 'all.yaml', text: ALL },
      { path: 'dir/broken.yaml', text: 'a: [\n' },
      { path: 'Dockerfile', text: 'FROM debian:12\nCMD nginx\n' },
    ]),
  ),
};
