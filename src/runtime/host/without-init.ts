/**
 * How the npm package's entry, a program of its own, tells the supervisor in the same process why there is no
 * sexton-init. Not a variable of the environment, which the application would get.
 */

export function tellWhyWithoutInit(why: string): void {
  told()[KEY] = why;
}

/** `undefined` where no reason was given. */
export function whyWithoutInit(): string | undefined {
  return told()[KEY];
}

const KEY = Symbol.for('sexton.whyWithoutInit');

function told(): { [KEY]?: string } {
  return globalThis as { [KEY]?: string };
}
