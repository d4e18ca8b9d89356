/** What is known of an image: by the file of `--images`, or by its name, where that says it for certain. */
export const SHELLS = ['dash', 'busybox', 'bash', 'none'] as const;
export type Shell = (typeof SHELLS)[number];

export interface ImageFacts {
  readonly entrypoint?: readonly string[];
  readonly cmd?: readonly string[];
  readonly stopSignal?: string;
  readonly user?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** What /bin/sh is. */
  readonly shell?: Shell;
  /** Those of `HOOK_PROGRAMS` that are in its PATH. */
  readonly programs?: readonly string[];
  readonly workingDir?: string;
  readonly digest?: string;
  /** `linux/amd64`. */
  readonly platform?: string;
  /** What differs on other platforms of Linux, such as `linux/arm64`: all of it, not a part. */
  readonly platforms?: Readonly<Record<string, ImageFacts>>;
  /** What `sexton images lock` has read it from. */
  readonly from?: string;
}

/** What hooks and probes may run, sorted. An image without a shell has none. */
export const HOOK_PROGRAMS: readonly string[] = [
  ...['ash', 'bash', 'cat', 'curl', 'dash', 'kill', 'ls', 'nc', 'pgrep', 'sh', 'sleep', 'test', 'wget'],
];

/** By familiar names. */
export type Images = ReadonlyMap<string, ImageFacts>;

/** One name for what engines call `nginx`, `nginx:latest` and `docker.io/library/nginx:latest`. */
export function familiarName(image: string): string {
  const { name, tag, digest } = partsOf(image.trim());
  const short = name.replace(/^(index\.)?docker\.io\/(library\/)?/, '').replace(/^library\/(?=[^/]+$)/, '');
  if (digest !== undefined) return `${short}@${digest}`;
  return `${short}:${tag ?? 'latest'}`;
}

/** A digest counts before a tag beside it; facts of the tag that have another digest are of another image. */
export function factsOfImage(image: string | undefined, images: Images): ImageFacts | undefined {
  if (image === undefined) return undefined;
  const { digest } = partsOf(image);
  const facts = images.get(familiarName(image)) ?? images.get(familiarName(image.replace(/@.*/s, '')));
  return digest !== undefined && facts?.digest !== undefined && facts.digest !== digest ? undefined : facts;
}

function partsOf(image: string) {
  const [named = '', digest] = image.split('@');
  const slash = named.lastIndexOf('/');
  const colon = named.indexOf(':', slash + 1);
  const name = colon < 0 ? named : named.slice(0, colon);
  return { name, tag: colon < 0 ? undefined : named.slice(colon + 1), digest };
}

/** The repository has no registry, tag or digest; `library/` is left out. */
export function referenceOf(image: string) {
  const { name, tag } = partsOf(image);
  const parts = name.split('/');
  const [host = ''] = parts;
  const path = parts.length > 1 && (/[.:]/.test(host) || host === 'localhost') ? parts.slice(1) : parts;
  const isHub = path === parts || host === 'docker.io';
  return { repository: (isHub && path[0] === 'library' ? path.slice(1) : path).join('/'), tag };
}

/** Official images that are built from Debian or Ubuntu unless their tag says something else. */
const DEBIAN = /^(debian|ubuntu|node|python|ruby|golang|php|perl|rust|gcc|nginx|httpd|postgres|redis|haproxy)$/;

/** Official images and their tags: docs.docker.com/docker-hub/image-library/trusted-content. */
export function shellOf(image: string | undefined, images: Images): Shell | undefined {
  if (image === undefined) return undefined;
  const known = factsOfImage(image, images)?.shell;
  if (known !== undefined) return known;
  const { repository, tag = '' } = referenceOf(image);
  if (repository === 'scratch' || /(^|\/)distroless\//.test(repository))
    return /(^|-)debug/.test(tag) ? 'busybox' : 'none';
  if (repository === 'busybox' || repository === 'alpine' || /(^|[-.])alpine/.test(tag)) return 'busybox';
  if (DEBIAN.test(repository) && !/windows|nanoserver|alpine/.test(tag)) return 'dash';
  if (!repository.includes('/') && /(^|-)(slim|bookworm|bullseye|trixie|buster|jammy|noble|focal)(-|$)/.test(tag))
    return 'dash';
  if (/^(fedora|centos|rockylinux|almalinux|amazonlinux|oraclelinux)$/.test(repository)) return 'bash';
  return undefined;
}

/** The STOPSIGNAL of official images, as their Dockerfiles have it. */
const STOP_SIGNALS: ReadonlyMap<string, string> = new Map([
  ['nginx', 'SIGQUIT'],
  ['httpd', 'SIGWINCH'],
  ['php', 'SIGQUIT'],
  ['postgres', 'SIGINT'],
  ['haproxy', 'SIGUSR1'],
]);
/**
 * Official images on which others are built: distributions and languages. They declare no stop signal, and have no
 * entrypoint or one that becomes what it is given.
 */
const BASES =
  /^(alpine|busybox|debian|ubuntu|fedora|centos|rockylinux|almalinux|amazonlinux|python|node|golang|ruby|openjdk|eclipse-temurin|rust)$/;

/** `undefined`: not known. The variants of `php` differ: fpm takes QUIT, Apache takes WINCH. */
export function stopSignalOf(image: string | undefined, images: Images): string | undefined {
  if (image === undefined) return undefined;
  const known = factsOfImage(image, images);
  if (known !== undefined) return known.stopSignal ?? 'SIGTERM';
  const { repository, tag = '' } = referenceOf(image);
  if (repository === 'php') return /fpm/.test(tag) ? 'SIGQUIT' : /apache/.test(tag) ? 'SIGWINCH' : undefined;
  return STOP_SIGNALS.get(repository) ?? (BASES.test(repository) ? 'SIGTERM' : undefined);
}

/** What a container of an image starts, whose entrypoint is left alone; undefined: not known. */
export function argvOfImage(
  image: string | undefined,
  args: readonly string[] | undefined,
  images: Images,
): readonly string[] | undefined {
  if (image === undefined) return undefined;
  const facts = factsOfImage(image, images);
  // An empty list counts as none, as for the runtime.
  const given = args?.length === 0 ? undefined : args;
  const argv = [...(facts?.entrypoint ?? []), ...(given ?? facts?.cmd ?? [])];
  const [first = '-'] = argv;
  // The entrypoint of node runs node with what is an option.
  if (facts === undefined && (first.startsWith('-') || !BASES.test(referenceOf(image).repository))) return undefined;
  return argv.length === 0 ? undefined : argv;
}
