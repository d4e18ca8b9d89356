import { wordAt } from '../../stop/plan.ts';
import { packageManagerOf } from '../../stop/started.ts';
import { PACKAGE_MANAGER, packageManagerText } from '../common.ts';
import { ofContainer } from '../rule.ts';

export const rule = ofContainer({
  ...PACKAGE_MANAGER,
  title: 'A package manager is PID 1',
  remedy:
    'Start the program itself: node server.js in place of npm start, node_modules/.bin/PROGRAM in place of npx PROGRAM.',
  *find({ container, argv = [] }) {
    const program = packageManagerOf(argv);
    if (program !== undefined) yield { at: wordAt(container, 0), program };
  },
  say: ({ program }) => packageManagerText(program),
});
