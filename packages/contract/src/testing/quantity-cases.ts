import { type AdmissionCase, refusals } from "./admission-case.ts";

const POSITIVE = "must be a quantity of more than 0";
const NOT_NEGATIVE = "must be a quantity that is not negative";
const QUANTITY = "must be a quantity";
const WHOLE = "must be a whole number that is not negative";
const EXTENDED = "every name must be an extended resource name with its domain";

const IN_A_SET = ["cpu", "memory", "gpu", "storage"];
const NOT_NEGATIVE_SETS = ["capacity", "allocatable", "allocated", "used"];
const SHOWN_SETS = ["reserved", "available"];
const ADVERTISEMENTS = ["Advertisement", "ClusterAdvertisement"];
const FLAT_KINDS = ["ResourceRequest", "ReservationInstruction", "ProviderInstruction"];
const SLICE_DEFAULTS: readonly (readonly [kind: string, path: string])[] = [
  ["BrokerPolicy", "spec.sliceDefaults"],
  ["ReservationInstruction", "spec.sliceDefaults"],
  ["ProviderInstruction", "spec.sliceDefaults"],
  ["Reservation", "status.sliceDefaults"],
];

/** One row for each quantity of each kind, written out here and not read from the CRDs: a lost rule must be missed. */
export const QUANTITY_CASES: readonly AdmissionCase[] = [
  ...ADVERTISEMENTS.flatMap(advertisementRows),
  ...FLAT_KINDS.flatMap(flatRows),
  ...["ResourceRequest", "Reservation"].flatMap(perNodeRows),
  ...reservationRows(),
  ...SLICE_DEFAULTS.map(([kind, path]) => refusals(kind)(`${path}.ephemeralStorage`, "0", POSITIVE)),
];

function advertisementRows(kind: string): AdmissionCase[] {
  const refuses = refusals(kind);
  const set = (name: string) => `spec.resources.${name}`;
  return [
    ...NOT_NEGATIVE_SETS.flatMap((name) =>
      IN_A_SET.map((field) => refuses(`${set(name)}.${field}`, "-1", NOT_NEGATIVE)),
    ),
    ...SHOWN_SETS.flatMap((name) =>
      IN_A_SET.map((field) => refuses(`${set(name)}.${field}`, "abc", QUANTITY)),
    ),
    ...[...NOT_NEGATIVE_SETS, ...SHOWN_SETS].map((name) =>
      refuses(`${set(name)}.extended`, { gpu: "1" }, EXTENDED),
    ),
  ];
}

function flatRows(kind: string): AdmissionCase[] {
  const refuses = refusals(kind);
  return [
    refuses("spec.requestedCPU", "0", POSITIVE),
    refuses("spec.requestedCPU", 0, POSITIVE),
    refuses("spec.requestedCPU", "abc", POSITIVE),
    refuses("spec.requestedMemory", "-1Gi", POSITIVE),
    refuses("spec.requestedGPU", -1, WHOLE),
    ...["1.5", "500m", "-1", "1e-1", "1n", "abc"].map((text) => refuses("spec.requestedGPU", text, WHOLE)),
    fractionOf(kind, "spec.extended", "1.5"),
    refuses("spec.requestedStorage", "1 Gi", NOT_NEGATIVE),
    refuses("spec.extended", { gpu: "1" }, EXTENDED),
  ];
}

function perNodeRows(kind: string): AdmissionCase[] {
  const refuses = refusals(kind);
  return [
    ...["cpu", "memory", "storage"].map((field) => refuses(`spec.perNode.${field}`, "-1", NOT_NEGATIVE)),
    refuses("spec.perNode.gpu", "1.5", WHOLE),
    fractionOf(kind, "spec.perNode.extended", "500m"),
    refuses("spec.perNode.extended", { gpu: "1" }, EXTENDED),
  ];
}

function reservationRows(): AdmissionCase[] {
  const at = (field: string): string => `spec.requestedResources.${field}`;
  const refuses = refusals("Reservation");
  return [
    refuses(at("cpu"), "0", POSITIVE),
    refuses(at("cpu"), "-1", POSITIVE),
    refuses(at("memory"), "0", POSITIVE),
    refuses(at("gpu"), "-1", WHOLE),
    refuses(at("gpu"), "1.5", WHOLE),
    fractionOf("Reservation", at("extended"), "1.5"),
    refuses(at("storage"), "-1", NOT_NEGATIVE),
    refuses(at("extended"), { gpu: "1" }, EXTENDED),
  ];
}

/** Inside a map a pattern says it, not a rule. */
function fractionOf(kind: string, path: string, amount: string): AdmissionCase {
  const refusal = { field: `${path}.amd.com/gpu`, message: "", isRule: false };
  return { ...refusals(kind)(path, { "amd.com/gpu": amount }, ""), refusal };
}
