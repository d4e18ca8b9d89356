import { wordAt } from '../../stop/plan.ts';
import { ofContainer } from '../rule.ts';

export const rule = ofContainer({
  severity: 'error',
  title: 'sexton refuses this configuration',
  why: 'sexton checks everything before it starts anything, and exits with 125: the container never runs.',
  remedy: 'Correct what the message names. sexton explain -- COMMAND says the same.',
  *find({ container, sexton }) {
    for (const problem of sexton?.problems ?? []) yield { at: wordAt(container, 0), problem };
  },
  say: ({ problem }) => `sexton exits with 125: ${problem}`,
});
