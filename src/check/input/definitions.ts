/**
 * CustomResourceDefinitions are generated, hold no pod, and have thousands of lines. To parse them would take most of
 * the time of a check of a project that has some. So they are blanked before the text is read as YAML.
 */

/** `---` at the beginning of a line ends a document wherever it stands. */
const DOCUMENT = /^---(?=\s|$)/m;
const IS_DEFINITION = /^kind:[ \t]*CustomResourceDefinition[ \t]*\r?$/m;

/** The text stays as long as it is, so that offsets stay. */
export function withoutDefinitions(text: string) {
  if (!IS_DEFINITION.test(text)) return { text, definitions: 0 };
  let definitions = 0;
  const parts = text.split(DOCUMENT).map((document) => {
    // An object has one kind.
    if (!IS_DEFINITION.test(document) || document.match(/^kind:/gm)?.length !== 1) return document;
    definitions += 1;
    return `${' '.repeat(document.length - 1)}\n`;
  });
  return { text: parts.join('---'), definitions };
}
