import { aliasesIn, type CommandNode, type OptionWord, pathsBelow } from "./command-nodes.ts";

export function fishScript(places: readonly CommandNode[]): string {
  return `# Completes brokerctl in fish. Made by: brokerctl completion fish
function __brokerctl_at
    set -l at brokerctl
    for word in (commandline -opc)[2..-1]
        switch "$at $word"
            case 'brokerctl help'
            case ${pathsBelow(places).map(quotedForFish).join(" ")}
                set at "$at $word"
${aliasesIn(places)
  .map(
    ({ path, otherPaths }) =>
      `            case ${otherPaths.map(quotedForFish).join(" ")}\n                set at ${quotedForFish(path)}`,
  )
  .join("\n")}
            case '*'
                break
        end
    end
    test "$at" = "$argv[1]"
end
complete -c brokerctl -f
${places.flatMap(linesOf).join("\n")}
`;
}

function linesOf({ path, commands, options, takesFile }: CommandNode): string[] {
  const start = `complete -c brokerctl -n ${quotedForFish(`__brokerctl_at '${path}'`)}`;
  return [
    ...commands.map(({ name, summary }) => `${start} -a ${name} -d ${quotedForFish(summary)}`),
    ...(takesFile ? [`${start} -F`] : []),
    ...options.map((option) => `${start} ${optionFlags(option)} -d ${quotedForFish(option.summary)}`),
  ];
}

function optionFlags({ name, short, value }: OptionWord): string {
  const words = short === undefined ? `-l ${name}` : `-l ${name} -s ${short}`;
  switch (value.kind) {
    case "none":
      return words;
    case "choices":
      return `${words} -x -a ${quotedForFish(value.choices.join(" "))}`;
    case "file":
      return `${words} -r -F`;
    case "folder":
      return `${words} -x -a '(__fish_complete_directories)'`;
    case "anything":
      return `${words} -x`;
  }
}

function quotedForFish(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", String.raw`\'`)}'`;
}
