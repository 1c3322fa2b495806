import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { Fault } from "@resource-broker/contract";
import type { MachineTime } from "@resource-broker/runtime";
import { startWorld, type World } from "@resource-broker/testkit";
import { demoCertificates } from "./certificates.ts";
import { commandsFor, REQUEST_YAML } from "./commands.ts";
import { findProgram } from "./find-program.ts";
import { FLEET } from "./fleet.ts";

export interface DemoOptions {
  /** Where everything is kept, and stays; it must be empty. "": a temporary folder, which is removed at the end. */
  readonly dir: string;
}

export interface DemoDeps {
  readonly machine: MachineTime;
  readonly randomBytes: (size: number) => Uint8Array;
  /** Where programs are looked for. */
  readonly searchPath: string;
  readonly say: (line: string) => void;
}

/** A broker and four clusters on this machine, and what to type to see them work. */
export function createDemo({ dir }: DemoOptions, deps: DemoDeps) {
  const { machine, say } = deps;
  const startedAt = machine.monotonicMs();
  const seconds = (): string => `${((machine.monotonicMs() - startedAt) / 1000).toFixed(1)} s`;
  let world: World | undefined;

  const start = async (): Promise<void> => {
    say("Resource Broker: a broker and four clusters, all on this machine.");
    world = await startWorld({
      clusters: FLEET,
      certificates: demoCertificates({ now: machine.wallMs, randomBytes: deps.randomBytes }),
      onReady: (part) =>
        say(
          `  ${seconds().padStart(6)}  ${part === "broker" ? "the broker" : `the agent of ${part}`} is ready`,
        ),
      ...(dir === "" ? {} : { directory: await emptyFolder(dir) }),
    });
    const requestFile = join(world.directory, "request.yaml");
    await writeFile(requestFile, REQUEST_YAML);
    for (const line of await guide(world, requestFile)) say(line);
  };

  const guide = async ({ broker, cluster, directory }: World, requestFile: string): Promise<string[]> => {
    const kubeconfigOf = (name: string): string => cluster(name).kubeconfigFile;
    const hasKubectl = await findProgram("kubectl", deps.searchPath);
    return [
      `Ready after ${seconds()}. The broker is at https://127.0.0.1:${broker.port}.`,
      `Files, logs included, are in ${directory}${dir === "" ? " and are removed at the end" : " and stay there"}.`,
      "",
      "Kubeconfigs:",
      ...FLEET.map(({ name }) => `  ${name.padEnd(8)}${kubeconfigOf(name)}`),
      "",
      ...(hasKubectl ? [] : [NO_KUBECTL, ""]),
      "See a reservation travel the whole way: in another terminal, one after the other:",
      ...commandsFor({ kubeconfigOf, requestFile }).flatMap(({ says, command }, index) => [
        "",
        `  ${index + 1}. ${says}:`,
        `     ${command}`,
      ]),
      "",
      "Ctrl-C ends everything.",
    ];
  };

  return {
    start,
    stop: async () => {
      await world?.dispose();
      say("Everything has ended.");
    },
  };
}

const NO_KUBECTL =
  "kubectl is not installed here, and the commands below need it: https://kubernetes.io/docs/tasks/tools says how to get it.";

async function emptyFolder(dir: string): Promise<string> {
  const folder = resolve(dir);
  await mkdir(folder, { recursive: true });
  if ((await readdir(folder)).length === 0) return folder;
  throw new Fault("invalid", `--dir: ${folder} is not empty; name a new folder`);
}
