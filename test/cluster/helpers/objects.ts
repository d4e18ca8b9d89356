/** What is read and written of Kubernetes' objects; the rest passes through. */
import type { ApiObject } from './api.ts';

export interface ContainerSpec {
  readonly name: string;
  readonly image: string;
  readonly command?: readonly string[];
  readonly [field: string]: unknown;
}

export interface PodSpec {
  readonly containers: readonly ContainerSpec[];
  readonly initContainers?: readonly ContainerSpec[];
  readonly volumes?: readonly { readonly name: string; readonly [kind: string]: unknown }[];
  readonly restartPolicy?: 'Always' | 'OnFailure' | 'Never';
  readonly terminationGracePeriodSeconds?: number;
  readonly [field: string]: unknown;
}

export interface Terminated {
  readonly exitCode: number;
  readonly signal?: number;
  readonly reason?: string;
  readonly message?: string;
  readonly startedAt?: string;
  readonly finishedAt?: string;
}

export interface ContainerStatus {
  readonly name: string;
  readonly restartCount: number;
  readonly resources?: { readonly limits?: Readonly<Record<string, string>> };
  readonly ready: boolean;
  readonly started?: boolean;
  readonly containerID?: string;
  readonly state: {
    readonly running?: { readonly startedAt: string };
    readonly terminated?: Terminated;
    readonly waiting?: { readonly reason?: string; readonly message?: string };
  };
  readonly lastState: { readonly terminated?: Terminated };
}

export interface PodObject extends ApiObject {
  readonly spec: PodSpec & { readonly nodeName?: string };
  readonly status: {
    readonly phase: 'Pending' | 'Running' | 'Succeeded' | 'Failed' | 'Unknown';
    readonly reason?: string;
    readonly message?: string;
    readonly podIP?: string;
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
    readonly containerStatuses?: readonly ContainerStatus[];
    readonly initContainerStatuses?: readonly ContainerStatus[];
  };
}

/** The statuses of init containers and of containers. */
export function containerStatuses({ status }: PodObject): readonly ContainerStatus[] {
  return [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])];
}

export function isReady({ status }: PodObject): boolean {
  return status.conditions?.some((it) => it.type === 'Ready' && it.status === 'True') === true;
}
