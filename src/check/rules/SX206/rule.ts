import { wordAt } from '../../stop/plan.ts';
import { packageManagerOf } from '../../stop/started.ts';
import { ofContainer } from '../rule.ts';

export const rule = ofContainer({
  severity: 'info',
  title: 'A package manager is PID 1',
  why: 'npm, yarn and pnpm start the script by a shell and stay in front of it. Which signals reach the program depends on their versions.',
  remedy: 'Start the program itself: node server.js in place of npm start.',
  *find({ container, argv = [] }) {
    const program = packageManagerOf(argv);
    if (program !== undefined) yield { at: wordAt(container, 0), program };
  },
  say: ({ program }) => `${program} is PID 1 and starts the program by a shell`,
});
