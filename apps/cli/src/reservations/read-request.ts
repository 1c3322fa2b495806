import { forRequester, type TypedCall } from "@resource-broker/client";
import {
  describeProblems,
  type ReservationRequestDTO,
  reservationRequestSchema,
  toReservationRequest,
  validateExactly,
} from "@resource-broker/contract";
import { checkClusterId } from "../cli/cluster-id.ts";
import type { Values } from "../cli/command.ts";
import { CommandError } from "../cli/exit-code.ts";
import { readLabels } from "../cli/parse-input.ts";
import type { Broker } from "../connection/broker.ts";
import type { REQUEST } from "../commands/broker-options.ts";

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
  ["wait.for", "--wait"],
  ["priority", "--priority"],
  ["resumes", "--resumes"],
  ["namespace", "--namespace"],
];

/** What only a reservation is asked for with: a quote waits for nothing. */
interface Waits {
  readonly wait?: string | undefined;
  readonly namespace?: string | undefined;
  readonly priority?: string | undefined;
  readonly resumes?: string | undefined;
}

/** What the flags ask for. Checked here by the contract's own rules, so that an error names the flag. */
export function readRequest(
  options: Options,
  { wait, namespace, priority, resumes }: Waits = {},
): ReservationRequestDTO {
  const { cpu, memory, gpu, storage, duration, target, tier, region, exclude } = options;
  const missing = [...(cpu === undefined ? ["--cpu"] : []), ...(memory === undefined ? ["--memory"] : [])];
  if (missing.length > 0) {
    const message = `say how much: ${missing.join(" and ")}, for example --cpu 2 --memory 8Gi`;
    throw new CommandError("usage", message);
  }
  const request = given({
    requestedResources: given({
      cpu,
      memory,
      gpu,
      storage,
      extended: readLabels("resource", options.resource),
    }),
    duration,
    targetClusterID: target,
    tier,
    constraints: given({
      regions: region,
      labels: readLabels("selector", options.selector),
      excludeClusters: exclude,
    }),
    ...waitingFields({ wait, namespace, priority, resumes }),
    perNode: given({ cpu: options["node-cpu"], memory: options["node-memory"], gpu: options["node-gpu"] }),
  });
  const validated = validateExactly(reservationRequestSchema, request);
  // Amounts can still be larger than a broker counts.
  const mapped = validated.ok ? toReservationRequest(validated.value) : validated;
  if (validated.ok && mapped.ok) return validated.value;
  const found = mapped.ok ? [] : mapped.problems;
  const problems = found.map(({ path, message }) => ({ path: flagOf(path), message }));
  throw new CommandError("usage", describeProblems(problems));
}

function waitingFields({ wait, priority, ...others }: Waits) {
  return {
    ...others,
    wait: given({ for: wait }),
    // What is no number is left to the contract, whose error names the flag.
    priority: /^-?\d{1,10}$/u.test(priority ?? "") ? Number(priority) : priority,
  };
}

/** Without the fields that nobody gave: those that are undefined, an empty list or an empty map. */
function given(
  fields: Readonly<Record<string, string | number | object | undefined>>,
): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) =>
      typeof value === "object" ? Object.keys(value).length > 0 : value !== undefined,
    ),
  );
}

function flagOf(path: string): string {
  const [start, flag] = FLAGS.find(([start]) => path.startsWith(start)) ?? ["", ""];
  return `${flag}${path.slice(start.length)}`;
}

/** The cluster that something is asked for, where that is not the one whose certificate is used. */
export function requesterFor(
  named: string | undefined,
  { credentials }: Pick<Broker, "credentials">,
): string | undefined {
  const { name, isAdmin } = credentials;
  if (named !== undefined) checkClusterId(named);
  if (named === undefined && isAdmin) {
    throw new CommandError(
      "usage",
      `${name} is an admin and no cluster: say which cluster it is for, for example --for rome`,
    );
  }
  if (named !== undefined && named !== name && !isAdmin) {
    throw new CommandError("auth", `${name} may not ask for ${named}: use its certificate, or an admin's`);
  }
  return named;
}

/** The call with the requester, if it has to be named. */
export function asRequester<T>(call: TypedCall<T>, requester: string | undefined): TypedCall<T> {
  return requester === undefined ? call : forRequester(call, requester);
}
