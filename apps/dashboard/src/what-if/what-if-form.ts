import type { DecisionDTO } from "@resource-broker/contract";
import type { UiQuoteRequest } from "@resource-broker/contract/dashboard";
import { withQuery } from "../net/query.ts";

/** The form as it is in the address: all text. */
export interface WhatIfForm {
  readonly requester: string;
  readonly cpu: string;
  readonly memory: string;
  readonly gpu: string;
  readonly duration: string;
  /** `spot`, or empty: on demand. */
  readonly tier: string;
  readonly target: string;
  /** Several, with commas. */
  readonly regions: string;
  /** `name=value`, several with commas. */
  readonly labels: string;
  readonly exclude: string;
  /** `resources:0.7,cost:0.3`; empty: those of the policy. */
  readonly weights: string;
}

export type FormField = keyof WhatIfForm;

const START: WhatIfForm = {
  requester: "",
  cpu: "4",
  memory: "8Gi",
  gpu: "",
  duration: "1h",
  tier: "",
  target: "",
  regions: "",
  labels: "",
  exclude: "",
  weights: "",
};

export function readWhatIf(query: URLSearchParams): WhatIfForm {
  const read = (field: FormField): string => {
    const stored = query.get(field) ?? START[field];
    return stored === EMPTY_VALUE ? "" : stored;
  };
  return {
    requester: read("requester"),
    cpu: read("cpu"),
    memory: read("memory"),
    gpu: read("gpu"),
    duration: read("duration"),
    tier: read("tier"),
    target: read("target"),
    regions: read("regions"),
    labels: read("labels"),
    exclude: read("exclude"),
    weights: read("weights"),
  };
}

/** A field that is absent from the address has its default; this value marks a field that the user has emptied. */
const EMPTY_VALUE = "-";
const NOT_EMPTY_AT_START: readonly FormField[] = ["requester", "cpu", "memory", "duration"];

export function fieldInAddress(field: FormField, value: string): string {
  return value === "" && NOT_EMPTY_AT_START.includes(field) ? EMPTY_VALUE : value;
}

/** Null: not enough is said yet to ask. */
export function quoteRequest(form: WhatIfForm): UiQuoteRequest | null {
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
    ...(weights === null ? {} : { weights }),
  };
}

function stated<Name extends string>(name: Name, value: string): { readonly [K in Name]?: string } {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a computed name is not inferred as itself
  return (value === "" ? {} : { [name]: value }) as { readonly [K in Name]?: string };
}

function constraintsOf({
  regions,
  labels,
  exclude,
}: WhatIfForm): Pick<UiQuoteRequest["request"], "constraints"> {
  const wanted = Object.fromEntries(
    parts(labels).map((label) => {
      const [name = "", ...value] = label.split("=");
      return [name.trim(), value.join("=").trim()];
    }),
  );
  const constraints = {
    ...(parts(regions).length === 0 ? {} : { regions: parts(regions) }),
    ...(Object.keys(wanted).length === 0 ? {} : { labels: wanted }),
    ...(parts(exclude).length === 0 ? {} : { excludeClusters: parts(exclude) }),
  };
  return Object.keys(constraints).length === 0 ? {} : { constraints };
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
export function whatIfHref({
  requesterID,
  request,
}: Pick<DecisionDTO, "requesterID" | "request">): string | null {
  if (hasMoreThanForm(request)) return null;
  const { requestedResources, duration, tier, targetClusterID, constraints } = request;
  return withQuery("/what-if", {
    requester: requesterID,
    cpu: requestedResources.cpu,
    memory: requestedResources.memory,
    gpu: requestedResources.gpu === "0" ? null : requestedResources.gpu,
    duration: fieldInAddress("duration", duration ?? ""),
    tier: tier === "spot" ? tier : null,
    target: targetClusterID,
    ...constraintFields(constraints ?? {}),
  });
}

function constraintFields({
  regions = [],
  labels = {},
  excludeClusters = [],
}: NonNullable<DecisionDTO["request"]["constraints"]>): Pick<WhatIfForm, "regions" | "labels" | "exclude"> {
  const wanted = Object.entries(labels).map(([name, value]) => `${name}=${value}`);
  return { regions: regions.join(","), labels: wanted.join(","), exclude: excludeClusters.join(",") };
}

function hasMoreThanForm({ perNode, requestedResources }: DecisionDTO["request"]): boolean {
  const { storage = "0", extended = {} } = requestedResources;
  return perNode !== undefined || storage !== "0" || Object.keys(extended).length > 0;
}

/** The command that creates the request. JSON strings are valid YAML strings without line breaks. */
export function askCommand({ request }: UiQuoteRequest): string {
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
