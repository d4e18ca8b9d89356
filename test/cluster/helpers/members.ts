/**
 * Specifications of pods whose containers run sexton and, under it, the fixture application `test/fixtures/member.c`.
 * All declare the restart policy, grace period and uid of their pod. An observer beside them reports what they do and
 * what their tombstones say.
 */
import { imageNames } from './images.ts';
import type { ContainerSpec, PodSpec } from './objects.ts';

export const OBSERVER = 'observer';

export interface MemberSpec {
  readonly name: string;
  /** Flags of sexton besides those that the pod declares. */
  readonly flags?: readonly string[];
  /** Keys of the fixture application. */
  readonly does?: Readonly<Record<string, string | number>>;
  /** In place of the fixture application. */
  readonly command?: readonly string[];
  /** Fields of the container. */
  readonly more?: Readonly<Record<string, unknown>>;
  /** The command alone, without sexton. */
  readonly bare?: boolean;
  readonly env?: Readonly<Record<string, string>>;
}

export interface MembersSpec {
  readonly restartPolicy?: 'Always' | 'OnFailure' | 'Never';
  readonly graceSeconds?: number;
  /** False: it is not declared to the members. */
  readonly declareGrace?: boolean;
  readonly members: readonly MemberSpec[];
  /** The medium of the graveyard. */
  readonly medium?: 'Memory';
  /** Fields of the pod. */
  readonly more?: Readonly<Record<string, unknown>>;
}

/** The flags of a sidecar of `main`. */
export const SIDECAR: readonly string[] = ['--role', 'sidecar', '--mains', 'main'];

export function podOf(spec: MembersSpec): PodSpec {
  const { restartPolicy = 'Never', graceSeconds = 30, medium, more } = spec;
  const { initContainers = [], volumes = [], ...fields } = (more ?? {}) as Partial<PodSpec>;
  return {
    restartPolicy,
    terminationGracePeriodSeconds: graceSeconds,
    initContainers: [observer(), ...initContainers],
    containers: spec.members.map((member) => memberContainer(member, spec)),
    volumes: [
      { name: 'graveyard', emptyDir: medium === undefined ? {} : { medium, sizeLimit: '1Mi' } },
      { name: 'log', emptyDir: {} },
      ...volumes,
    ],
    ...fields,
  };
}

/** `/member` with its keys; it logs what happens to it in the log of the pod. */
export function memberCommand(name: string, does: MemberSpec['does'] = {}): string[] {
  return ['/member', ...Object.entries({ name, log: '/log/events', ...does }).map(([key, value]) => `${key}=${value}`)];
}

export const MOUNTS = [
  { name: 'graveyard', mountPath: '/graveyard' },
  { name: 'log', mountPath: '/log' },
];

export const SESSION = { name: 'SEXTON_POD_UID', valueFrom: { fieldRef: { fieldPath: 'metadata.uid' } } };

function memberContainer(member: MemberSpec, pod: MembersSpec): ContainerSpec {
  const { name, flags = [], does, bare = false, env = {}, more = {} } = member;
  const { restartPolicy = 'Never', graceSeconds = 30, declareGrace = true } = pod;
  const declared = ['--name', name, '--restart-policy', restartPolicy];
  if (declareGrace) declared.push('--grace-period', `${graceSeconds}s`);
  const command = member.command ?? memberCommand(name, does);
  return {
    name,
    image: imageNames().whole,
    imagePullPolicy: 'Never',
    command: bare ? command : ['/sexton/sexton', 'run', ...declared, ...flags, '--', ...command],
    env: [SESSION, ...Object.entries(env).map(([key, value]) => ({ name: key, value }))],
    volumeMounts: MOUNTS,
    ...more,
  };
}

/** A native sidecar: it is started before all others, and asked to stop when all others have ended. */
function observer(): ContainerSpec {
  return {
    name: OBSERVER,
    image: imageNames().plain,
    imagePullPolicy: 'Never',
    command: ['/observer', '/log/events', '/graveyard'],
    restartPolicy: 'Always',
    volumeMounts: MOUNTS,
  };
}
