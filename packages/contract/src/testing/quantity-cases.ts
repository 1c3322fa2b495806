import { type AdmissionCase, refusesValue } from "./admission-case.ts";

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
const SLICE_DEFAULTS = [
  { kind: "BrokerPolicy", path: "spec.sliceDefaults" },
  { kind: "ReservationInstruction", path: "spec.sliceDefaults" },
  { kind: "ProviderInstruction", path: "spec.sliceDefaults" },
  { kind: "Reservation", path: "status.sliceDefaults" },
];

/** One row for each quantity of each kind, written out here and not read from the CRDs: a lost rule must be missed. */
export const QUANTITY_CASES: readonly AdmissionCase[] = [
  ...ADVERTISEMENTS.flatMap(advertisementRows),
  ...FLAT_KINDS.flatMap(flatRows),
  ...["ResourceRequest", "Reservation"].flatMap(perNodeRows),
  ...reservationRows(),
  ...SLICE_DEFAULTS.map((place) =>
    refusesValue({ ...place, path: `${place.path}.ephemeralStorage` }, "0", POSITIVE),
  ),
];

function advertisementRows(kind: string): AdmissionCase[] {
  const set = (name: string) => `spec.resources.${name}`;
  return [
    ...NOT_NEGATIVE_SETS.flatMap((name) =>
      IN_A_SET.map((field) => refusesValue({ kind, path: `${set(name)}.${field}` }, "-1", NOT_NEGATIVE)),
    ),
    ...SHOWN_SETS.flatMap((name) =>
      IN_A_SET.map((field) => refusesValue({ kind, path: `${set(name)}.${field}` }, "abc", QUANTITY)),
    ),
    ...[...NOT_NEGATIVE_SETS, ...SHOWN_SETS].map((name) =>
      refusesValue({ kind, path: `${set(name)}.extended` }, { gpu: "1" }, EXTENDED),
    ),
  ];
}

function flatRows(kind: string): AdmissionCase[] {
  return [
    refusesValue({ kind, path: "spec.requestedCPU" }, "0", POSITIVE),
    refusesValue({ kind, path: "spec.requestedCPU" }, 0, POSITIVE),
    refusesValue({ kind, path: "spec.requestedCPU" }, "abc", POSITIVE),
    refusesValue({ kind, path: "spec.requestedMemory" }, "-1Gi", POSITIVE),
    refusesValue({ kind, path: "spec.requestedGPU" }, -1, WHOLE),
    ...["1.5", "500m", "-1", "1e-1", "1n", "abc"].map((text) =>
      refusesValue({ kind, path: "spec.requestedGPU" }, text, WHOLE),
    ),
    fractionOf({ kind, path: "spec.extended" }, "1.5"),
    refusesValue({ kind, path: "spec.requestedStorage" }, "1 Gi", NOT_NEGATIVE),
    refusesValue({ kind, path: "spec.extended" }, { gpu: "1" }, EXTENDED),
  ];
}

function perNodeRows(kind: string): AdmissionCase[] {
  return [
    ...["cpu", "memory", "storage"].map((field) =>
      refusesValue({ kind, path: `spec.perNode.${field}` }, "-1", NOT_NEGATIVE),
    ),
    refusesValue({ kind, path: "spec.perNode.gpu" }, "1.5", WHOLE),
    fractionOf({ kind, path: "spec.perNode.extended" }, "500m"),
    refusesValue({ kind, path: "spec.perNode.extended" }, { gpu: "1" }, EXTENDED),
  ];
}

function reservationRows(): AdmissionCase[] {
  const at = (field: string) => ({ kind: "Reservation", path: `spec.requestedResources.${field}` });
  return [
    refusesValue(at("cpu"), "0", POSITIVE),
    refusesValue(at("cpu"), "-1", POSITIVE),
    refusesValue(at("memory"), "0", POSITIVE),
    refusesValue(at("gpu"), "-1", WHOLE),
    refusesValue(at("gpu"), "1.5", WHOLE),
    fractionOf(at("extended"), "1.5"),
    refusesValue(at("storage"), "-1", NOT_NEGATIVE),
    refusesValue(at("extended"), { gpu: "1" }, EXTENDED),
  ];
}

/** Inside a map a pattern says it, not a rule. */
function fractionOf(place: { readonly kind: string; readonly path: string }, amount: string): AdmissionCase {
  const refusal = { field: `${place.path}.amd.com/gpu`, message: "", isRule: false };
  return { ...refusesValue(place, { "amd.com/gpu": amount }, ""), refusal };
}
