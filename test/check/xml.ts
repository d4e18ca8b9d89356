/** A strict reader of XML 1.0 without DTD, CDATA and namespaces: throws where a parser of a CI system would. */
export interface Element {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: readonly Element[];
  readonly text: string;
}

const NAME = '[A-Za-z_][\\w.-]*';
const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

export function parseXml(text: string): Element {
  if (/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u.test(text)) throw new Error('not a character of XML');
  let at = /^<\?xml version="1\.0" encoding="UTF-8"\?>\s*/.exec(text)?.[0].length ?? 0;
  const root = element();
  if (text.slice(at).trim() !== '') throw new Error(`behind the root: ${text.slice(at, at + 40)}`);
  return root;

  function take(pattern: string): RegExpExecArray | undefined {
    const sticky = new RegExp(pattern, 'y');
    sticky.lastIndex = at;
    const match = sticky.exec(text);
    if (match !== null) at = sticky.lastIndex;
    return match ?? undefined;
  }

  function element(): Element {
    const name = take(`<(${NAME})`)?.[1];
    if (name === undefined) throw new Error(`no element at ${at}: ${text.slice(at, at + 40)}`);
    const attributes: Record<string, string> = {};
    for (let found = take(`\\s+(${NAME})="([^"<]*)"`); found; found = take(`\\s+(${NAME})="([^"<]*)"`)) {
      const [, key = '', value = ''] = found;
      if (Object.hasOwn(attributes, key)) throw new Error(`${key} twice in ${name}`);
      // As a parser normalizes an attribute: a line end that is not a reference is a blank.
      attributes[key] = decoded(value.replaceAll(/[\t\n\r]/g, ' '));
    }
    if (take('\\s*/>')) return { name, attributes, children: [], text: '' };
    if (!take('\\s*>')) throw new Error(`the tag of ${name} does not end: ${text.slice(at, at + 40)}`);
    const children: Element[] = [];
    let inner = '';
    for (;;) {
      inner += decoded((take('[^<]*')?.[0] ?? '').replaceAll(/\r\n?/g, '\n'));
      if (take(`</${name}\\s*>`)) return { name, attributes, children, text: inner };
      children.push(element());
    }
  }
}

function decoded(text: string): string {
  return text.replaceAll(/&(?:#(\d+);|#x([\da-f]+);|([a-z]+);)?/gi, (whole, decimal, hex, name) => {
    if (decimal !== undefined || hex !== undefined) return String.fromCodePoint(Number(decimal ?? `0x${hex}`));
    const character = ENTITIES[name];
    if (character === undefined) throw new Error(`no entity ${whole}`);
    return character;
  });
}
