/** One answer of Kubernetes, as tools/quantity-oracle wrote it down. All but the first three need `ok`. */
export interface OracleCase {
  readonly group: string;
  readonly input: string;
  readonly ok: boolean;
  readonly canonical?: string;
  readonly printed?: string;
  readonly format?: string;
  readonly sign?: number;
  readonly value?: string;
  readonly milliValue?: string;
  readonly unscaled?: string;
  readonly scale?: number;
}

export type OracleField = "accepted" | "exact" | "format" | "canonical" | "value" | "milliValue";

/** A place where we differ from Kubernetes on purpose. The test fails when a difference is not here, or no longer is one. */
export interface OracleDifference {
  readonly name: string;
  readonly field: OracleField;
  readonly reason: string;
  readonly covers: (oracle: OracleCase) => boolean;
}

const MAX_AMOUNT = BigInt(Number.MAX_SAFE_INTEGER);
const MISROUNDED =
  "Kubernetes promises to round away from zero, but once it computes with big numbers a negative amount is rounded the other way or overflows.";
const UNCOUNTABLE =
  "The ledger adds plain Numbers and refuses what they cannot count. Kubernetes goes on to 2^63-1 and then answers 0 or an overflowed number.";

export const ORACLE_DIFFERENCES: readonly OracleDifference[] = [
  {
    name: "a unit or a sign without a number is refused",
    field: "accepted",
    reason:
      "Kubernetes' grammar asks for a digit, yet its parser reads `Gi` as 0 (and refuses `Ei`). It is a typing error, never a request for zero.",
    covers: ({ group, ok }) => group === "no digits" && ok,
  },
  {
    name: "an exponent beyond 100 is refused",
    field: "accepted",
    reason:
      "Kubernetes cuts the exponent to 32 bits (`1e4294967299` is 1e3) and hangs on others; no usable value needs it.",
    covers: ({ group, ok }) => group === "exponents out of all proportion" && ok,
  },
  {
    name: "a text of more than 100 characters is refused",
    field: "accepted",
    reason: "Kubernetes sets no limit; ours bounds the work for any text a stranger may send.",
    covers: ({ input }) => input.length > 100,
  },
  {
    name: "1000E keeps its unit when printed",
    field: "canonical",
    reason:
      "Kubernetes has no suffix above E and prints `1000E` as `1`; ours stays at E, so the value survives.",
    covers: oneOf("1000E 1000000E -1000E 1000000000000000000000 100000000000000000000000k"),
  },
  {
    name: "more than 2^53-1 units is not counted",
    field: "value",
    reason: UNCOUNTABLE,
    covers: (oracle) => unitsOf(oracle, 0) > MAX_AMOUNT,
  },
  {
    name: "more than 2^53-1 thousandths is not counted",
    field: "milliValue",
    reason: UNCOUNTABLE,
    covers: (oracle) => unitsOf(oracle, 3) > MAX_AMOUNT,
  },
  {
    name: "a negative amount is rounded away from zero to units",
    field: "value",
    reason: MISROUNDED,
    covers: oneOf(
      "-0.25n -0.25Ti -0.25Pi -3Pi -1e-100 -0.1n -1.1n -1.00000000001 -1.0000000001Ki -0.0000000001 -1.1Ki -1.0005Ki -0.0001Ki",
    ),
  },
  {
    name: "a negative amount is rounded away from zero to thousandths",
    field: "milliValue",
    reason: MISROUNDED,
    covers: oneOf(
      "-0.25n -0.25Ti -1e-100 -0.1n -1.1n -1.00000000001 -1.0000000001Ki -0.0000000001 -0.0001Ki",
    ),
  },
];

function oneOf(inputs: string): (oracle: OracleCase) => boolean {
  const listed = new Set(inputs.split(" "));
  return ({ input }) => listed.has(input);
}

/** Size of the exact value in units of 10^-`unitScale`, rounded up: 0 when Kubernetes refused the text. */
function unitsOf({ unscaled = "0", scale = 0 }: OracleCase, unitScale: number): bigint {
  const digits = BigInt(unscaled.replace("-", ""));
  const power = unitScale - scale;
  // Exponents of many digits are not accepted in the first place; computing their power would hang.
  if (power > 200) return 0n;
  if (power >= 0) return digits * 10n ** BigInt(power);
  const divisor = 10n ** BigInt(-power);
  return (digits + divisor - 1n) / divisor;
}
