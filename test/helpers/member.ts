/** The command line of the fixture application, `test/fixtures/member.c`, whose header says what each key does. */
import type { Stage } from './scenario.ts';

export type MemberOptions = Readonly<Record<string, string | number>>;

export function member(
  { fixtures, scratch }: Pick<Stage, 'fixtures' | 'scratch'>,
  name: string,
  options: MemberOptions = {},
): string[] {
  const pairs = Object.entries({ name, log: scratch.log, ...options });
  return [fixtures.member, ...pairs.map(([key, value]) => `${key}=${value}`)];
}
