import { errorText, isRecord } from "@resource-broker/base";
import {
  CONFIG_MAPS,
  type ConfigMap,
  informer,
  type ObjectName,
  type ReflectorDeps,
} from "@resource-broker/kube";
import type { Reloads } from "@resource-broker/runtime";
import { type CostReading, lastGoodPrices, type Parsed, type PriceSource, readCost } from "./price-source.ts";

const WHOLE = ["cost.yaml", "cost.json"];

/** Reads the data of a ConfigMap: one key for each price, or one key with a whole CostDTO. */
export async function readConfigMapCost(
  data: Readonly<Record<string, string>>,
  currency: string,
): Promise<CostReading> {
  const keys = Object.keys(data);
  const whole = keys.filter((key) => WHOLE.includes(key));
  const [key] = whole;
  if (key === undefined) return readCost(withCurrency(data, currency));
  if (keys.length > 1) return wrong(`${key} must be the only key: it holds all prices`);
  const parsed = await parse(data[key] ?? "");
  if (!parsed.ok) return wrong(`${key}: ${parsed.problem}`);
  if (!isRecord(parsed.content)) return wrong(`${key} must hold prices by name, such as cpuCost: "0.04"`);
  const reading = readCost(withCurrency(parsed.content, currency));
  return reading.ok ? reading : wrong(`${key}: ${reading.problem}`);
}

function withCurrency(fields: Readonly<Record<string, unknown>>, currency: string) {
  return currency === "" ? fields : { currency, ...fields };
}

/** JSON needs no YAML parser, which takes 7 MB. */
async function parse(text: string): Promise<Parsed> {
  try {
    return { ok: true, content: JSON.parse(text) };
  } catch {
    return parseYaml(text);
  }
}

async function parseYaml(text: string): Promise<Parsed> {
  const yaml = await import("yaml");
  try {
    // Aliases can expand to a huge document, and are not needed here.
    const content: unknown = yaml.parse(text, { maxAliasCount: 0 });
    return { ok: true, content };
  } catch (error) {
    const [problem = ""] = errorText(error).split("\n", 1);
    return { ok: false, problem: `it is not YAML: ${problem}` };
  }
}

function wrong(problem: string): CostReading {
  return { ok: false, problem };
}

/** An API server that does not answer, or does not allow it, must not keep a cluster from being advertised. */
const START_TIMEOUT_MS = 5000;

interface ConfigMapOptions {
  readonly configMap: Required<ObjectName>;
  /** For ConfigMaps without a currency; "" where the flag is not given. */
  readonly currency: string;
}

type Data = NonNullable<ConfigMap["data"]>;

const NO_DATA: Data = {};

/** Prices from a ConfigMap, which may be created, changed and deleted while the agent runs. */
export function configMapPrices(
  { configMap, currency }: ConfigMapOptions,
  deps: ReflectorDeps & { readonly reloads?: Pick<Reloads, "source"> },
): PriceSource {
  const { name, namespace } = configMap;
  const key = `${namespace}/${name}`;
  const prices = lastGoodPrices(`ConfigMap ${key}`, {
    log: deps.log,
    report: deps.reloads?.source("prices"),
  });
  const follower = informer(
    {
      resource: CONFIG_MAPS,
      namespace,
      fieldSelector: `metadata.name=${name}`,
      transform: (object: ConfigMap) =>
        object.metadata.name === name ? (object.data ?? NO_DATA) : undefined,
      isSame: (a, b) => JSON.stringify(a) === JSON.stringify(b),
    },
    deps,
  );
  let reading: Promise<void> = Promise.resolve();

  const read = async (data: Data | undefined): Promise<CostReading> =>
    data === undefined ? { ok: true, cost: undefined } : readConfigMapCost(data, currency);
  const endListening = follower.listen((_, data) => {
    reading = prices.updateWhenRead(read(data));
  });

  const firstList = async (): Promise<void> => {
    await follower.start();
    await reading;
    if (follower.get(key) === undefined) {
      deps.log.warn(
        { configMap: key },
        "the ConfigMap with the prices is not there: the cluster is not priced",
      );
    }
  };

  return {
    start: () => withTimeout(START_TIMEOUT_MS, firstList(), deps.clock),
    stop: async () => {
      endListening();
      prices.ignoreReadings();
      await follower.stop();
    },
    current: prices.current,
    onChange: prices.onChange,
  };
}

/** The informer logs its own failures and keeps trying. */
async function withTimeout(ms: number, task: Promise<void>, clock: ReflectorDeps["clock"]): Promise<void> {
  let cancel = (): void => undefined;
  const late = new Promise<void>((resolve) => {
    cancel = clock.after(ms, resolve);
  });
  // Rejects only when it is stopped before the first list: then no prices are needed.
  await Promise.race([task.catch(() => undefined), late]);
  cancel();
}
