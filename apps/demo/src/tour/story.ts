import type { TourStep } from "./step.ts";
import { REQUEST_STEPS } from "./steps/asking.ts";
import { CAPACITY_STEPS } from "./steps/capacity.ts";
import { FAILURE_STEPS } from "./steps/disasters.ts";
import { REFUSAL_STEPS } from "./steps/refusing.ts";

/** The whole story, in order: later steps rely on what earlier ones did. */
export const TOUR_STEPS: readonly TourStep[] = [
  ...REQUEST_STEPS,
  ...CAPACITY_STEPS,
  ...REFUSAL_STEPS,
  ...FAILURE_STEPS,
];
