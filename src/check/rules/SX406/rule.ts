import type { RuleOfRestart } from '../../input/pod.ts';
import { flagAt } from '../common.ts';
import { ofContainer } from '../rule.ts';

export const rule = ofContainer({
  severity: 'error',
  title: 'Restart rules that sexton was not told, or other ones',
  why: 'A container cannot see its restartPolicyRules. Members then take one that comes back for over, or wait for one that does not.',
  remedy: 'Declare them with --restart-rules, or in the configuration file.',
  *find({ container, sexton, member }) {
    if (member === undefined || member.solo || sexton?.unsure.has('restart-rules')) return;
    const theirs = container.rules.map((one) => ({
      ...one,
      action: one.action === 'RestartAllContainers' ? 'restart-all' : 'restart',
    }));
    if (theirs.map(textOf).join() === member.restartRules.map(textOf).join()) return;
    yield { at: theirs[0]?.node ?? flagAt(container, '--restart-rules'), own: member.restartRules.length };
  },
  say: ({ own }, { container: { rules } }) =>
    `restartPolicyRules and --restart-rules are not the same (${rules.length} and ${own} rules)`,
});

type Rule = Omit<RuleOfRestart, 'node' | 'codes'> & { readonly codes: Iterable<number> };

function textOf({ action, except, codes }: Rule): string {
  return `${action} ${except} ${[...codes].sort((a, b) => a - b)}`;
}
