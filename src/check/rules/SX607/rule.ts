import { firstProcessOfStage, packageManagerOf } from '../../stop/started.ts';
import { PACKAGE_MANAGER, packageManagerText } from '../common.ts';
import { ofStage } from '../rule.ts';

export const rule = ofStage({
  ...PACKAGE_MANAGER,
  title: 'The image starts a package manager',
  remedy:
    'Start the program itself: CMD ["node", "server.js"] in place of npm start, node_modules/.bin/PROGRAM in place of npx PROGRAM.',
  *find({ stage, images }) {
    const program = packageManagerOf(firstProcessOfStage(stage, images));
    if (stage.started !== undefined && program !== undefined) yield { at: stage.started, program };
  },
  say: ({ program }) => packageManagerText(program),
});
