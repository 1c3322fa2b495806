export { type PodCase, SANDBOX_CLASS, SANDBOX_OVERHEAD } from "./pod-case.ts";
export { POD_CASES } from "./pod-cases.ts";
