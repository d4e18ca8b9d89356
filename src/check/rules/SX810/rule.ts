import { at, itemsAt, textAt, wholeAt } from '../../input/located.ts';
import { type Container, givenWords } from '../../input/pod.ts';
import { secondsText } from '../../stop/interval.ts';
import { drainOf } from '../../stop/plan.ts';
import { flagAt } from '../common.ts';
import { ofContainer } from '../rule.ts';

export const rule = ofContainer({
  severity: 'info',
  title: '--idle-when asks a port that no container declares',
  why: 'No answer counts as busy, so a drain that asks a port where nothing listens takes its longest time. Ports need not be declared, so the port may be right.',
  remedy: 'Correct the port in --idle-when, or declare it in the ports of its container.',
  *find({ container, pod, member, programArgs }) {
    const action = member?.idleWhen?.action;
    if (member === undefined || action?.kind !== 'gauge' || !/^(127\.|::1$|localhost$)/.test(action.call.host)) return;
    const { port } = action.call;
    // A container without any may listen anywhere.
    const declared = pod.containers.map(({ node }) => itemsAt(node, 'ports'));
    if (declared.some((ports) => ports.length === 0 || ports.some((one) => wholeAt(one, 'containerPort') === port)))
      return;
    const words = pod.containers.flatMap((one) => (one === container ? programArgs : givenWords(one)));
    const said = [...words, ...pod.containers.flatMap(otherTexts)].join(' ');
    if (new RegExp(`(?<!\\d)${port}(?!\\d)`).test(said)) return;
    yield { at: flagAt(container, '--idle-when'), port, atMs: drainOf(member).maxMs };
  },
  say: ({ port, atMs }) =>
    `--idle-when asks port ${port}, which no container of the pod declares; if nothing listens there, the drain takes ${secondsText(atMs)}`,
});

/** Where else a port may be named; a value that comes from somewhere else is none. */
function otherTexts({ env, node }: Container): readonly string[] {
  const probes = ['startupProbe', 'readinessProbe', 'livenessProbe'].flatMap((probe) =>
    ['httpGet', 'tcpSocket', 'grpc'].map((kind) => textAt(at(node, probe, kind), 'port') ?? ''),
  );
  return [...[...env.values()].map((value) => value ?? ''), ...probes];
}
