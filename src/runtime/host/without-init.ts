/**
 * The npm package's entry tells the supervisor in the same process why there is no sexton-init. The application would
 * inherit an environment variable.
 */

export function tellWhyWithoutInit(why: string): void {
  told()[KEY] = why;
}

export function whyWithoutInit(): string | undefined {
  return told()[KEY];
}

const KEY = Symbol.for('sexton.whyWithoutInit');

function told(): { [KEY]?: string } {
  return globalThis as { [KEY]?: string };
}
