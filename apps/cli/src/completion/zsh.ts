import {
  aliasesIn,
  type CommandNode,
  pathsBelow,
  quoted,
  spellings,
  type ValueKind,
  valueGroups,
} from "./command-nodes.ts";

export function zshScript(places: readonly CommandNode[]): string {
  return `#compdef brokerctl
# Completes brokerctl in zsh. Made by: brokerctl completion zsh
_brokerctl() {
  local at="brokerctl" word index previous="\${words[CURRENT-1]}"
  local -a entries
  for ((index = 2; index < CURRENT; index++)); do
    word="\${words[index]}"
    case "$at $word" in
      "brokerctl help") ;;
      ${pathsBelow(places).map(quoted).join(" | ")})
        at="$at $word" ;;
${aliasesIn(places)
  .map(({ path, otherPaths }) => `      ${otherPaths.map(quoted).join(" | ")}) at=${quoted(path)} ;;`)
  .join("\n")}
      *) break ;;
    esac
  done
  case "$at $previous" in
${valueGroups(places)
  .map(
    ({ value, patterns }) =>
      `    ${patterns.map(quoted).join(" | ")})\n      ${reply(value)}\n      return ;;`,
  )
  .join("\n")}
  esac
  case "$at" in
${places.map(placeCase).join("\n")}
  esac
}
if [[ "\${funcstack[1]}" == "_brokerctl" ]]; then
  _brokerctl "$@"
else
  compdef _brokerctl brokerctl
fi
`;
}

function reply(value: ValueKind): string {
  switch (value.kind) {
    case "choices":
      return `compadd -- ${value.choices.map(quoted).join(" ")}`;
    case "file":
      return "_files";
    case "folder":
      return "_files -/";
    default:
      return "_message 'a value'";
  }
}

function placeCase({ path, commands, options, takesFile }: CommandNode): string {
  const optionEntries = options.flatMap((option) =>
    spellings(option).map((word) => ({ name: word, summary: option.summary })),
  );
  const others = takesFile ? "_files" : commands.length === 0 ? ":" : described("command", commands);
  return `    ${quoted(path)})
      if [[ "\${words[CURRENT]}" == -* ]]; then
        ${described("option", optionEntries)}
      else
        ${others}
      fi ;;`;
}

interface Described {
  readonly name: string;
  readonly summary: string;
}

/** The first colon ends the word; what comes after it is shown beside. */
function described(what: string, entries: readonly Described[]): string {
  const list = entries.map(({ name, summary }) => quoted(`${name}:${summary}`)).join(" ");
  return `entries=(${list}); _describe ${quoted(what)} entries`;
}
