/**
 * Prints how Node handles text where no language is asked for, as a list of names and results. What sexton itself
 * does with text is of this kind: `\p{}`, URLs, JSON, numbers, case, dates in ISO form.
 */
import { Buffer, transcode } from 'node:buffer';
import { domainToASCII, domainToUnicode, pathToFileURL } from 'node:url';
import { inspect, TextDecoder } from 'node:util';
import { print, type Result, row } from './result.ts';

const CHARACTERS = Array.from({ length: 0x3000 }, (_, code) => String.fromCodePoint(code)).join('');
const TEXTS =
  '\ufb01\u2460\u00c5 e\u0301\u1e9b\u0323 \uac00\u1100\u1161 \u212b\u2126\u00bd I\u0130\u0131\u00df\u03a3'.split(' ');
const PROPERTIES = `Cc Cf Zl Zp Bidi_Control L Lu Nd P S Emoji ID_Start White_Space Alphabetic Script=Greek Script=Han
  Script_Extensions=Deva Default_Ignorable_Code_Point Cased Math`.split(/\s+/);
const HOSTS = ['b\u00fccher.example', 'fa\u00df.de', '\u65e5\u672c\u8a9e.jp'].concat([
  'xn--mnchen-3ya.de',
  '\uff21\uff22.example',
  'a\u200db.example',
]);
const URLS = ['http://EXAMPLE.com:80/a b?\u00fc#\u00e9', 'https://\u00e9.example/%7e/../x'].concat([
  'http://[::1]:8080/',
  'file:///\u00fc',
]);
const ENCODINGS = ['utf-8', 'utf-16le', 'utf-16be'];

export function neutralResults(): Result[] {
  return [
    ...TEXTS.flatMap((text) =>
      ['NFC', 'NFD', 'NFKC', 'NFKD'].map((form) => row(`${form} ${text}`, () => text.normalize(form))),
    ),
    ...TEXTS.map((text) => row(`case ${text}`, () => [text.toUpperCase(), text.toLowerCase()])),
    ...PROPERTIES.map((name) => row(`\\p{${name}}`, () => countOf(new RegExp(`\\p{${name}}`, 'gu')))),
    row('\\p{RGI_Emoji}', () => '\u{1f469}\u200d\u{1f680}x\u{1f1e9}\u{1f1ea}'.match(/\p{RGI_Emoji}/gv)),
    row('/i', () => ['\u212a', '\u017f', '\u00df'].map((letter) => /[ks\u1e9e]/iu.test(letter))),
    ...HOSTS.map((host) => row(`IDNA ${host}`, () => [domainToASCII(host), domainToUnicode(domainToASCII(host))])),
    ...HOSTS.map((host) => row(`host ${host}`, () => new URL(`https://${host}/`).host)),
    ...URLS.map((url) => row(`URL ${url}`, () => [new URL(url).href, new URL('../y?z', url).href])),
    row('file URL', () => pathToFileURL('/tmp/\u00fc %#').href),
    ...ENCODINGS.map((name) =>
      row(`TextDecoder ${name}`, () => new TextDecoder(name).decode(Buffer.from('h\u00e9\u20ac', 'utf8'))),
    ),
    row('transcode', () => transcode(Buffer.from('\u00e9\u20ac'), 'utf8', 'latin1').toString('hex')),
    row('JSON', () => JSON.stringify({ '\u00fc': '\ud800\u2028', n: 1e21 })),
    row('date', () => [new Date(1e12).toISOString(), Date.parse('2026-03-29T02:30:00')]),
    row('numbers', () => [(1234.5).toFixed(2), (1e21).toString(), (0.1).toPrecision(20), (255).toString(36)]),
    row('sort', () => ['b', '\u00e4', 'a', 'Z', '\u00c4', '10', '9'].sort()),
    row('inspect', () => inspect({ '\u00fc': ['\u{1f600}', 'wide \u65e5\u672c'], d: new Date(0) })),
  ];
}

function countOf(pattern: RegExp): number | undefined {
  return CHARACTERS.match(pattern)?.length;
}

if (import.meta.main) print(neutralResults());
