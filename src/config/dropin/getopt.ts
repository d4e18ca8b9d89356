/**
 * Splits command lines of other programs as getopt_long(3) does under POSIXLY_CORRECT, up to the first word that is no
 * option. `-vg`, `-e143`, `-e 143`, `--rewrite=15:3`, and `--rew 15:3` where no other name begins so.
 */

/**
 * `letters`: as for getopt(3), a letter with `:` behind it takes a value; `long`: names, and the letters that they stand
 * for. `wrong` is what ended the options before their end, `at` where the first word behind them stands in argv.
 */
export function splitOptions(argv: readonly string[], letters: string, long: Readonly<Record<string, string>> = {}) {
  const options: { letter: string; value: string }[] = [];
  let at = 0;
  for (let word = argv[at]; word !== undefined && isOption(word); word = argv[at]) {
    at += 1;
    if (word === '--') break;
    const wrong = word.startsWith('--') ? readLong(word.slice(2)) : readCluster(word.slice(1));
    if (wrong !== undefined) return { options, wrong, at };
  }
  return { options, wrong: undefined, at };

  function readLong(text: string): string | undefined {
    const [, name = '', joined] = /^([^=]*)(?:=(.*))?$/s.exec(text) ?? [];
    const names = Object.keys(long).filter((one) => one.startsWith(name));
    const [first] = names;
    if (first === undefined) return `--${name} is not an option`;
    if (names.length > 1) return `--${name} may be ${names.map((one) => `--${one}`).join(' or ')}`;
    const letter = long[first] ?? '';
    if (!takesValue(letter) && joined !== undefined) return `--${first} takes no value`;
    return take(letter, `--${first}`, joined);
  }

  function readCluster(text: string): string | undefined {
    for (let index = 0; index < text.length; index += 1) {
      const letter = text.charAt(index);
      if (letter === ':' || !letters.includes(letter)) return `-${letter} is not an option`;
      if (takesValue(letter)) return take(letter, `-${letter}`, text.slice(index + 1) || undefined);
      take(letter, `-${letter}`, undefined);
    }
    return undefined;
  }

  function take(letter: string, name: string, joined: string | undefined): string | undefined {
    let value = joined ?? '';
    if (takesValue(letter) && joined === undefined) {
      const next = argv[at];
      if (next === undefined) return `${name} needs a value`;
      value = next;
      at += 1;
    }
    options.push({ letter, value });
    return undefined;
  }

  function takesValue(letter: string): boolean {
    return letters.includes(`${letter}:`);
  }
}

function isOption(word: string): boolean {
  return word.startsWith('-') && word !== '-';
}
