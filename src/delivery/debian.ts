/**
 * Says which package of Debian a file or a compiler comes from. Elsewhere than on Debian and what is made from it there
 * is no dpkg, and a bill of materials has such files without a package.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { placeContent, readIfThere } from './place.ts';

export interface DebianPackage {
  readonly name: string;
  readonly version: string;
  readonly arch: string;
}

/** Those that the files are from, and those of these names, in the order of their names. `paths`: without links. */
export function debianPackages(paths: readonly string[], names: readonly string[]): DebianPackage[] {
  // dpkg knows the path that a package was built with, which may be from before /lib became a link to /usr/lib.
  const places = paths.flatMap((path) => [path, path.replace(/^\/usr(?=\/lib)/, '')]);
  const owners = [...ask('--search', ...places).matchAll(/^(\S+?): /gm)].map(([, owner = '']) => owner);
  // biome-ignore lint/suspicious/noTemplateCurlyInString: dpkg-query expands it.
  const answer = ask('--show', '--showformat', '${Package} ${Version} ${Architecture}\n', ...owners, ...names);
  const found = [...answer.matchAll(/^(\S+) (\S+) (\S+)$/gm)].map(([, name = '', version = '', arch = '']) => {
    return { name, version, arch };
  });
  return [...new Map(found.map((it) => [it.name, it])).values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** The package with the C library that this compiler links into init. */
export function libcOf(compiler: string, arch: string): string {
  const cross = arch === process.arch ? '' : `-${arch === 'x64' ? 'amd64' : arch}-cross`;
  return compiler.startsWith('musl') ? 'musl-dev' : `libc6-dev${cross}`;
}

/**
 * Lays the licences of these packages; what a package has for compilers is under that of the library itself. Elsewhere
 * than on Debian the distribution's own package says under which licence it is.
 */
export function layLicenses(directory: string, packages: Iterable<string>): void {
  for (const name of new Set([...packages].map((it) => it.replace(/-dev.*$/, '')))) {
    const text = readIfThere(`/usr/share/doc/${name}/copyright`);
    if (text) placeContent(join(directory, 'licenses', `${name}.txt`), text);
  }
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

/** What it could answer: it fails where one of several paths or names is unknown. */
function ask(...args: readonly string[]): string {
  return spawnSync('dpkg-query', args, { encoding: 'utf8', env: { ...process.env, LC_ALL: 'C' } }).stdout ?? '';
}
