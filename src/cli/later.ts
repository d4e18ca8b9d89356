/**
 * What is designed but not in this version: refused by name, with what to use until then. Never ignored, since a hook or
 * a probe that silently does nothing is found out during an outage.
 */

export interface Later {
  /** Names of flags, without dashes. */
  readonly flags: readonly string[];
  /** Keys of a configuration file. */
  readonly fileKeys: readonly string[];
  readonly use: string;
}

export const LATER: readonly Later[] = [
  {
    flags: ['startup', 'readiness', 'liveness'],
    fileKeys: ['startup', 'readiness', 'liveness', 'startupProbe', 'readinessProbe', 'livenessProbe'],
    use: 'use the probes of the Pod, which the kubelet runs',
  },
  {
    flags: ['pre-stop'],
    fileKeys: ['preStop'],
    use: "use --drain for a delay, or the Pod's own lifecycle.preStop",
  },
  {
    flags: ['post-start'],
    fileKeys: ['postStart'],
    use: "use the Pod's own lifecycle.postStart",
  },
  {
    flags: [],
    fileKeys: ['lifecycle'],
    use: "use drain for a delay, or the Pod's own lifecycle",
  },
];

/** The remedy for a flag that is not there yet; `undefined`: no such flag is planned. */
export function laterFlag(name: string): string | undefined {
  const later = LATER.find(({ flags }) => flags.includes(name));
  return later && `not in this version; ${later.use}`;
}

export function laterFileKey(key: string): string | undefined {
  const later = LATER.find(({ fileKeys }) => fileKeys.includes(key));
  return later && `not in this version; ${later.use}`;
}
