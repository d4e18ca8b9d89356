/**
 * Says which package of Debian a file or a compiler comes from. Elsewhere than on Debian and what is made from it there
 * is no dpkg, and a bill of materials has such files without a package.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

export interface DebianPackage {
  readonly name: string;
  readonly version: string;
  readonly arch: string;
}

/** `path`: without links. */
export function packageOf(path: string): DebianPackage | undefined {
  // dpkg knows the path that a package was built with, which may be from before /lib became a link to /usr/lib.
  const places = [path, path.replace(/^\/usr(?=\/lib)/, '')];
  const owner = /^(\S+?): /.exec(ask('--search', ...places))?.[1];
  return owner === undefined ? undefined : packageNamed(owner);
}

export function packageNamed(name: string): DebianPackage | undefined {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: dpkg-query expands it.
  const answer = ask('--show', '--showformat', '${Package} ${Version} ${Architecture}\n', name);
  const [, found, version, arch] = /^(\S+) (\S+) (\S+)\n/.exec(answer) ?? [];
  return found && version && arch ? { name: found, version, arch } : undefined;
}

/** https://github.com/package-url/purl-spec: all but a colon is percent-encoded. */
export function purlOf({ name, version, arch }: DebianPackage): string {
  const release = readFileSync('/etc/os-release', 'utf8');
  const [id, versionId] = ['ID', 'VERSION_ID'].map((key) => new RegExp(`^${key}="?([^"\\n]*)`, 'm').exec(release)?.[1]);
  const distro = versionId ? `&distro=${id}-${versionId}` : '';
  return `pkg:deb/${id}/${encoded(name)}@${encoded(version)}?arch=${arch}${distro}`;
}

/** Without epoch and Debian's own revision. */
export function upstreamVersion({ version }: DebianPackage): string {
  return version.replace(/^\d+:/, '').replace(/-[^-]*$/, '');
}

const encoded = (text: string): string => encodeURIComponent(text).replaceAll('%3A', ':');

/** What it could answer: it fails where one of several paths is unknown. */
function ask(...args: readonly string[]): string {
  return spawnSync('dpkg-query', args, { encoding: 'utf8', env: { ...process.env, LC_ALL: 'C' } }).stdout ?? '';
}
