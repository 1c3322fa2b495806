import { type Command, OUTPUT, type Options, type OutputFormat, type Run } from "./command.ts";

interface CommandLine<O extends Options> extends Omit<Command<O>, "start"> {
  /** Imports the code of the command: not before it is wanted, so that help stays quick. */
  readonly load: () => Promise<Run<O>>;
}

/** Ties a command's options to the function that reads them, so that the compiler compares the two. */
export function defineCommand<const O extends Options>({ load, ...line }: CommandLine<O>): Command {
  return {
    ...line,
    start: async (args, host) => {
      const { parseInput } = await import("./parse-input.ts");
      const input = parseInput(line, args, host.env);
      const run = await load();
      const view = await run(input, host);
      if (view === undefined) return;
      const { print } = await import("../output/print.ts");
      print(view, formatIn(input.options), host);
      if (view.problem !== undefined) throw view.problem;
    },
  };
}

function formatIn(options: Readonly<Record<string, unknown>>): OutputFormat {
  return OUTPUT.choices.find((format) => format === options["output"]) ?? OUTPUT.default;
}
