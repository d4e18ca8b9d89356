import type { ContainerView } from '../../stop/plan.ts';
import { flagAt } from '../common.ts';
import { ofContainer } from '../rule.ts';

export const rule = ofContainer({
  severity: 'error',
  title: 'A name in --mains or --start-after that no member has, or two members of one name',
  why: 'A sidecar waits for the mains that --mains names. A main that does not exist never ends, so the Job never completes, and a start gate on it times out. If two members have one name, one of them writes no tombstone.',
  remedy: "Write the member's --name; without one it is the basename of the command.",
  *find({ container, member, view }) {
    if (member === undefined || member.solo) return;
    const names = view.containers.flatMap(({ member: one }) => (one === undefined || one.solo ? [] : [one.name]));
    // A container whose entrypoint is in its image may be a member, too.
    const severity = view.containers.some(mayBeMember) ? 'warning' : 'error';
    const gates = member.startAfter.filter(({ optional }) => !optional).map(({ name }) => name);
    for (const [flag, told] of [['--mains', member.mains] as const, ['--start-after', gates] as const])
      for (const name of told.filter((one) => !names.includes(one))) {
        const what = `${flag} names ${name}, and no member of this pod has that name (${names.join(', ')})`;
        yield { at: flagAt(container, flag), severity, what };
      }
    if (names.indexOf(member.name) !== names.lastIndexOf(member.name))
      yield { at: flagAt(container, '--name'), what: `the name ${member.name} is given to two members` };
  },
  say: ({ what }) => what,
});

function mayBeMember({ argv, sexton, member }: ContainerView): boolean {
  return argv === undefined || (sexton !== undefined && (member === undefined || sexton.unsure.has('name')));
}
