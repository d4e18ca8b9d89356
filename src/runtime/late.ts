/**
 * Waiting with a bound.
 */

/** Whether the time was over first. */
export async function isLate(work: Promise<unknown>, mostMs: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(true), mostMs);
  });
  const late = await Promise.race([work.then(() => false), timeout]);
  clearTimeout(timer);
  return late;
}
