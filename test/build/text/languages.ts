/** Prints whether `Intl` answers in languages that its data may lack. */
import { print, type Result, row } from './result.ts';

const LOCALES = 'de de-AT fr ar-EG fa he hi ja ko my ru th tr zh-Hant-TW xx qaa'.split(' ');

function inLocale(locale: string | undefined): Result[] {
  const of = (name: string, make: () => string): Result => row(`${locale} ${name}`, () => `a ${typeof make()}`);
  return [
    of('date', () => new Date(0).toLocaleString(locale, { dateStyle: 'full', timeStyle: 'full' })),
    of('number', () => (1e6).toLocaleString(locale, { style: 'currency', currency: 'EUR', currencyDisplay: 'name' })),
    of('relative', () => new Intl.RelativeTimeFormat(locale).format(3, 'day')),
    of('list', () => new Intl.ListFormat(locale).format(['a', 'b'])),
    of('plural', () => new Intl.PluralRules(locale).select(2)),
    of('sort', () => ['\u65e5', 'b', '\u00e4'].toSorted(new Intl.Collator(locale).compare).join()),
    of('words', () => {
      const words = new Intl.Segmenter(locale, { granularity: 'word' });
      return Array.from(words.segment('\u0e44\u0e17\u0e22 \u65e5\u672c\u8a9e'), String).join();
    }),
    of('names', () => String(new Intl.DisplayNames(locale, { type: 'region' }).of('CH'))),
    of('case', () => 'I\u0130'.toLocaleLowerCase(locale)),
  ];
}

print([undefined, ...LOCALES].flatMap(inLocale));
