/**
 * A hand in the nodes: a pod that sees the processes of its node and may signal them. An operator or the kernel signals
 * them in this way, from outside of all containers.
 */
import type { TestContext } from 'node:test';
import { imageNames } from './images.ts';
import { type ClusterPod, startPod } from './pod.ts';

export interface Hands {
  /** Sends a signal to the process of that pod's container whose program and place in it are described. */
  kill(pod: ClusterPod, container: string, which: 'init' | 'supervisor' | 'command'): Promise<void>;
}

export async function takeHands(t: TestContext): Promise<Hands> {
  const container = {
    name: 'hands',
    image: imageNames().plain,
    imagePullPolicy: 'Never',
    command: ['sh', '-c', "trap 'exit 0' TERM; while :; do sleep 3600 & wait $!; done"],
    securityContext: { privileged: true },
  };
  const hands = await startPod(t, 'hands', {
    hostPID: true,
    terminationGracePeriodSeconds: 1,
    tolerations: [{ operator: 'Exists' }],
    containers: [container],
  });
  await hands.untilPhase('Running');
  const inNode = (script: string): Promise<string> => hands.exec('hands', 'sh', '-c', script);
  return {
    kill: async (pod, container, which) => {
      const id = await pod.until(`${container} has an id`, () => idOf(pod, container));
      const found = (await inNode(`${PROCESSES} ${id} | ${ONLY[which]}`)).trim();
      // Nothing else in the node may be hit.
      if (!/^\d+$/.test(found)) throw new Error(`the ${which} of ${container} is not one process: '${found}'`);
      await inNode(`kill -KILL ${found}`);
    },
  };
}

function idOf(pod: ClusterPod, container: string): string | undefined {
  return /[0-9a-f]{64}$/.exec(pod.findStatus(container)?.containerID ?? '')?.[0];
}

/** Followed by the id of a container, which is in the cgroup's path of each of its processes: their ids. */
const PROCESSES = 'of() { for d in /proc/[0-9]*; do grep -q "$1" $d/cgroup 2>/dev/null && basename $d; done; }; of';
const those = (condition: string): string => `while read p; do ${condition} && echo $p; done; true`;
const ONLY = {
  // PID 1 of its own namespace.
  init: those('[ "$(sed -n "s/^NSpid:.*[[:space:]]//p" /proc/$p/status)" = 1 ]'),
  supervisor: those('grep -q app/main.cjs /proc/$p/cmdline'),
  command: those('grep -q ^/member /proc/$p/cmdline'),
};
