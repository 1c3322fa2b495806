import {
  aliasesIn,
  type CommandNode,
  pathsBelow,
  quoted,
  spellings,
  type ValueKind,
  valueGroups,
} from "./command-nodes.ts";

/** Works from bash 3.2 on, which macOS has. */
export function bashScript(places: readonly CommandNode[]): string {
  return `# Completes brokerctl in bash. Made by: brokerctl completion bash
_brokerctl() {
  local current previous at word index words=""
  current="\${COMP_WORDS[COMP_CWORD]}"
  previous="\${COMP_WORDS[COMP_CWORD-1]}"
  # --output=json arrives as three words.
  if [[ $current == "=" ]]; then
    current=""
  elif [[ $previous == "=" ]]; then
    previous="\${COMP_WORDS[COMP_CWORD-2]}"
  fi
  at="brokerctl"
  for ((index = 1; index < COMP_CWORD; index++)); do
    word="\${COMP_WORDS[index]}"
    case "$at $word" in
      "brokerctl help") ;;
${alternatives(pathsBelow(places), '        at="$at $word" ;;')}
${aliasesIn(places)
  .map(({ path, otherPaths }) => alternatives(otherPaths, `        at=${quoted(path)} ;;`))
  .join("\n")}
      *) break ;;
    esac
  done
  local IFS=$'\\n'
  COMPREPLY=()
  case "$at $previous" in
${valueGroups(places)
  .map(({ value, patterns }) => alternatives(patterns, `        ${reply(value)}\n        return ;;`))
  .join("\n")}
  esac
  case "$at" in
${places.map(placeCase).join("\n")}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -F _brokerctl brokerctl
`;
}

function alternatives(patterns: readonly string[], body: string): string {
  return `      ${patterns.map(quoted).join(" | ")})\n${body}`;
}

function reply(value: ValueKind): string {
  switch (value.kind) {
    case "choices":
      return `COMPREPLY=($(compgen -W ${lines(value.choices)} -- "$current"))`;
    case "file":
      return filesReply("-f");
    case "folder":
      return filesReply("-d");
    default:
      return ":";
  }
}

/** Names with spaces are quoted, and folders end with a slash, where bash can do that. */
function filesReply(flag: string): string {
  return `compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen ${flag} -- "$current"))`;
}

function placeCase({ path, commands, options, takesFile }: CommandNode): string {
  const optionWords = lines(options.flatMap(spellings));
  const others = takesFile
    ? `${filesReply("-f")}; return`
    : `words=${lines(commands.map(({ name }) => name))}`;
  return `    ${quoted(path)})
      if [[ $current == -* ]]; then words=${optionWords}; else ${others}; fi ;;`;
}

/** One word on each line, because IFS is a line's end. */
function lines(words: readonly string[]): string {
  return `$'${words.join(String.raw`\n`)}'`;
}
