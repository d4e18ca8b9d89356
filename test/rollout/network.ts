/**
 * A pod's network as it is in a cluster: three network namespaces on this machine. `cluster` has the load balancer and
 * all other clients outside of the pod, `pod` the server that is replaced, and `other` the one that stays. Counters of
 * connections are a namespace's own, so nothing of this machine's own traffic is in them.
 */
import { spawnSync } from 'node:child_process';

export interface Network {
  /** What comes before a command that is to run there. */
  readonly cluster: readonly string[];
  readonly pod: readonly string[];
  readonly other: readonly string[];
  remove(): void;
}

export const POD = '10.77.1.2';
export const OTHER = '10.77.2.2';
/** From where the load balancer connects to the pod. */
export const BALANCER = '10.77.1.1';
/** From where the kubelet does. */
export const NODE_ADDRESS = '10.77.1.9';

/** Throws what `ip` said when there may be no namespaces here. */
export function makeNetwork(): Network {
  made += 1;
  const names = ['c', 'p', 'o'].map((part) => `sx-${process.pid}-${made}${part}`);
  const [cluster = '', pod = '', other = ''] = names;
  const remove = (): void => {
    // What runs in it ends before; a namespace goes with its interfaces.
    for (const name of names) spawnSync('ip', ['netns', 'del', name]);
  };
  try {
    for (const name of names) ip('netns', 'add', name);
    for (const name of names) ip('-n', name, 'link', 'set', 'lo', 'up');
    join(cluster, 'pod', [BALANCER, NODE_ADDRESS], pod, POD);
    join(cluster, 'other', ['10.77.2.1'], other, OTHER);
  } catch (error) {
    remove();
    throw error;
  }
  return { cluster: inside(cluster), pod: inside(pod), other: inside(other), remove };
}

let made = 0;

function join(near: string, device: string, addresses: readonly string[], far: string, address: string): void {
  ip('link', 'add', device, 'netns', near, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', far);
  for (const it of addresses) ip('-n', near, 'address', 'add', `${it}/24`, 'dev', device);
  ip('-n', far, 'address', 'add', `${address}/24`, 'dev', 'eth0');
  ip('-n', near, 'link', 'set', device, 'up');
  ip('-n', far, 'link', 'set', 'eth0', 'up');
  ip('-n', far, 'route', 'add', 'default', 'via', addresses[0] ?? '');
}

function inside(name: string): readonly string[] {
  return ['nsenter', `--net=/run/netns/${name}`];
}

function ip(...args: string[]): void {
  const { status, stderr, error } = spawnSync('ip', args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`cannot make a network: ip ${args.join(' ')}: ${error?.message ?? stderr.trim()}`);
}
