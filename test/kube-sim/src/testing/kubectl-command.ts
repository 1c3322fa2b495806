/** One call of kubectl and what a user sees. The calls of a table run in order, each on what the ones before have left. */
export interface KubectlCommand {
  /** A sentence. */
  readonly name: string;
  /** Words of the command line; `{crds}` stands for the folder of our CustomResourceDefinitions. */
  readonly args: readonly string[];
  readonly stdin?: string;
  /** What the output must match, each of them. */
  readonly shows: readonly RegExp[];
  /** What the errors must match, each of them. */
  readonly complains?: readonly RegExp[];
  /** What neither may match. */
  readonly hides?: readonly RegExp[];
  readonly exitCode: number;
  /** Calls that are made while this one runs; it is ended when its output shows everything. */
  readonly meanwhile?: readonly (readonly string[])[];
  /** Who beside the API server, the garbage collector and the namespace controller must be there for it. */
  readonly needs?: "scheduler and kubelet" | "publisher of root certificates";
}

type Rest = Omit<KubectlCommand, "name" | "args" | "exitCode"> & { readonly exitCode?: number };

/** A line is split at its spaces; where a word holds one, the words are given one by one. */
export function command(name: string, line: string | readonly string[], rest: Rest): KubectlCommand {
  const args = typeof line === "string" ? line.split(" ") : line;
  return { exitCode: 0, ...rest, name, args };
}

/** A command that must fail. */
export function refused(
  name: string,
  line: string | readonly string[],
  rest: Omit<Rest, "shows">,
): KubectlCommand {
  return command(name, line, { exitCode: 1, shows: [], ...rest });
}

/** What `kubectl -f -` reads. */
export function manifest(...objects: readonly object[]): string {
  return JSON.stringify(
    objects.length === 1 ? objects[0] : { apiVersion: "v1", kind: "List", items: objects },
  );
}
