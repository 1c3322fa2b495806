import { isObject } from "../core/look.ts";
import type { JsonObject } from "../json.ts";

/** Who is asking. */
export interface User {
  readonly name: string;
  readonly groups: readonly string[];
}

/** Questions that are posted like objects and never stored. */
export interface Review {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly kind: string;
  readonly answer: (user: User) => JsonObject;
}

export const REVIEWS: readonly Review[] = [
  {
    group: "authentication.k8s.io",
    version: "v1",
    plural: "selfsubjectreviews",
    kind: "SelfSubjectReview",
    answer: ({ name, groups }) => ({ userInfo: { username: name, groups } }),
  },
  {
    group: "authorization.k8s.io",
    version: "v1",
    plural: "selfsubjectaccessreviews",
    kind: "SelfSubjectAccessReview",
    answer: () => ({
      allowed: true,
      reason: "the simulated cluster knows no roles: whoever gets in may do everything",
    }),
  },
];

export function reviewed(
  { group, version, kind, answer }: Review,
  question: JsonObject,
  user: User,
): JsonObject {
  const { spec } = question;
  return {
    kind,
    apiVersion: `${group}/${version}`,
    metadata: { creationTimestamp: null },
    ...(isObject(spec) ? { spec } : {}),
    status: answer(user),
  };
}
