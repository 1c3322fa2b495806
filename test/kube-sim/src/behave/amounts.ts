import { parseAmount } from "@resource-broker/base";
import { objectAt, objectsAt, scalarText } from "../core/look.ts";
import type { JsonObject } from "../json.ts";

/** Amounts by resource name: thousandths of CPUs, whole units of everything else. */
export type Amounts = ReadonlyMap<string, number>;

const DEFAULT_PODS_PER_NODE = 110;

/** What is set aside for a pod: its containers together, or an init container that needs more. */
export function requestsOf(pod: JsonObject): Amounts {
  const spec = objectAt(pod, "spec");
  let running = sumOf(objectsAt(spec, "containers"));
  let sidecars: Amounts = new Map();
  let starting: Amounts = new Map();
  for (const container of objectsAt(spec, "initContainers")) {
    const own = containerRequests(container);
    starting = combined(starting, combined(sidecars, own, sum), Math.max);
    if (container["restartPolicy"] !== "Always") continue;
    sidecars = combined(sidecars, own, sum);
    running = combined(running, own, sum);
  }
  const containers = combined(running, starting, Math.max);
  const whole = combined(containers, amountsOf(objectAt(spec, "overhead")), sum);
  return combined(whole, new Map([["pods", 1]]), sum);
}

export function allocatableOf(node: JsonObject): Amounts {
  const status = objectAt(node, "status");
  const given = status["allocatable"] === undefined ? "capacity" : "allocatable";
  return new Map([["pods", DEFAULT_PODS_PER_NODE], ...amountsOf(objectAt(status, given))]);
}

export function plus(a: Amounts, b: Amounts): Amounts {
  return combined(a, b, sum);
}

export function minus(a: Amounts, b: Amounts): Amounts {
  return combined(a, b, (x, y) => x - y);
}

function sumOf(containers: readonly JsonObject[]): Amounts {
  return containers.map(containerRequests).reduce(plus, new Map());
}

function containerRequests(container: JsonObject): Amounts {
  return amountsOf(objectAt(container, "resources.requests"));
}

function amountsOf(list: JsonObject): Amounts {
  return new Map(
    Object.entries(list).map(([name, value]): [string, number] => {
      const amount = parseAmount(scalarText(value), {
        unit: name === "cpu" ? "milli" : "one",
        rounding: "up",
      });
      return [name, amount.ok ? amount.amount : 0];
    }),
  );
}

function sum(a: number, b: number): number {
  return a + b;
}

function combined(a: Amounts, b: Amounts, combine: (a: number, b: number) => number): Amounts {
  const names = new Set([...a.keys(), ...b.keys()]);
  return new Map([...names].map((name) => [name, combine(a.get(name) ?? 0, b.get(name) ?? 0)]));
}
