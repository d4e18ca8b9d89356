/**
 * `sexton completion bash|zsh|fish`: what completes the words of sexton in a shell, from the tables of subcommands and
 * flags.
 */
import type { CommandFlag } from '../../../config/arguments.ts';
import { CONFIG_FLAG, FLAGS, KEYS } from '../../../config/flags.ts';
import { choice, show } from '../../../config/notation/parse.ts';
import { print } from '../../../text/print.ts';
import { accepted, badArguments, readArguments } from '../arguments.ts';
import { COMMAND_NAMES, COMMANDS, type CommandHelp, type CommandName } from '../commands.ts';
import { TOPIC_NAMES } from './help.ts';

export async function completion(args: readonly string[]): Promise<void> {
  const [shell] = readArguments('completion', args, 1).words;
  if (shell === undefined) throw badArguments('completion', 'no shell is named; write sexton completion bash');
  const names = Object.keys(SHELLS) as (keyof typeof SHELLS)[];
  await print(SHELLS[accepted('completion', show(shell), choice(names)(shell))]());
}

const SHELLS = { bash: bashText, zsh: zshText, fish: fishText } as const;

/** The flags of `run`, which `explain` takes, too. */
const RUN_FLAGS: readonly CommandFlag[] = [...KEYS.map((key) => FLAGS[key]), CONFIG_FLAG];

function flagsOf(name: CommandName): readonly CommandFlag[] {
  const { flags }: CommandHelp = COMMANDS[name];
  const own = name === 'run' ? RUN_FLAGS : name === 'explain' ? [...flags, ...RUN_FLAGS] : flags;
  return [...own, { name: 'help', help: 'Print the usage.' }];
}

const SUBCOMMAND_WORDS: Readonly<Partial<Record<CommandName, readonly string[]>>> = {
  help: [...COMMAND_NAMES, ...TOPIC_NAMES],
  completion: Object.keys(SHELLS),
  images: ['lock'],
};

const ALL_FLAGS = COMMAND_NAMES.flatMap(flagsOf);
const WITH_VALUE = [...new Set(ALL_FLAGS.filter(({ takes }) => takes !== undefined).map(({ name }) => name))];

/** Completes words by subcommand and values by flag; all else as files and commands. */
function bashText(): string {
  const words = COMMAND_NAMES.map((name) => {
    const flags = flagsOf(name).map((flag) => `--${flag.name}`);
    return `    ${name}) words='${[...(SUBCOMMAND_WORDS[name] ?? []), ...flags].join(' ')}' ;;\n`;
  });
  const values = COMMAND_NAMES.flatMap((name) =>
    flagsOf(name).flatMap(({ name: flag, choices }) =>
      choices ? [`    '${name} --${flag}') words='${choices.join(' ')}' ;;\n`] : [],
    ),
  );
  return `# bash completion of sexton; source <(sexton completion bash)
_sexton() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} sub=\${COMP_WORDS[1]} words= at
  COMPREPLY=()
  # --flag=value is three words where = divides words.
  if [[ $cur == = ]]; then cur=; elif [[ $prev == = ]]; then prev=\${COMP_WORDS[COMP_CWORD-2]}; fi
  case $sub in
    -*) sub=run ;;
  esac
  if [[ $COMP_CWORD == 1 && $cur != -* ]]; then
    COMPREPLY=($(compgen -W '${COMMAND_NAMES.join(' ')}' -- "$cur"))
    return
  fi
  # Behind -- or the first word that is neither a flag nor its value, the command begins.
  if [[ $sub == run || $sub == explain ]]; then
    for ((at = 1; at < COMP_CWORD; at++)); do
      case \${COMP_WORDS[at]} in
        --) return ;;
        ${WITH_VALUE.map((name) => `--${name}`).join('|')}) [[ \${COMP_WORDS[at+1]} == = ]] && ((at++)); ((at++)) ;;
        -*) ;;
        run|explain) [[ $at == 1 ]] || return ;;
        *) return ;;
      esac
    done
  fi
  case "$sub $prev" in
${values.join('')}    ${WITH_VALUE.map((name) => `*' --${name}'`).join('|')}) return ;;
  esac
  [[ $words ]] || case $sub in
${words.join('')}  esac
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -o default -F _sexton sexton
`;
}

function zshText(): string {
  const arms = COMMAND_NAMES.map((name) => {
    const specs = flagsOf(name).map(({ name: flag, takes, choices, help }) => {
      const value = takes === undefined ? '' : `:${zsh(takes)}:${choices ? `(${choices.join(' ')})` : '_files'}`;
      return ` \\\n        '--${flag}[${zsh(help)}]${value}'`;
    });
    const words = SUBCOMMAND_WORDS[name];
    const isRun = name === 'run' || name === 'explain';
    const rest = isRun ? "'*::command:_normal'" : words ? `'1:word:(${words.join(' ')})'` : "'*:word:_files'";
    return `      ${name}) _arguments -S${specs.join('')} \\\n        ${rest} ;;\n`;
  });
  const described = COMMAND_NAMES.map((name) => `'${name}:${zsh(COMMANDS[name].summary)}'`);
  return `#compdef sexton
# zsh completion of sexton; source <(sexton completion zsh)
_sexton() {
  local -a subcommands=(${described.join(' ')})
  if ((CURRENT == 2)) && [[ $words[2] != -* ]]; then
    _describe subcommand subcommands
    return
  fi
  local sub=$words[2]
  if [[ $sub == -* ]]; then
    sub=run
  else
    shift words
    ((CURRENT--))
  fi
  case $sub in
${arms.join('')}  esac
}
if [[ $funcstack[1] == _sexton ]]; then _sexton "$@"; else compdef _sexton sexton; fi
`;
}

function fishText(): string {
  const lines = COMMAND_NAMES.flatMap((name) => {
    const when =
      name === 'run'
        ? `not __fish_seen_subcommand_from ${COMMAND_NAMES.filter((it) => it !== 'run').join(' ')}`
        : `__fish_seen_subcommand_from ${name}`;
    const flags = flagsOf(name).map(({ name: flag, takes, choices, help }) => {
      const value = takes === undefined ? '' : choices ? ` -x -a '${choices.join(' ')}'` : ' -r';
      return `complete -c sexton -n '${when}' -l ${flag}${value} -d '${fish(help)}'\n`;
    });
    const words = SUBCOMMAND_WORDS[name];
    return [
      `complete -c sexton -n __fish_use_subcommand -f -a ${name} -d '${fish(COMMANDS[name].summary)}'\n`,
      ...(words ? [`complete -c sexton -n '${when}' -f -a '${words.join(' ')}'\n`] : []),
      ...flags,
    ];
  });
  return `# fish completion of sexton; sexton completion fish | source\n${lines.join('')}`;
}

/** Escapes text for single quotes, brackets and colons of zsh. */
function zsh(text: string): string {
  return text.replace(/[[\]:\\]/g, '\\$&').replaceAll("'", "'\\''");
}

function fish(text: string): string {
  return text.replace(/[\\']/g, '\\$&');
}
