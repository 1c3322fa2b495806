import { type CostDTO, formatDecimal } from "@resource-broker/contract";
import { type CostReading, readCost } from "./cost-reading.ts";

/** OpenCost's prices of memory and storage are for GiB; ours are for GB. */
const GB_IN_GIB = 1e9 / 2 ** 30;

/** OpenCost's field names; its other fields are ignored. */
const SHEET_NAMES = {
  cpuCost: "CPU",
  memoryCost: "RAM",
  gpuCost: "GPU",
  storageCost: "storage",
  currency: "currencyCode",
  "spot.cpuCost": "spotCPU",
  "spot.memoryCost": "spotRAM",
  "spot.gpuCost": "spotGPU",
} as const;

/** Reads the JSON of OpenCost's custom prices. `currency` counts where the sheet names none. */
export function readPriceSheet(content: unknown, currency: string): CostReading {
  if (typeof content !== "object" || content === null || Array.isArray(content)) {
    return { ok: false, problem: "it must hold a JSON object with CPU and RAM" };
  }
  const sheet = new Map<string, unknown>(Object.entries(content));
  const code = given(sheet.get("currencyCode")) ?? given(currency);
  if (code === undefined) {
    return { ok: false, problem: "it names no currencyCode: add one, or give --price-currency" };
  }
  const spot = present({
    cpuCost: sheet.get("spotCPU"),
    memoryCost: sheet.get("spotRAM"),
    gpuCost: sheet.get("spotGPU"),
  });
  const reading = readCost(
    {
      ...present({
        cpuCost: sheet.get("CPU"),
        memoryCost: sheet.get("RAM"),
        gpuCost: sheet.get("GPU"),
        storageCost: sheet.get("storage"),
      }),
      ...(Object.keys(spot).length === 0 ? {} : { spot }),
      currency: code,
    },
    SHEET_NAMES,
  );
  return reading.ok && reading.cost !== undefined ? { ok: true, cost: perGb(reading.cost) } : reading;
}

function perGb(cost: CostDTO): CostDTO {
  const { memoryCost, storageCost, spot } = cost;
  return {
    ...cost,
    memoryCost: converted(memoryCost),
    ...(storageCost === undefined ? {} : { storageCost: converted(storageCost) }),
    ...(spot?.memoryCost === undefined ? {} : { spot: { ...spot, memoryCost: converted(spot.memoryCost) } }),
  };
}

function converted(pricePerGib: string): string {
  return formatDecimal(Number(pricePerGib) * GB_IN_GIB);
}

function present(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => given(value) !== undefined));
}

/** OpenCost writes unset fields as empty strings. */
function given(value: unknown): unknown {
  return value === "" || value === null ? undefined : value;
}
