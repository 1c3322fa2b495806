import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import type { KubectlCommand } from "../../src/testing/kubectl-command.ts";

export interface Seen {
  readonly stdout: string;
  readonly stderr: string;
  /** Undefined: it was ended because it had shown everything. */
  readonly exitCode: number | undefined;
}

export interface KubectlPlace {
  /** Absent: the kubectl of this machine. */
  readonly program?: string;
  readonly kubeconfig: string;
  /** Stands for the user's home: nothing of the machine is touched. */
  readonly home: string;
  readonly crds: string;
}

type Input = Pick<KubectlCommand, "args" | "stdin">;

/** Runs kubectl to its end. */
export async function runKubectl(place: KubectlPlace, input: Input): Promise<Seen> {
  const child = start(place, input);
  const seen = collect(child);
  const exitCode = await ended(child);
  return { ...seen(), exitCode };
}

/** Starts kubectl, makes other calls once it has said something, and ends it when its output shows everything. */
export async function watchKubectl(place: KubectlPlace, command: KubectlCommand): Promise<Seen> {
  const child = start(place, command);
  const seen = collect(child);
  const isWhole = new Promise<void>((resolve) => {
    const look = (): void => {
      if (command.shows.every((pattern) => pattern.test(seen().stdout))) resolve();
    };
    child.stdout.on("data", look);
    child.once("close", () => resolve());
  });
  const isReady = new Promise<void>((resolve) => {
    // What only watches says nothing at first: -v=6 reports each answer of the server.
    child.stderr.on("data", () => {
      if (/watch=true/u.test(seen().stderr)) resolve();
    });
    child.once("close", () => resolve());
  });
  await isReady;
  for (const args of command.meanwhile ?? []) await runKubectl(place, { args });
  await isWhole;
  const end = ended(child);
  child.kill();
  await end;
  return { ...seen(), exitCode: undefined };
}

function start(
  { program = "kubectl", kubeconfig, home, crds }: KubectlPlace,
  { args, stdin }: Input,
): ChildProcessWithoutNullStreams {
  const words = args.map((word) => word.replace("{crds}", crds));
  const verbosity = words.includes("-w") ? ["-v=6"] : [];
  const child = spawn(program, ["--cache-dir", `${home}/cache`, ...verbosity, ...words], {
    env: { PATH: process.env["PATH"], HOME: home, KUBECONFIG: kubeconfig },
  });
  child.stdin.end(stdin ?? "");
  return child;
}

function collect(child: ChildProcessWithoutNullStreams): () => Pick<Seen, "stdout" | "stderr"> {
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  return () => ({ stdout, stderr });
}

function ended(child: ChildProcessWithoutNullStreams): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once("error", (cause) =>
      reject(new Error("these tests drive the real kubectl: install it", { cause })),
    );
    child.once("close", (code) => resolve(code ?? -1));
  });
}
