import { type Command, type CommandGroup, findEntry, isGroup, type Option } from "./command.ts";
import { defineCommand } from "./define-command.ts";

/** What the shell is to offer besides the words above; the numbers are those of cobra, which kubectl reads, too. */
const DIRECTIVES = { files: ":0", nothing: ":4", folders: ":16" } as const;

interface Word {
  readonly word: string;
  readonly summary: string;
}

interface Offer {
  readonly words: readonly Word[];
  readonly directive?: keyof typeof DIRECTIVES;
}

const HELP: Word = { word: "--help", summary: "what the command does" };

/** What may come in the place of the last word: a word on each line with its summary, then a directive. */
export function complete(root: CommandGroup, typed: readonly string[]): string {
  // bash hands `--output=json` over as three words.
  const before = typed.slice(0, -1).filter((word) => word !== "=");
  const current = typed.at(-1)?.replace(/^=$/u, "") ?? "";
  const { entry, rest } = findEntry(root, before[0] === "help" ? before.slice(1) : before);
  const { words, directive = "nothing" } = isGroup(entry)
    ? { words: rest.length > 0 ? [] : nextIn(entry, current) }
    : offerOf(entry, rest.at(-1) ?? "", current);
  const lines = words
    .filter(({ word }) => word.startsWith(current))
    .map(({ word, summary }) => (summary === "" ? word : `${word}\t${summary}`));
  return [...lines, DIRECTIVES[directive], ""].join("\n");
}

function nextIn({ commands }: CommandGroup, current: string): readonly Word[] {
  return current.startsWith("-") ? [HELP] : commands.map(({ name, summary }) => ({ word: name, summary }));
}

function offerOf({ options, arguments: wanted = [] }: Command, previous: string, current: string): Offer {
  const [name = "", value] = current.split("=", 2);
  if (value !== undefined) {
    const { words, ...rest } = valuesOf(optionCalled(options, name));
    return { words: words.map(({ word, summary }) => ({ word: `${name}=${word}`, summary })), ...rest };
  }
  const option = optionCalled(options, previous);
  if (option !== undefined && option.kind !== "flag") return valuesOf(option);
  if (current.startsWith("-"))
    return { words: [...Object.entries(options).flatMap(spellings), HELP, { ...HELP, word: "-h" }] };
  const places = wanted[0]?.name.split("|") ?? [];
  return {
    words: [],
    directive: places.some((place) => place === "file" || place === "folder") ? "files" : "nothing",
  };
}

function optionCalled(options: Command["options"], word: string): Option | undefined {
  return Object.entries(options).find((entry) =>
    spellings(entry).some((spelling) => spelling.word === word),
  )?.[1];
}

function spellings([name, { short, summary }]: readonly [string, Option]): Word[] {
  return [`--${name}`, ...(short === undefined ? [] : [`-${short}`])].map((word) => ({ word, summary }));
}

function valuesOf(option: Option | undefined): Offer {
  if (option?.kind === "choice") return { words: option.choices.map((word) => ({ word, summary: "" })) };
  if (option === undefined || option.kind === "flag") return { words: [] };
  if (option.value === "folder") return { words: [], directive: "folders" };
  return { words: [], directive: option.value === "file" ? "files" : "nothing" };
}

/** Each script asks `brokerctl __complete`, so it stays true when brokerctl is updated. */
const SHELLS = [
  {
    name: "bash",
    load: "source <(brokerctl completion bash)",
    file: "~/.bashrc",
    // Works from bash 3.2 on, which macOS has.
    script: `# Completes brokerctl in bash. Made by: brokerctl completion bash
_brokerctl() {
  local IFS=$'\\n' current="\${COMP_WORDS[COMP_CWORD]}" answer
  if [[ $current == "=" ]]; then current=""; fi
  answer="$("\${COMP_WORDS[0]}" __complete "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)"
  case "\${answer##*$'\\n'}" in
    ":0") compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- "$current")) ;;
    ":16") compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -d -- "$current")) ;;
    *) COMPREPLY=($(sed '$d' <<<"$answer" | cut -f 1)) ;;
  esac
}
complete -F _brokerctl brokerctl
`,
  },
  {
    name: "zsh",
    load: "source <(brokerctl completion zsh)",
    file: "~/.zshrc, after compinit",
    script: `#compdef brokerctl
# Completes brokerctl in zsh. Made by: brokerctl completion zsh
_brokerctl() {
  local line directive="" tab="$(printf '\\t')"
  local -a entries
  "\${words[1]}" __complete "\${(@)words[2,CURRENT]}" 2>/dev/null | while IFS= read -r line; do
    if [[ "$line" == :* ]]; then
      directive="$line"
    else
      # The first colon ends the word; what comes after it is shown beside.
      line="\${line//:/\\\\:}"
      entries+=("\${line/$tab/:}")
    fi
  done
  case "$directive" in
    ":0") _files ;;
    ":16") _files -/ ;;
    *) if (( \${#entries} )); then _describe 'brokerctl' entries; fi ;;
  esac
}
if [[ "\${funcstack[1]}" == "_brokerctl" ]]; then
  _brokerctl "$@"
else
  compdef _brokerctl brokerctl
fi
`,
  },
  {
    name: "fish",
    load: "brokerctl completion fish | source",
    file: "~/.config/fish/config.fish",
    script: `# Completes brokerctl in fish. Made by: brokerctl completion fish
function __brokerctl_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    for line in ($words[1] __complete $words[2..-1] "$current" 2>/dev/null)
        switch $line
            case ':0'
                __fish_complete_path "$current"
            case ':16'
                __fish_complete_directories "$current"
            case ':4'
            case '*'
                echo $line
        end
    end
end
complete -c brokerctl -f -a '(__brokerctl_complete)'
`,
  },
] as const;

export const COMPLETION: CommandGroup = {
  name: "completion",
  summary: "Prints a script that makes your shell complete commands, options and their values",
  commands: SHELLS.map(({ name, load, file, script }) =>
    defineCommand({
      name,
      summary: `Prints the script for ${name}`,
      details: `For this shell:      ${load}\nFor every new one:   the same line in ${file}`,
      options: {},
      examples: [load],
      load: async () => async (_input, host) => {
        host.out(script);
        return undefined;
      },
    }),
  ),
};
