import {
  describeProblems,
  type ReservationRequestDTO,
  reservationRequestSchema,
  type SomeQuantitiesDTO,
  validateExactly,
} from "@resource-broker/contract";
import type { Values } from "../cli/command.ts";
import { CommandError } from "../cli/exit-code.ts";
import { readLabels } from "../cli/read-labels.ts";
import type { REQUEST } from "./options.ts";

type Options = Values<typeof REQUEST>;

/** What the fields of a request are called on the command line, the longer paths first. */
const FLAGS: readonly (readonly [path: string, flag: string])[] = [
  ["requestedResources.extended", "--resource"],
  ["requestedResources.", "--"],
  ["perNode.", "--node-"],
  ["constraints.regions", "--region"],
  ["constraints.labels", "--selector"],
  ["constraints.excludeClusters", "--exclude"],
  ["targetClusterID", "--target"],
  ["duration", "--duration"],
];

/** What the flags ask for. Checked here by the contract's own rules, so that an error names the flag. */
export function readRequest(options: Options): ReservationRequestDTO {
  const { cpu, memory, duration, target, tier } = options;
  if (cpu === undefined || memory === undefined) {
    throw new CommandError(
      "usage",
      `say how much: ${missingIn(options).join(" and ")}, for example --cpu 2 --memory 8Gi`,
    );
  }
  const constraints = constraintsIn(options);
  const perNode = perNodeIn(options);
  const request = {
    requestedResources: { cpu, memory, ...othersIn(options) },
    ...(duration === undefined ? {} : { duration }),
    ...(target === undefined ? {} : { targetClusterID: target }),
    ...(tier === undefined ? {} : { tier }),
    ...(Object.keys(constraints).length === 0 ? {} : { constraints }),
    ...(Object.keys(perNode).length === 0 ? {} : { perNode }),
  };
  const validated = validateExactly(reservationRequestSchema, request);
  if (validated.ok) return validated.value;
  const problems = validated.problems.map(({ path, message }) => ({ path: flagOf(path), message }));
  throw new CommandError("usage", describeProblems(problems));
}

function missingIn({ cpu, memory }: Options): readonly string[] {
  return [...(cpu === undefined ? ["--cpu"] : []), ...(memory === undefined ? ["--memory"] : [])];
}

function othersIn({
  gpu,
  storage,
  resource,
}: Options): Pick<SomeQuantitiesDTO, "gpu" | "storage" | "extended"> {
  const extended = readLabels("resource", resource);
  return {
    ...(gpu === undefined ? {} : { gpu }),
    ...(storage === undefined ? {} : { storage }),
    ...(resource.length === 0 ? {} : { extended }),
  };
}

function constraintsIn({
  region,
  selector,
  exclude,
}: Options): NonNullable<ReservationRequestDTO["constraints"]> {
  return {
    ...(region.length === 0 ? {} : { regions: region }),
    ...(selector.length === 0 ? {} : { labels: readLabels("selector", selector) }),
    ...(exclude.length === 0 ? {} : { excludeClusters: exclude }),
  };
}

function perNodeIn(options: Options): SomeQuantitiesDTO {
  const { "node-cpu": cpu, "node-memory": memory, "node-gpu": gpu } = options;
  return {
    ...(cpu === undefined ? {} : { cpu }),
    ...(memory === undefined ? {} : { memory }),
    ...(gpu === undefined ? {} : { gpu }),
  };
}

function flagOf(path: string): string {
  const [start, flag] = FLAGS.find(([start]) => path.startsWith(start)) ?? ["", ""];
  return `${flag}${path.slice(start.length)}`;
}
