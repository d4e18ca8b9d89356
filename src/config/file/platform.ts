/**
 * Fields of a container in a Pod that only the platform can act on. A field without influence on how the command runs
 * may stand in a configuration file, because whole containers are pasted there; one warning names them. A field with
 * influence is refused: its author would expect sexton to act on it.
 */
export const PLATFORM_KEYS: readonly string[] = [
  ...['image', 'imagePullPolicy', 'resources', 'resizePolicy', 'volumeMounts', 'volumeDevices', 'securityContext'],
  ...['stdin', 'stdinOnce', 'tty', 'terminationMessagePolicy'],
];

export const REFUSED_KEYS: Readonly<Record<string, string>> = {
  env: 'belongs to the platform, sexton sets no variables; leave it in the Pod',
  envFrom: 'belongs to the platform, sexton sets no variables; leave it in the Pod',
  workingDir: 'belongs to the platform, the command starts where sexton does; leave it in the Pod',
};

export function platformWarnings(path: string, keys: readonly string[]): readonly string[] {
  if (keys.length === 0) return [];
  const them = keys.length === 1 ? 'it' : 'them';
  return [`${keys.join(', ')} in ${path}: ignored here, only the platform acts on ${them}; keep ${them} in the Pod`];
}
