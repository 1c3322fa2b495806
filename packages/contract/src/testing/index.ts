export { type PolicyDTO, policySchema } from "../policy/policy-schema.ts";
export type { AdmissionCase } from "./admission-case.ts";
export { ADMISSION_CASES } from "./admission-cases.ts";
export { GOOD_OBJECTS } from "./good-objects.ts";
