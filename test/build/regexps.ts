/**
 * Finds texts on which a regular expression takes more than linear time. Such a text repeats a part of what the pattern
 * matches, and ends in what it rejects.
 */
import { createContext, Script } from 'node:vm';
import { type AST, RegExpParser } from '@eslint-community/regexpp';

/** A linear search of so many characters takes less than a millisecond of CPU, a quadratic one a hundred and more. */
const LENGTH = 1 << 16;
const LEAST_SLOW_US = 30_000;
const ENDS = ['\0', '\n\0/'];
/** One of them is in nearly each class. */
const CHARACTERS = [...'0aA \t\n\r!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~\0é'];

/** How the text begins and which part it repeats; undefined: none is slow. */
export function slowTextFor(regexp: RegExp): string | undefined {
  const { source, flags, unicode, unicodeSets } = regexp;
  if (!/[*+]|,\}/.test(source)) return undefined;
  const { alternatives } = new RegExpParser().parsePattern(source, undefined, undefined, { unicode, unicodeSets });
  const attacks = [0, -1].flatMap((pick) => attacksIn(alternatives, { lead: '', flags, pick }));
  const texts = new Map([...attacks, ...pairsIn(source)].map((attack) => [JSON.stringify(attack), attack]));
  for (const [name, [before, part]] of texts) {
    if (part === '') continue;
    const text = `${before}${part.repeat(Math.ceil(LENGTH / part.length))}`;
    if (ENDS.some((end) => isSlow(regexp, text + end))) return name;
  }
  return undefined;
}

type Attack = readonly [before: string, part: string];

interface Way {
  /** Leads to the pattern that is attacked. */
  readonly lead: string;
  readonly flags: string;
  /** Which of its samples stands for an element: the first or the last. */
  readonly pick: number;
}

/** Each element, and each row of neighbours, behind what leads there and without it. */
function attacksIn(alternatives: readonly AST.Alternative[], way: Way): readonly Attack[] {
  return alternatives.flatMap(({ elements }) =>
    elements.flatMap((element, index): readonly Attack[] => {
      const lead = way.lead + rowOf(elements.slice(0, index), way);
      const rows = elements.slice(index).map((_, more) => rowOf(elements.slice(index, index + more + 1), way));
      const attacks = [...samplesOf(element, way), ...rows].flatMap((part): readonly Attack[] => [
        [lead, part],
        ['', part],
        ['', lead + part],
      ]);
      const inner = element.type === 'Quantifier' ? element.element : element;
      return 'alternatives' in inner ? [...attacks, ...attacksIn(inner.alternatives, { ...way, lead })] : attacks;
    }),
  );
}

/** All pairs of the characters that stand in the pattern. */
function pairsIn(source: string): readonly Attack[] {
  const characters = [...new Set(source.replace(/\\[a-z]|[\w?+*()|^$[\]{}]/gi, ''))];
  return characters.flatMap((a) => characters.map((b): Attack => ['', a + b]));
}

function rowOf(elements: readonly AST.Element[], way: Way): string {
  return elements
    .map(
      (element) =>
        samplesOf(element, way)
          .filter((text) => text !== '')
          .at(way.pick) ?? '',
    )
    .join('');
}

/** Texts that an element matches. */
function samplesOf(element: AST.QuantifiableElement | AST.Element, way: Way): readonly string[] {
  switch (element.type) {
    case 'Character':
      return [String.fromCodePoint(element.value)];
    case 'CharacterClass':
    case 'CharacterSet':
    case 'ExpressionCharacterClass': {
      const one = new RegExp(`^${element.raw}$`, way.flags.replace(/[gy]/g, ''));
      return CHARACTERS.filter((character) => one.test(character));
    }
    case 'Quantifier':
      return samplesOf(element.element, way).map((sample) => sample.repeat(Math.max(1, element.min)));
    case 'Group':
    case 'CapturingGroup':
      return element.alternatives.map(({ elements }) => rowOf(elements, way));
    default:
      return [];
  }
}

const searched: { search?: () => void } = {};
const CONTEXT = createContext(searched);
const SEARCH = new Script('search()');

/** Measured twice as CPU time: a machine that stands still slows nothing down. */
function isSlow(regexp: RegExp, text: string): boolean {
  searched.search = () => void text.replace(regexp, '');
  return [1, 2].every(() => {
    const before = process.threadCpuUsage();
    try {
      SEARCH.runInContext(CONTEXT, { timeout: 1_000 });
    } catch (error) {
      if ((error as { code?: string }).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error;
    }
    const { user, system } = process.threadCpuUsage(before);
    return user + system > LEAST_SLOW_US;
  });
}
