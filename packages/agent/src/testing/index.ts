/** What the campaigns and tests outside of this package need of its insides. */
export { attemptOf } from "../reservations/reservation.ts";
export { AGENT_SETTINGS } from "../settings/agent-settings.ts";
