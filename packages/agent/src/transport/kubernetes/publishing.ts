import { Fault, isFaultCode, toFault } from "@resource-broker/base";
import {
  type AdvertisementDTO,
  type AdvertisementReplyDTO,
  advertisementSchema,
  describeProblems,
  validate,
} from "@resource-broker/contract";
import { type ClusterAdvertisement, clusterAdvertisementName } from "@resource-broker/contract/crd";
import type { KubeClient } from "@resource-broker/kube";
import { MANAGER } from "../../manifests/labels.ts";
import { withRemedy } from "./api-calls.ts";
import { advertisementManifest, CLUSTER_ADVERTISEMENTS, type ObjectScope } from "./manifests.ts";
import type { Answered } from "./object-calls.ts";
import type { createWatches } from "./watches.ts";

interface PublishingDeps
  extends Pick<ReturnType<typeof createWatches>, "brokerHealth" | "own" | "instructions"> {
  readonly scope: ObjectScope;
  readonly client: KubeClient;
  readonly answered: Answered;
  /** Names this process where the advertisement does not. */
  readonly instance: string;
}

interface Counted {
  readonly instance: string;
  readonly sequence: number;
}

/** Applies advertisements and waits until the broker has accepted them. */
export function publishing(deps: PublishingDeps) {
  const { scope, client, brokerHealth } = deps;
  let published = 0;

  const apply = async (advertisement: AdvertisementDTO, counted: Counted, signal: AbortSignal) => {
    try {
      const manifest = advertisementManifest(scope, advertisement, counted);
      const options = { fieldManager: MANAGER, force: true, signal };
      return await client.apply(CLUSTER_ADVERTISEMENTS, manifest, options);
    } catch (error) {
      throw withRemedy(toFault(error), scope.namespace);
    }
  };

  return {
    publish: async (advertisement: AdvertisementDTO): Promise<AdvertisementReplyDTO> => {
      const { clusterID, instance, sequence } = advertisement;
      if (clusterID !== scope.clusterId) {
        throw new Fault("forbidden", `clusterID is ${clusterID}, but this agent is ${scope.clusterId}`);
      }
      published += 1;
      const counted =
        instance === undefined || sequence === undefined
          ? { instance: deps.instance, sequence: published }
          : { instance, sequence };
      return deps.answered(async (signal) => {
        const accepted = await deps.own.waitFor({
          name: clusterAdvertisementName(clusterID),
          begin: () => apply(advertisement, counted, signal),
          evaluate: ({ object, isGone }) =>
            object === undefined || isGone ? undefined : answerIn(object, counted),
          signal,
        });
        brokerHealth.markSeen(accepted.at);
        const instructions = deps.instructions();
        return {
          advertisement: accepted.advertisement,
          ...(instructions.length === 0 ? {} : { providerInstructions: instructions }),
        };
      });
    },
  };
}

interface Accepted {
  readonly advertisement: AdvertisementDTO;
  readonly at: string;
}

/** The broker's answer to this advertisement; undefined: none yet. */
function answerIn({ spec, status = {} }: ClusterAdvertisement, counted: Counted): Accepted | undefined {
  const { accepted, refused } = status;
  if (refused !== undefined && isOf(refused, counted)) {
    throw new Fault(isFaultCode(refused.code) ? refused.code : "invalid", refused.message);
  }
  const { reserved, available } = spec.resources;
  if (accepted === undefined || !isOf(accepted, counted)) return undefined;
  if (reserved === undefined || available === undefined) return undefined;
  const validated = validate(advertisementSchema, spec);
  if (validated.ok) return { advertisement: validated.value, at: accepted.at };
  throw new Fault("malformed", `the advertisement cannot be read: ${describeProblems(validated.problems)}`);
}

function isOf(answer: Partial<Counted>, { instance, sequence }: Counted): boolean {
  return answer.instance === instance && answer.sequence === sequence;
}
