import type { TourStep } from "./step.ts";
import { CAPACITY_STEPS } from "./steps/capacity-steps.ts";
import { FAILURE_STEPS } from "./steps/failure-steps.ts";
import { REFUSAL_STEPS } from "./steps/refusal-steps.ts";
import { REQUEST_STEPS } from "./steps/request-steps.ts";

/** The whole story, in order: later steps rely on what earlier ones did. */
export const TOUR_STEPS: readonly TourStep[] = [
  ...REQUEST_STEPS,
  ...CAPACITY_STEPS,
  ...REFUSAL_STEPS,
  ...FAILURE_STEPS,
];
