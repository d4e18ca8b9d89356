/** Thrown where a pod is left as it is: what stands in the way, and the remedy. */
export class Refusal extends Error {
  /** Only an image is missing from the lock. */
  readonly isUnresolved: boolean;

  constructor(why: string, isUnresolved = false) {
    super(why);
    this.isUnresolved = isUnresolved;
  }
}

export function refuse(why: string): never {
  throw new Refusal(why);
}
