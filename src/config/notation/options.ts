/**
 * The options behind an action: `exec:cat /tmp/ready,period=2s,failures=5`.
 *
 * They begin at the first comma that is followed by the name of an option and `=`, and nothing else can stand behind
 * it. A comma before that belongs to the action. Where such a text is part of a command, quote it; in a URL write %2C
 * for the comma.
 */
import { nearest } from './nearest.ts';
import { bad, good, type Parse, repeated, show } from './parse.ts';
import { type Unit, unitsOf } from './words.ts';

export interface Option {
  readonly name: string;
  readonly text: string;
}

/** The options of an action, and the messages for options of other actions or tools. */
export interface OptionNames {
  readonly known: readonly string[];
  readonly refused: Readonly<Record<string, string>>;
}

/** An action, and the options behind it. */
type Split<Head> = Parse<{ readonly head: Head; readonly options: readonly Option[] }>;

/** Splits a text in which quotes mean nothing before the options, such as a URL. */
export function splitPlain(text: string, names: OptionNames): Split<string> {
  const characters = [...text];
  const plain = characters.map((char) => ({ char, isQuoted: false }));
  const begin = beginOf(plain, names, 'write %2C for the comma');
  if (!begin.ok) return begin;
  const tail = unitsOf(characters.slice(begin.value).join(''));
  if (!tail.ok) return tail;
  const options = readOptions(tail.value, names);
  return options.ok ? good({ head: characters.slice(0, begin.value).join(''), options: options.value }) : options;
}

/** Splits a command, in which quotes protect. */
export function splitQuoted(text: string, names: OptionNames): Split<readonly Unit[]> {
  const units = unitsOf(text);
  if (!units.ok) return units;
  const begin = beginOf(units.value, names, 'quote it');
  if (!begin.ok) return begin;
  const options = readOptions(units.value.slice(begin.value), names);
  return options.ok ? good({ head: units.value.slice(0, begin.value), options: options.value }) : options;
}

/** A name that nearly matches is refused: as part of the action it would go unnoticed. */
function beginOf(units: readonly Unit[], names: OptionNames, protect: string): Parse<number> {
  for (const [at] of units.entries()) {
    const name = nameAt(units, at);
    if (name === undefined) continue;
    if (names.known.includes(name)) return good(at);
    const refusal = refusalOf(name, names);
    if (refusal !== undefined) return bad(`${refusal} (if it is part of the action: ${protect})`);
  }
  return good(units.length);
}

function readOptions(units: readonly Unit[], names: OptionNames): Parse<readonly Option[]> {
  const options: Option[] = [];
  let at = 0;
  while (at < units.length) {
    const name = nameAt(units, at);
    if (name === undefined || !names.known.includes(name)) return bad(notAnOption(units.slice(at + 1), name, names));
    const begin = at + name.length + 2;
    const length = units.slice(begin).findIndex(({ char, isQuoted }) => char === ',' && !isQuoted);
    at = length < 0 ? units.length : begin + length;
    options.push({ name, text: joinUnits(units.slice(begin, at)) });
  }
  const twice = repeated(options.map(({ name }) => name).filter((name) => name !== 'header'));
  return twice === undefined ? good(options) : bad(`${twice} is given twice; give it once`);
}

/** The name in `,name=` at this place, all of it unquoted. */
function nameAt(units: readonly Unit[], at: number): string | undefined {
  const comma = units[at];
  if (comma?.char !== ',' || comma.isQuoted) return undefined;
  let name = '';
  for (let next = at + 1; next < units.length; next++) {
    const { char, isQuoted } = units[next] ?? comma;
    if (isQuoted) return undefined;
    if (char === '=') return name === '' ? undefined : name;
    if (!/[-A-Za-z]/.test(char)) return undefined;
    name += char;
  }
  return undefined;
}

function refusalOf(name: string, { known, refused }: OptionNames): string | undefined {
  // Any word may stand in a command, also `constructor`, which every object has.
  if (Object.hasOwn(refused, name)) return `${name}: ${refused[name]}`;
  const near = nearest(name, [...known, ...Object.keys(refused)]);
  if (near === undefined) return undefined;
  return `${name} is not an option; ${refused[near] ?? `did you mean ${near}?`}`;
}

function notAnOption(rest: readonly Unit[], name: string | undefined, names: OptionNames): string {
  const refusal = name === undefined ? undefined : refusalOf(name, names);
  if (refusal !== undefined) return refusal;
  const end = rest.findIndex(({ char, isQuoted }) => char === ',' && !isQuoted);
  const part = joinUnits(end < 0 ? rest : rest.slice(0, end));
  return `${show(part)} is not an option; options are ${names.known.map((known) => `${known}=`).join(', ')}`;
}

function joinUnits(units: readonly Unit[]): string {
  return units.map(({ char }) => char).join('');
}
