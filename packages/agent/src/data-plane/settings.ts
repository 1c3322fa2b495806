/** The flags of the data plane. Their names are documented, so they keep the adapter's name. */
export {
  LIQO_SETTINGS as DATA_PLANE_SETTINGS,
  liqoDefaults as dataPlaneDefaults,
  liqoProblems as dataPlaneProblems,
} from "../liqo/liqo-settings.ts";
