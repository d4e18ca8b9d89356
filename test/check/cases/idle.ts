import { deployment } from '../workloads.ts';
import type { Cases } from './case.ts';

const PORTS = '  ports: [{containerPort: 8000}]\n';
const GRACE = 'terminationGracePeriodSeconds: 600\n';
const container = (flags: string, server: string, more = '', image = 'example.com/llm:1'): string =>
  `- name: llm\n  image: "${image}"\n  command: [/sexton/sexton, run, ${flags}--, ${server}]\n${more}`;
const under = (flags: string, server: string, more = '', image?: string): string =>
  deployment(container(`${flags}--grace-period, 600s, `, server, more, image), GRACE);
const asking = (port: number, more = PORTS, server = '/bin/server'): string =>
  under(`--idle-when, "http://:${port}/idle", `, server, more);
const beside = (more: string): string =>
  asking(8001).replace(
    /(?<=containerPort: 8000}\]\n)/,
    `        - {name: proxy, image: "example.com/proxy:1"${more}}\n`,
  );
const preset = (name: string, server: string, more = '', image?: string): string =>
  under(`--idle-when, "preset:${name}", `, server, more, image);
const SCRIPT = '/bin/sh, -c, "fetch; serve; true"';
const IMAGES = {
  vllm: 'vllm/vllm-openai:v0.10.1',
  sglang: 'docker.io/lmsysorg/sglang:latest',
  tgi: 'ghcr.io/huggingface/text-generation-inference:3.3',
  'llama.cpp': 'ghcr.io/ggml-org/llama.cpp:server',
} as const;

