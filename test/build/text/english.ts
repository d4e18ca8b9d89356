/** Prints how `Intl` handles text, numbers and times in English, and in no language. */
import { neutralResults } from './neutral.ts';
import { print, type Result, row } from './result.ts';

const LOCALES = ['en', 'en-US', 'en-GB', 'en-IN', 'en-AU', 'en-US-u-ca-buddhist-nu-thai', 'und'];
const TIME = Date.UTC(2026, 2, 29, 1, 30, 5);
const ZONES = ['UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Kathmandu', 'Pacific/Apia', '+05:30'];
const WORDS = 'zebra,Apple,apple,\u00e4pfel,co-op,coop,item 10,item 9,\u03b1,\u65e5,\u05d0,\u{1f600}'.split(',');
const TEXT = 'Dr. Smith paid $3.50. "Why?" he asked\u2026 e\u0301\u{1f469}\u200d\u{1f680} don\u2019t.';

function inLocale(locale: string): Result[] {
  const of = (name: string, make: () => unknown): Result => row(`${locale} ${name}`, make);
  const names = (type: Intl.DisplayNamesType, code: string): string | undefined =>
    new Intl.DisplayNames(locale, { type }).of(code);
  return [
    of('default', () => Intl.DateTimeFormat(locale).resolvedOptions()),
    ...(['full', 'long', 'medium', 'short'] as const).map((style) =>
      of(`date ${style}`, () => new Date(TIME).toLocaleString(locale, { dateStyle: style, timeStyle: style })),
    ),
    of('parts', () =>
      new Intl.DateTimeFormat(locale, { era: 'long', dayPeriod: 'long', hour: 'numeric' }).formatToParts(TIME),
    ),
    of('range', () => new Intl.DateTimeFormat(locale, { dateStyle: 'long' }).formatRange(TIME, TIME + 1e10)),
    of('number', () => [1234567.891, -0, 1e21, Number.NaN].map((it) => it.toLocaleString(locale))),
    of('compact', () => new Intl.NumberFormat(locale, { notation: 'compact', compactDisplay: 'long' }).format(123456)),
    of('currency', () =>
      ['USD', 'EUR', 'JPY'].map((currency) => (9.5).toLocaleString(locale, { style: 'currency', currency })),
    ),
    of('unit', () => (7).toLocaleString(locale, { style: 'unit', unit: 'kilobyte-per-second', unitDisplay: 'long' })),
    of('percent', () => (0.256).toLocaleString(locale, { style: 'percent' })),
    of('plural', () => [0, 1, 2, 3, 21].map((it) => new Intl.PluralRules(locale, { type: 'ordinal' }).select(it))),
    of('relative', () =>
      [-1, 0, 3].map((it) => new Intl.RelativeTimeFormat(locale, { numeric: 'auto' }).format(it, 'day')),
    ),
    of('list', () => new Intl.ListFormat(locale, { type: 'disjunction' }).format(['a', 'b', 'c'])),
    of('sort', () => WORDS.toSorted(new Intl.Collator(locale).compare)),
    of('sort numbers', () => WORDS.toSorted(new Intl.Collator(locale, { numeric: true, caseFirst: 'upper' }).compare)),
    of('base', () => 'a\u0301'.localeCompare('A', locale, { sensitivity: 'base' })),
    ...(['grapheme', 'word', 'sentence'] as const).map((granularity) =>
      of(granularity, () =>
        [...new Intl.Segmenter(locale, { granularity }).segment(TEXT)].map(({ segment }) => segment),
      ),
    ),
    of('names', () => [names('language', 'de-AT'), names('region', 'CH')]),
    of('more names', () => [names('currency', 'GBP'), names('script', 'Cyrl')]),
    of('case', () => ['I\u0130'.toLocaleLowerCase(locale), 'i\u00df'.toLocaleUpperCase(locale)]),
    of('locale', () => {
      const { language, region, script } = new Intl.Locale(locale).maximize();
      return [language, region, script];
    }),
  ];
}

print([
  ...neutralResults(),
  ...LOCALES.flatMap(inLocale),
  ...ZONES.map((timeZone) =>
    row(`zone ${timeZone}`, () => new Date(TIME).toLocaleString('en', { timeZone, timeZoneName: 'long' })),
  ),
  ...(['calendar', 'currency', 'numberingSystem', 'timeZone', 'unit'] as const).map((key) =>
    row(`values of ${key}`, () => Intl.supportedValuesOf(key)),
  ),
  row('canonical', () => Intl.getCanonicalLocales(['EN-us', 'cmn', 'iw', 'sh'])),
  row('a language tag that is none', () => Intl.getCanonicalLocales('not a tag')),
  row('a time zone that is none', () => new Date(0).toLocaleString('en', { timeZone: 'Mars/Base' })),
  row('default date', () => [new Date(TIME).toLocaleString(), new Date(TIME).toString()]),
]);
