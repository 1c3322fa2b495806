import type { DecisionDTO, ReservationRequestDTO } from "@resource-broker/contract";
import { withQuery } from "../shell/navigation.ts";

const START = {
  requester: "",
  cpu: "4",
  memory: "8Gi",
  gpu: "",
  duration: "1h",
  /** `spot`, or empty: on demand. */
  tier: "",
  target: "",
  /** Several, with commas. */
  regions: "",
  /** `name=value`, several with commas. */
  labels: "",
  exclude: "",
  /** `resources:0.7,cost:0.3`; empty: those of the policy. */
  weights: "",
};
export type FormField = keyof typeof START;
/** The form as it is in the address: all text. */
export type WhatIfForm = Readonly<Record<FormField, string>>;

/** A request, and who would make it. */
export interface QuoteQuestion {
  readonly requesterID: string;
  readonly request: ReservationRequestDTO;
  /** In place of the policy's: `resources:0.7,cost:0.3`. */
  readonly weights?: string;
}

/** A field that is absent from the address has its default; this value marks a field that the user has emptied. */
const EMPTY_VALUE = "-";

export function readWhatIf(query: URLSearchParams): WhatIfForm {
  const stated = Object.keys(START)
    .map((field) => [field, query.get(field)] as const)
    .filter(([, value]) => value !== null);
  return {
    ...START,
    ...Object.fromEntries(stated.map(([field, value]) => [field, value === EMPTY_VALUE ? "" : value])),
  };
}

export function fieldInAddress(field: FormField, value: string): string {
  // The page fills in a requester, too.
  const isFilledIn = START[field] !== "" || field === "requester";
  return value === "" && isFilledIn ? EMPTY_VALUE : value;
}

/** Null: not enough is said yet to ask. */
export function quoteRequest(form: WhatIfForm): QuoteQuestion | null {
  const requesterID = form.requester.trim();
  const [cpu, memory] = [form.cpu.trim(), form.memory.trim()];
  if (requesterID === "" || cpu === "" || memory === "") return null;
  const weights = readWeights(form.weights);
  return {
    requesterID,
    request: {
      requestedResources: { cpu, memory, ...stated("gpu", form.gpu.trim()) },
      // Without one it is held until released.
      ...stated("duration", form.duration.trim()),
      ...(form.tier === "spot" ? { tier: "spot" as const } : {}),
      ...stated("targetClusterID", form.target.trim()),
      ...constraintsOf(form),
    },
    ...(weights === null ? {} : { weights: writeWeights(weights) }),
  };
}

function stated<Name extends string>(name: Name, value: string): { readonly [K in Name]?: string } {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a computed name is not inferred as itself
  return (value === "" ? {} : { [name]: value }) as { readonly [K in Name]?: string };
}

function constraintsOf(form: WhatIfForm): Pick<QuoteQuestion["request"], "constraints"> {
  const [regions, labels, excludeClusters] = [parts(form.regions), parts(form.labels), parts(form.exclude)];
  if (regions.length + labels.length + excludeClusters.length === 0) return {};
  const pairs = labels.map((label) => {
    const [name = "", ...value] = label.split("=");
    return [name.trim(), value.join("=").trim()] as const;
  });
  return {
    constraints: {
      ...(regions.length === 0 ? {} : { regions }),
      ...(pairs.length === 0 ? {} : { labels: Object.fromEntries(pairs) }),
      ...(excludeClusters.length === 0 ? {} : { excludeClusters }),
    },
  };
}

function parts(text: string): string[] {
  return text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
}

export function readWeights(text: string): Readonly<Record<string, number>> | null {
  const entries = parts(text).flatMap((part) => {
    const [name = "", value = ""] = part.split(":");
    const weight = Number(value);
    return name === "" || value === "" || !(weight >= 0) ? [] : [[name, weight] as const];
  });
  return entries.length === 0 ? null : Object.fromEntries(entries);
}

export function writeWeights(weights: Readonly<Record<string, number>>): string {
  return Object.entries(weights)
    .map(([name, weight]) => `${name}:${Math.round(weight * 100) / 100}`)
    .join(",");
}

/** A decision as the what-if that asks for the same again; null: the form has no words for all of it. */
export function whatIfHref(decision: Pick<DecisionDTO, "requesterID" | "request">): string | null {
  const { requestedResources, duration, tier, targetClusterID } = decision.request;
  if (hasMoreThanForm(decision.request)) return null;
  const { cpu, memory, gpu } = requestedResources;
  return withQuery("/what-if", {
    requester: decision.requesterID,
    cpu,
    memory,
    gpu: gpu === "0" ? null : gpu,
    duration: fieldInAddress("duration", duration ?? ""),
    tier: tier === "spot" ? tier : null,
    target: targetClusterID,
    ...constraintFields(decision.request.constraints ?? {}),
  });
}

type Constraints = NonNullable<DecisionDTO["request"]["constraints"]>;

function constraintFields({ regions = [], labels = {}, excludeClusters = [] }: Constraints) {
  const wanted = Object.entries(labels).map(([name, value]) => `${name}=${value}`);
  return { regions: regions.join(","), labels: wanted.join(","), exclude: excludeClusters.join(",") };
}

function hasMoreThanForm({ perNode, requestedResources }: DecisionDTO["request"]): boolean {
  const { storage = "0", extended = {} } = requestedResources;
  return perNode !== undefined || storage !== "0" || Object.keys(extended).length > 0;
}

/** The command that creates the request. JSON strings are valid YAML strings without line breaks. */
export function askCommand({ request }: QuoteQuestion): string {
  const { requestedResources, duration, tier, targetClusterID, constraints } = request;
  const line = (name: string, value: string | undefined): string[] =>
    value === undefined ? [] : [`  ${name}: ${JSON.stringify(value)}`];
  return [
    "kubectl create -f - <<'EOF'",
    "apiVersion: rear.fluidos.eu/v1alpha1",
    "kind: ResourceRequest",
    "metadata:",
    "  generateName: what-if-",
    "spec:",
    ...line("requestedCPU", requestedResources.cpu),
    ...line("requestedMemory", requestedResources.memory),
    ...line("requestedGPU", requestedResources.gpu),
    ...line("duration", duration),
    ...line("tier", tier),
    ...line("targetClusterID", targetClusterID),
    ...(constraints === undefined ? [] : [`  constraints: ${JSON.stringify(constraints)}`]),
    "EOF",
    "",
  ].join("\n");
}