export const IDLE_CASES: Cases = {
  SX810: {
    'a port that no container declares': [
      asking(8001),
      /^info @598000 \["http:\/\/:8001\/idle"\] llm: --idle-when asks port 8001, which no container .*; if nothing listens there, the drain takes 598 s$/,
    ],
    'a port of a longer number': [asking(8001, PORTS, '/bin/server, --port=18001'), /^info /],
    'a declared port': asking(8000),
    'ports that nothing declares': asking(8001, ''),
    'a port that a sidecar declares': beside(', ports: [{containerPort: 8001}]'),
    'a sidecar that declares other ports': [beside(', ports: [{containerPort: 9000}]'), /^info /],
    'a sidecar that declares no ports': beside(''),
    'a sidecar whose arguments name the port': beside(', args: ["--listen=:8001"], ports: [{containerPort: 9000}]'),
    'a sidecar whose command names the port': beside(', command: [p, "8001"], ports: [{containerPort: 9000}]'),
    'a server whose arguments name the port': asking(8001, PORTS, '/bin/server, --metrics-port, "8001"'),
    'an environment that names the port': asking(8001, `${PORTS}  env: [{name: METRICS, value: ":8001"}]\n`),
    'an environment that comes from somewhere else': [
      asking(8001, `${PORTS}  env: [{name: METRICS, valueFrom: {configMapKeyRef: {name: a, key: b}}}]\n`),
      /^info /,
    ],
    'a probe that asks the port': asking(8001, `${PORTS}  readinessProbe: {httpGet: {port: 8001}}\n`),
    'a server somewhere else': under('--idle-when, "http://queue:8001/idle", ', '/bin/server', PORTS),
    'a server whose name looks like loopback': under('--idle-when, "http://a127.b:8001/idle", ', '/bin/server', PORTS),
    'an IPv6 loopback address': [under('--idle-when, "http://[::1]:8001/idle", ', '/bin/server', PORTS), /^info /],
    'localhost by name': [under('--idle-when, "http://localhost:8001/idle", ', '/bin/server', PORTS), /^info /],
    'a command that is asked': under('--idle-when, "exec:test 8001", ', '/bin/server', PORTS),
  },
  SX811: {
    'the preset of another server': [
      preset('tgi', 'vllm, serve, model'),
      /^warning @598000 \["preset:tgi"\] llm: --idle-when asks for metrics, those of tgi, and the server is vllm: the drain takes 598 s each time$/,
    ],
    'the preset of another image, whose server is behind a shell': [
      preset('tgi', SCRIPT, '', IMAGES.vllm),
      /^warning .*the server is vllm/,
    ],
    'an image of another server whose command is known': preset('vllm', 'vllm, serve', '', IMAGES.tgi),
    'an image of another server whose command is not known': preset('tgi', '/bin/server', '', IMAGES.vllm),
    'its own preset behind a shell': preset('llama.cpp', SCRIPT, '', IMAGES['llama.cpp']),
    'a module of Python': [
      preset('tgi', 'python3, -m, vllm.entrypoints.openai.api_server, --model, a'),
      /the server is vllm/,
    ],
    'another command of the same program': preset('tgi', 'vllm, bench'),
    'metrics of its own': under('--idle-when, "http://:1/metrics,metric=busy", ', 'vllm, serve'),
    'a command that is asked': under('--idle-when, "exec:is-idle", ', 'vllm, serve'),
    'sglang without its metrics': [
      preset('sglang', 'python3, -m, sglang.launch_server'),
      /^warning .*those of sglang, which serves them with --enable-metrics only/,
    ],
    'sglang with its metrics': preset('sglang', 'python3, -m, sglang.launch_server, --enable-metrics'),
    'sglang with a file of settings': preset('sglang', 'python3, -m, sglang.launch_server, --config, a.yaml'),
    'llama.cpp without its metrics': [preset('llama.cpp', 'llama-server, -m, a'), /with --metrics only/],
    'llama.cpp with its metrics by a variable': preset(
      'llama.cpp',
      'llama-server, -m, a',
      '  env: [{name: LLAMA_ARG_ENDPOINT_METRICS, value: "1"}]\n',
    ),
    'tgi, which always has metrics': preset('tgi', 'text-generation-launcher, --model-id, a'),
  },
  SX812: {
    'vllm that nothing asks': [
      under('', 'vllm, serve, model'),
      /^info @- \[\/sexton\/sexton\] llm: nothing asks vllm whether it is idle .*; write --idle-when preset:vllm \(fix\)$/,
      'run, "--idle-when=preset:vllm", --grace-period',
    ],
    'a drain by connections': [under('--drain, inflight, ', 'vllm, serve'), /preset:vllm \(fix\)$/],
    'a fixed drain': [under('--drain, 5s, ', 'vllm, serve'), /preset:vllm in place of a fixed drain$/, false],
    'a port of its own': [
      under('', 'vllm, serve, model, --port, "8080"'),
      /preset:vllm:8080 \(fix\)$/,
      '"--idle-when=preset:vllm:8080"',
    ],
    'a port of its own with an equals sign': [under('', 'vllm, serve, --port=8080', PORTS), /preset:vllm:8080 /],
    'the only declared port': [
      under('', 'text-generation-launcher', '  ports: [{containerPort: 80}]\n'),
      /preset:tgi:80 /,
    ],
    'the port of the official image': [under('', 'text-generation-launcher', '', IMAGES.tgi), /preset:tgi:80 /],
    'the default port as a flag': [under('', 'vllm, serve, --port, "8000"'), /preset:vllm \(fix\)$/],
    'one of several declared ports': [
      under('', 'text-generation-launcher', '  ports: [{containerPort: 80}, {containerPort: 81}]\n'),
      /preset:tgi \(fix\)$/,
    ],
    'a server whose metrics are off': [
      under('', 'python3, -m, sglang.launch_server'),
      /preset:sglang, which needs --enable-metrics for sglang$/,
      false,
    ],
    'a server whose metrics are on': [
      under('', 'llama-server, --metrics'),
      /preset:llama\.cpp \(fix\)$/,
      '"--idle-when=preset:llama.cpp"',
    ],
    'a server without a grace period': [deployment(container('', 'vllm, serve')), /preset:vllm$/, false],
    'the image of a server behind a shell': [under('', SCRIPT, '', IMAGES.sglang), /preset:sglang \(fix\)$/],
    'the image of a server that runs something else': under('', 'python3, a.py', '', IMAGES.vllm),
    'a server that is asked': under('--idle-when, "file:/run/busy", ', 'vllm, serve'),
    'a server without sexton': deployment('- {name: llm, image: "a/b:1", command: [vllm, serve]}\n'),
    'another server': under('--drain, 5s, ', '/bin/server'),
  },
};
