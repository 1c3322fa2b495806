import { formatBytes, formatCount, formatCpu, type Policy, type Quota } from "@resource-broker/domain";
import { fromCostModel } from "../mapping/cost.ts";
import { mapValues } from "../mapping/map-values.ts";
import { present } from "../mapping/present.ts";
import { formatDuration } from "../schema/duration.ts";
import type { SliceDefaults } from "./parse-policy.ts";
import type { PolicyDTO, QuotaDTO } from "./policy-schema.ts";

/** The policy in force, in the form of the policy file and with the defaults written out. */
export function fromPolicy(policy: Policy, sliceDefaults: SliceDefaults): PolicyDTO {
  const { prices } = policy;
  return present({
    version: policy.version,
    weights: policy.weights,
    ratings: policy.ratings,
    staleness: formatDuration(policy.stalenessMs),
    defaultTTL: durationOf(policy.defaultTtlMs),
    maxTTL: durationOf(policy.maxTtlMs),
    activationTimeout: durationOf(policy.activationTimeoutMs),
    requesterLostAfter: durationOf(policy.requesterLostMs),
    refusalMemory: formatDuration(policy.refusalMemoryMs),
    prices: { ...prices, clusters: mapValues(prices.clusters, (model) => fromCostModel(model)) },
    lending: policy.lending,
    quotas: mapValues(policy.quotas, (quota) => fromQuota(quota)),
    defaultQuota: fromQuota(policy.defaultQuota),
    disclosure: policy.disclosure,
    sliceDefaults,
  });
}

function fromQuota({ cpuMillis, memoryBytes, storageBytes, gpus, extended, reservations }: Quota): QuotaDTO {
  return present({
    cpu: cpuMillis === undefined ? undefined : formatCpu(cpuMillis),
    memory: memoryBytes === undefined ? undefined : formatBytes(memoryBytes),
    storage: storageBytes === undefined ? undefined : formatBytes(storageBytes),
    gpu: gpus === undefined ? undefined : formatCount(gpus),
    extended: extended && mapValues(extended, (amount) => formatCount(amount)),
    reservations,
  });
}

function durationOf(ms: number | undefined): string | undefined {
  return ms === undefined ? undefined : formatDuration(ms);
}
