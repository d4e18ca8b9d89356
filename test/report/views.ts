/** How a report is looked at: in narrow and wide windows, light and dark, and on paper. */
import type { View } from './browser.ts';

/** A4 upright at 96 dpi without the margins of 1 cm that browsers print with. */
const PAPER_WIDTH = 718;

const SCREENS: readonly View[] = ([360, 960, 1_280] as const).flatMap((width) =>
  (['light', 'dark'] as const).map((scheme) => ({ width, scheme, media: 'screen' as const })),
);
const PAPER: View = { width: PAPER_WIDTH, scheme: 'light', media: 'print' };

/** A picture alone has its own size. */
const PICTURES: readonly View[] = (['light', 'dark'] as const).map((scheme) => ({
  width: 960,
  scheme,
  media: 'screen',
}));

export function viewsOf(name: string): readonly View[] {
  return name.endsWith('.svg') ? PICTURES : [...SCREENS, PAPER];
}

export function nameOf({ width, scheme, media }: View): string {
  return media === 'print' ? 'print' : `${width}-${scheme}`;
}
