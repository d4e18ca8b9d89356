import type { AdaptiveDrain } from '../../../core/config.ts';
import { sidecarPorts } from '../../../core/lifecycle/stop/drain.ts';
import { at, itemsAt, type Located, textAt, wholeAt } from '../../input/located.ts';
import type { Container } from '../../input/pod.ts';
import { secondsText } from '../../stop/interval.ts';
import { drainOf } from '../../stop/plan.ts';
import { ofContainer } from '../rule.ts';

const DEFAULT_PERIOD_SECONDS = 10;

export const rule = ofContainer({
  severity: 'warning',
  title: 'A readiness probe keeps the drain awake until its longest time',
  why: 'The kubelet goes on with readiness probes while a pod stops. Each is a new connection, and a drain that waits until none has come for quiet never sees that where they come as often.',
  remedy:
    "Let the probe come less often than quiet, or ask sexton's --http port or one that is not in ports=; or write ignore= with the node's address, where no clients come from it.",
  *find({ container, pod, sexton, member }) {
    const http = sexton?.run?.http;
    if (member?.drain?.kind !== 'adaptive' || pod.isOnHostNetwork) return;
    const { drain } = member;
    const own = [...sidecarPorts(member), ...(http?.address.kind === 'tcp' ? [http.address.port] : [])];
    for (const probed of pod.containers) {
      const probe = at(probed.node, 'readinessProbe');
      const port = portOf(probe, probed);
      const everyMs = (wholeAt(probe, 'periodSeconds') ?? DEFAULT_PERIOD_SECONDS) * 1_000;
      if (probe === undefined || port === undefined || own.includes(port)) continue;
      if (!counts(drain, port) || everyMs > drain.quietMs) continue;
      const whose = probed === container ? 'its' : `${probed.name}'s`;
      yield { at: probe, atMs: drainOf(member).maxMs, whose, port, everyMs, drain };
    }
  },
  say: ({ whose, port, everyMs, drain }) =>
    `${whose} readiness probe on port ${port} comes every ${secondsText(everyMs)}, so the drain, which waits for ${secondsText(drain.quietMs)} without connections, takes ${secondsText(drain.maxMs)} each time`,
});

/** Where it connects to; undefined: it does not, or not to this pod, or to a port that is not known. */
function portOf(probe: Located | undefined, { node }: Container): number | undefined {
  const action = ['httpGet', 'tcpSocket', 'grpc'].map((kind) => at(probe, kind)).find((one) => one !== undefined);
  if (textAt(action, 'host') !== undefined) return undefined;
  const text = textAt(action, 'port') ?? '';
  const named = itemsAt(node, 'ports').find((one) => textAt(one, 'name') === text);
  return /^\d+$/.test(text) ? Number(text) : wholeAt(named, 'containerPort');
}

/** A manifest does not show which addresses `ignore=` has to name: usually the node's. */
function counts({ ports, ignore }: AdaptiveDrain, port: number): boolean {
  return ignore.length === 0 && (ports.length === 0 || ports.includes(port));
}
