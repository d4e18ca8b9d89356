/**
 * SX202 to SX205: which signal the platform sends, and whether it is the one that ends the program gracefully.
 */
import { presetNamed } from '../../config/notation/stop-presets.ts';
import { ladderOf } from '../../core/ladder.ts';
import { SIGTERM, signalName, signalNumber } from '../../core/signals.ts';
import { insertKey, replaceValue } from '../edits.ts';
import { at } from '../input/located.ts';
import { gracefulSignalOf, wordAt } from '../stop/plan.ts';
import { nameOf, placeOf } from './common.ts';
import { deployment } from './examples.ts';
import type { Found, Rule } from './rule.ts';
import { withFlag } from './sexton-flags.ts';

export const STOP_SIGNAL_RULES: readonly Rule[] = [
  {
    id: 'SX202',
    severity: 'warning',
    title: 'The program cuts its requests on the signal that it gets',
    why: 'Some servers end at once on TERM and gracefully on another signal. The kubelet sends the STOPSIGNAL of the image, else TERM.',
    remedy: 'Declare the signal: STOPSIGNAL in the image, lifecycle.stopSignal in the pod, or sexton with --stop auto.',
    language: 'yaml',
    bad: deployment('- name: web\n  image: alpine:3.20\n  command: [nginx, -g, daemon off;]'),
    good: deployment('- name: web\n  image: nginx:1.29\n  command: [nginx, -g, daemon off;]'),
    on: 'workload',
    find: ({ workload: { pod }, view }) =>
      view.containers.flatMap((one): Found[] => {
        const { container, stopSignal, sexton, programArgs, program } = one;
        const graceful = gracefulSignalOf(program, container.image);
        const signal = signalNumber(stopSignal ?? '');
        // TERM to a postgres waits for its clients, INT, which its image declares, ends their sessions: both are meant.
        if (graceful === undefined || signal === undefined || graceful.preset === 'postgres') return [];
        const config = sexton?.run?.member;
        const gets = config === undefined ? signal : (ladderOf(config, signal)[0].signal ?? SIGTERM);
        const warning = presetNamed(graceful.preset).warning?.({
          args: programArgs,
          budgetMs: pod.graceSeconds * 1_000,
        });
        const isWrong = gets !== signalNumber(graceful.signal);
        const isUwsgi = graceful.preset === 'uwsgi' && warning !== undefined;
        if (!isWrong && !isUwsgi) return [];
        return [
          {
            place: placeOf(
              pod,
              at(container.node, 'lifecycle', 'stopSignal') ??
                wordAt(container, 0) ??
                at(container.node, 'image') ??
                container.node,
            ),
            message: isWrong
              ? `${nameOf(container)}: ${program} gets ${signalName(gets)}, on which it cuts its requests; it ends gracefully on SIG${graceful.signal}`
              : `${nameOf(container)}: ${warning}`,
            container: container.name,
            atMs: view.timeline.containers.find(({ name }) => name === container.name)?.told.minMs ?? 0,
          },
        ];
      }),
  },
  {
    id: 'SX203',
    severity: 'error',
    title: 'A stopSignal that the API server refuses',
    why: 'lifecycle.stopSignal needs spec.os.name and a name that begins with SIG; on Windows only SIGTERM and SIGKILL are allowed.',
    remedy: 'Write os: {name: linux} in the spec of the pod, and the whole name of the signal.',
    language: 'yaml',
    bad: deployment('- name: web\n  image: example.com/web:1\n  lifecycle: {stopSignal: SIGQUIT}'),
    good: deployment(
      '- name: web\n  image: example.com/web:1\n  lifecycle: {stopSignal: SIGQUIT}',
      'os: {name: linux}\n',
    ),
    isFixable: true,
    on: 'workload',
    find: ({ workload: { pod } }) =>
      pod.containers.flatMap((container): Found[] => {
        const { stopSignal } = container;
        const node = at(container.node, 'lifecycle', 'stopSignal');
        if (stopSignal === undefined || node === undefined) return [];
        const common = { place: placeOf(pod, node), container: container.name };
        const what = `${nameOf(container)}: stopSignal ${stopSignal}`;
        if (pod.os === 'linux') {
          const number = signalNumber(stopSignal);
          if (number === undefined) return [{ ...common, message: `${what} is no signal` }];
          if (stopSignal.startsWith('SIG')) return [];
          const name = signalName(number);
          const message = `${what} is refused by the API server, which wants ${name}`;
          return [{ ...common, message, edits: [replaceValue(pod.source, node, name)] }];
        }
        if (pod.os === 'windows' && /^SIG(TERM|KILL)$/.test(stopSignal)) return [];
        const message = `${what} ${pod.os === undefined ? 'without spec.os.name' : `on ${pod.os}`} is refused by the API server`;
        return [{ ...common, message, edits: insertKey(pod.source, pod.spec, 'os', '{name: linux}') }];
      }),
  },
  {
    id: 'SX204',
    severity: 'warning',
    title: 'stopSignal on a cluster that may not know it',
    why: 'lifecycle.stopSignal is alpha from Kubernetes 1.33 on and off by default before 1.37: the field is dropped without a word, and the program gets the signal of its image.',
    remedy: 'Set STOPSIGNAL in the image as well, or switch the feature gate ContainerStopSignals on.',
    language: 'yaml',
    flags: ['--kubernetes-version', '1.35'],
    bad: deployment(
      '- name: web\n  image: example.com/web:1\n  lifecycle: {stopSignal: SIGQUIT}',
      'os: {name: linux}\n',
    ),
    good: deployment('- name: web\n  image: example.com/web:1', 'os: {name: linux}\n'),
    on: 'workload',
    find: ({ workload: { pod }, minor }) => {
      if (minor === undefined || minor >= 37) return [];
      return pod.containers.flatMap((container): Found[] => {
        const node = at(container.node, 'lifecycle', 'stopSignal');
        if (node === undefined) return [];
        return [
          {
            place: placeOf(pod, node),
            message: `${nameOf(container)}: stopSignal has no effect on Kubernetes 1.${minor} unless the gate ContainerStopSignals is on`,
            container: container.name,
          },
        ];
      });
    },
  },
  {
    id: 'SX205',
    severity: 'error',
    title: 'The stop signal of the image is no stop request for sexton',
    why: 'The kubelet sends the STOPSIGNAL of the image. sexton passes a signal that is none of its --stop-signals on as any other: there is no drain, no order and no ladder.',
    remedy: 'Add the signal to --stop-signals, or let --stop auto do so.',
    language: 'yaml',
    bad: deployment(
      `- name: web\n  image: nginx:1.29\n  command: [/sexton/sexton, run, --drain, 5s, --, nginx, -g, daemon off;]`,
    ),
    good: deployment(
      `- name: web\n  image: nginx:1.29\n  command: [/sexton/sexton, run, --stop, auto, --drain, 5s, --, nginx, -g, daemon off;]`,
    ),
    isFixable: true,
    on: 'workload',
    find: ({ workload: { pod }, view }) =>
      view.containers.flatMap(({ container, sexton, stopSignal }): Found[] => {
        const config = sexton?.run?.member;
        const signal = signalNumber(stopSignal ?? '');
        if (config === undefined || signal === undefined || config.stopSignals.includes(signal)) return [];
        const name = signalName(signal);
        const all = [...config.stopSignals.map(signalName), name].map((one) => one.slice('SIG'.length));
        return [
          {
            place: placeOf(pod, wordAt(container, 0) ?? container.node),
            message: `${nameOf(container)}: the platform sends ${name}, which is no stop request for sexton; its drain and order are skipped`,
            container: container.name,
            atMs: 0,
            edits: withFlag(pod, container, '--stop-signals', all.join(',')),
          },
        ];
      }),
  },
];
