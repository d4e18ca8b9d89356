/**
 * The loader of the portable Node must load what lies beside it and nothing of the image around it. The image's
 * `/etc/ld.so.preload` is meant for the application, and libraries of another glibc do not fit. Neither a flag nor a
 * variable keeps glibc's loader from that file. So the paths in its copy are overwritten, each by one of the same
 * length that leads nowhere.
 */

/** Where an image's own files would be found, and what that begins with afterwards; slashes fill up the old length. */
const ELSEWHERE: readonly (readonly [RegExp, string])[] = [
  // Not a directory: no file can be put there. The end stays, as another string may begin inside.
  [/(?<=\0)\/etc\/ld\.so(?=\.preload\0)/g, '/dev/null/'],
  [/(?<=\0)\/etc\/ld\.so(?=\.cache\0)/g, '/dev/null/'],
  // The system's directories, for what is loaded by name later: plug-ins of the name service. The runtime mounts /dev,
  // no image.
  [/(?<=\0)\/(?:usr\/)?lib(?:64)?\/(?:[a-z0-9_-]+\/)?(?=\0)/g, '/dev/'],
];

/** `path`: where it comes from, for the message. */
export function withoutImagePaths(loader: Buffer, path: string): Buffer {
  const text = ELSEWHERE.reduce((before, [found, lead]) => {
    const after = before.replace(found, (old) => lead.padEnd(old.length, '/'));
    if (after !== before) return after;
    const why = `it has no ${found.source}, so what an image has there is not kept out`;
    throw new Error(`cannot use the loader ${path}: ${why}`);
  }, loader.toString('latin1'));
  return Buffer.from(text, 'latin1');
}

/** LGPL 2.1, section 2: changed files say so. */
export const CHANGES = `The loader in lib/ (ld-linux-*) is that of the GNU C Library with one change, made by
src/delivery/loader.ts of sexton: the paths /etc/ld.so.preload, /etc/ld.so.cache and the
system's library directories in it are overwritten by paths of the same length at
which nothing is found. All else in it, and the other libraries, are unchanged copies.
`;
