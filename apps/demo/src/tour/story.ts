import type { TourStep } from "./step.ts";
import { ASKING } from "./steps/asking.ts";
import { CAPACITY } from "./steps/capacity.ts";
import { DISASTERS } from "./steps/disasters.ts";
import { REFUSING } from "./steps/refusing.ts";

/** The whole story, in order: later steps rely on what earlier ones did. */
export const STORY: readonly TourStep[] = [...ASKING, ...CAPACITY, ...REFUSING, ...DISASTERS];
