import { createHash } from "node:crypto";

/** As many bytes of the digest as Liqo keeps. */
const DIGEST_BYTES = 6;
const CREATOR_USER = /^(.+)-[0-9a-f]{12}$/;

/**
 * The user of a consumer's virtual node at this provider: it is the label creator-user of its pods and the name
 * of the slice's Quota. It is computed, because a replica may name any consumer.
 */
export function creatorUserOf(sliceName: string, consumerLiqoId: string): string {
  const digest = createHash("sha256").update(consumerLiqoId).digest().subarray(0, DIGEST_BYTES);
  return `${sliceName}-${digest.toString("hex")}`;
}

/** The slice of a user; undefined: not a slice's user. */
export function sliceOf(creatorUser: string): string | undefined {
  return CREATOR_USER.exec(creatorUser)?.[1];
}
