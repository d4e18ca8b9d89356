import { ofIgnores } from '../rule.ts';

export const rule = ofIgnores({
  severity: 'info',
  title: 'An ignore that ignores nothing',
  why: 'What it was written for is repaired or gone. Left there it hides the next finding of that rule.',
  remedy: 'Remove it.',
  *find() {
    yield {};
  },
  say: (_, { rules, unknown }) => {
    const what =
      unknown.length > 0 ? `there is no rule ${unknown.join(', ')}` : `${rules.join(', ')} finds nothing here`;
    return `this ignore ignores nothing: ${what}`;
  },
  fix: (_, { ignore: { removable, place, rules: all }, rules }) =>
    removable !== undefined && rules.length === all.length ? [{ source: place.source, ...removable, text: '' }] : [],
});
